//! Two calls cannot both hold one output: two threads would write it.
use restride::{Program, RunError, TensorMut, TensorRef};

pub fn from_one_tensor(program: &Program, x: &[u8], y: &mut [u8]) -> Result<(), RunError> {
    let (mut s, mut t) = (vec![0; 64], vec![0; 64]);
    let outputs = [TensorMut::new(y)];
    let mut first = program.bind_in(&[TensorRef::new(x)], outputs, &mut s)?;
    let mut second = program.bind_in(&[TensorRef::new(x)], outputs, &mut t)?; //~ E0382
    first.run()?;
    second.run()
}

pub fn from_one_slice(program: &Program, x: &[u8], y: &mut [u8]) -> Result<(), RunError> {
    let (mut s, mut t) = (vec![0; 64], vec![0; 64]);
    let mut first = program.bind_in(&[TensorRef::new(x)], [TensorMut::new(y)], &mut s)?;
    let mut second = program.bind_in(&[TensorRef::new(x)], [TensorMut::new(y)], &mut t)?; //~ E0499
    first.run()?;
    second.run()
}

pub fn from_a_reborrow(program: &Program, x: &[u8], mut y: TensorMut<'_>) -> Result<(), RunError> {
    let (mut s, mut t) = (vec![0; 64], vec![0; 64]);
    let mut first = program.bind_in(&[TensorRef::new(x)], [y.reborrow()], &mut s)?;
    let mut second = program.bind_in(&[TensorRef::new(x)], [y.reborrow()], &mut t)?; //~ E0499
    first.run()?;
    second.run()
}
