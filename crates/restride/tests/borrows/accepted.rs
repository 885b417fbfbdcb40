//! One call after the other, and two at once over buffers of their own, are fine.
use restride::{Program, RunError, TensorMut, TensorRef};

pub fn one_after_the_other(program: &Program, x: &[u8], y: &mut [u8]) -> Result<(), RunError> {
    let mut scratch = vec![0; program.summary().scratch_bytes];
    let mut output = TensorMut::new(y);
    for _ in 0..2 {
        let outputs = [output.reborrow()];
        program.bind_in(&[TensorRef::new(x)], outputs, &mut scratch)?.run()?;
    }
    program.run(&[TensorRef::new(x)], &mut [output])?;
    y[0] = 1;
    Ok(())
}

pub fn at_once(program: &Program, x: &[u8], y: &mut [u8], z: &mut [u8]) -> Result<(), RunError> {
    let (mut s, mut t) = (vec![0; 64], vec![0; 64]);
    let mut first = program.bind_in(&[TensorRef::new(x)], [TensorMut::new(y)], &mut s)?;
    let mut second = program.bind_in(&[TensorRef::new(x)], vec![TensorMut::new(z)], &mut t)?;
    std::thread::scope(|threads| {
        threads.spawn(move || first.run());
        threads.spawn(move || second.run());
    });
    Ok(())
}
