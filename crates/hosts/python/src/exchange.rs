//! Tensors of other libraries, by DLPack: taken and given without a copy.
//!
//! What is given out is a capsule of the former kind, unless the caller understands the one that can say
//! that a tensor must not be written.

mod given;
mod taken;

pub(crate) use given::to_dlpack;
pub(crate) use taken::{from_dlpack, is_offered};

use std::ffi::{CStr, c_void};

/// The version that is spoken, and asked for.
const VERSION: Version = Version { major: 1, minor: 1 };

const CPU: i32 = 1;

const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;

const NAME: &CStr = c"dltensor_versioned";
const USED: &CStr = c"used_dltensor_versioned";
const FORMER_NAME: &CStr = c"dltensor";
const FORMER_USED: &CStr = c"used_dltensor";

#[derive(Clone, Copy)]
#[repr(C)]
struct Version {
    major: u32,
    minor: u32,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Device {
    kind: i32,
    number: i32,
}

/// What an element is: a kind of number, its bits, and how many there are.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// The kinds of numbers that numpy has, by its letters for them.
const CODES: [(u8, u8); 5] = [(0, b'i'), (1, b'u'), (2, b'f'), (5, b'c'), (6, b'b')];

#[repr(C)]
struct Tensor {
    data: *mut u8,
    device: Device,
    rank: i32,
    ty: DataType,
    shape: *const i64,
    /// In elements. Null for one whose elements lie in the order of their indices.
    strides: *const i64,
    byte_offset: u64,
}

/// `DLManagedTensor`, which every version understands.
#[repr(C)]
struct Former {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Former)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Managed {
    version: Version,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
    flags: u64,
    tensor: Tensor,
}
