//! An output cannot be read, written or passed on while a call holds it.
use restride::{Program, RunError, TensorMut, TensorRef};

pub fn read(program: &Program, x: &[u8], y: &mut [u8]) -> Result<Option<u8>, RunError> {
    let mut s = vec![0; 64];
    let mut call = program.bind_in(&[TensorRef::new(x)], [TensorMut::new(y)], &mut s)?;
    let first = y.first().copied(); //~ E0502
    call.run()?;
    Ok(first)
}

pub fn written(program: &Program, x: &[u8], y: &mut [u8]) -> Result<(), RunError> {
    let mut s = vec![0; 64];
    let mut call = program.bind_in(&[TensorRef::new(x)], [TensorMut::new(y)], &mut s)?;
    y.fill(1); //~ E0499
    call.run()
}

pub fn run_over(program: &Program, x: &[u8], y: &mut [u8]) -> Result<(), RunError> {
    let mut s = vec![0; 64];
    let mut output = TensorMut::new(y);
    let outputs = [output.reborrow()];
    let mut call = program.bind_in(&[TensorRef::new(x)], outputs, &mut s)?;
    program.run(&[TensorRef::new(x)], &mut [output])?; //~ E0505
    call.run()
}

pub fn an_input_too(program: &Program, x: &mut [u8]) -> Result<(), RunError> {
    let mut s = vec![0; 64];
    let input = TensorRef::new(x);
    program.run(&[input], &mut [TensorMut::new(x)])?; //~ E0502
    program.bind_in(&[input], [], &mut s)?.run()
}

pub fn an_input_changed(program: &Program, x: &mut [u8]) -> Result<(), RunError> {
    let mut s = vec![0; 64];
    let mut call = program.bind_in(&[TensorRef::new(x)], [], &mut s)?;
    x[0] = 1; //~ E0506
    call.run()
}
