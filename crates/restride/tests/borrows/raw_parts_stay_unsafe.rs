//! What safe code cannot do: name bytes by address, and run the parts of a call as it likes.
use restride::{Call, ElementType, Program, RunError, TensorMut, TensorRef};

pub fn addresses(x: *const u8, y: *mut u8) {
    let _ = TensorRef::from_raw(ElementType::U8, x, 8); //~ E0133
    let _ = TensorMut::from_raw(ElementType::U8, y, 8); //~ E0133
}

pub fn parts(call: &Call<'_>) -> Result<(), RunError> {
    call.chunk(0, 0, 2) //~ E0133
}

pub fn raw(program: &Program) -> Result<(), RunError> {
    program.run_raw(&[]) //~ E0133
}

pub fn twice_at_once(call: &Call<'_>) -> Result<(), RunError> {
    call.run() //~ E0596
}
