//! Two calls cannot share scratch: each would write over the other's.
use restride::{Program, RunError, TensorMut, TensorRef};

pub fn shared(program: &Program, x: &[u8], y: &mut [u8], z: &mut [u8]) -> Result<(), RunError> {
    let mut scratch = vec![0; 64];
    let mut first = program.bind_in(&[TensorRef::new(x)], [TensorMut::new(y)], &mut scratch)?;
    let mut second = program.bind_in(&[TensorRef::new(x)], [TensorMut::new(z)], &mut scratch)?; //~ E0499
    first.run()?;
    second.run()
}
