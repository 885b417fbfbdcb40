//! A call cannot outlive what it reads, what it writes, its scratch and its program.
use restride::{Call, Program, RunError, TensorMut, TensorRef};

pub fn output<'a>(program: &'a Program, x: &'a [u8], s: &'a mut [u8]) -> Result<Call<'a>, RunError> {
    let mut y = [0u8; 64];
    program.bind_in(&[TensorRef::new(x)], [TensorMut::new(&mut y)], s) //~ E0515
}

pub fn input<'a>(program: &'a Program, y: &'a mut [u8], s: &'a mut [u8]) -> Result<Call<'a>, RunError> {
    let x = [0u8; 64];
    program.bind_in(&[TensorRef::new(&x)], [TensorMut::new(y)], s) //~ E0515
}

pub fn scratch<'a>(program: &'a Program, x: &'a [u8], y: &'a mut [u8]) -> Result<Call<'a>, RunError> {
    let mut s = [0u8; 64];
    program.bind_in(&[TensorRef::new(x)], [TensorMut::new(y)], &mut s) //~ E0515
}

pub fn program<'a>(program: Program, x: &'a [u8], y: &'a mut [u8], s: &'a mut [u8]) -> Result<Call<'a>, RunError> {
    program.bind_in(&[TensorRef::new(x)], [TensorMut::new(y)], s) //~ E0515
}

pub fn dropped(program: &Program, x: &[u8]) -> Result<(), RunError> {
    let (mut y, mut s) = (vec![0u8; 64], vec![0; 64]);
    let mut call = program.bind_in(&[TensorRef::new(x)], [TensorMut::new(&mut y)], &mut s)?;
    drop(y); //~ E0505
    call.run()
}
