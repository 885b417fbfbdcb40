//! The part of ONNX Runtime's C interface that is needed: a table of functions, of which each has its
//! number for ever.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::transmute;

/// What ONNX Runtime owns and hands out by address.
#[repr(C)]
pub struct Opaque {
    nothing: [u8; 0],
}

/// Null if it went well, else what went wrong.
pub type Status = *mut Opaque;

/// The version whose interface is asked for: what came later is used where it is there.
pub(crate) const VERSION: u32 = 20;

/// The version that has [`Api::shape_reference`].
const HAS_SHAPE_REFERENCE: u32 = 24;

/// The way to the table.
#[repr(C)]
pub struct ApiBase {
    get: unsafe extern "C" fn(version: u32) -> *const *const c_void,
    version: unsafe extern "C" fn() -> *const c_char,
}

/// The table.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    table: *const *const c_void,
    minor: u32,
}

// SAFETY: the table is constant, and its functions may be called from any thread.
unsafe impl Send for Api {}
// SAFETY: likewise.
unsafe impl Sync for Api {}

/// Declares functions by their numbers.
macro_rules! functions {
    ($($(#[$doc:meta])* $number:literal $name:ident($($argument:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        impl Api {$(
            $(#[$doc])*
            ///
            /// # Safety
            /// Addresses are valid and of what ONNX Runtime expects there.
            #[inline]
            pub(crate) unsafe fn $name(self, $($argument: $ty),*) $(-> $result)? {
                // SAFETY: the function of this number has had this type since version 20 at least,
                // or its caller has asked for the version.
                let function = unsafe {
                    transmute::<*const c_void, unsafe extern "C" fn($($ty),*) $(-> $result)?>(
                        *self.table.add($number),
                    )
                };
                // SAFETY: the caller's.
                unsafe { function($($argument),*) }
            }
        )*}
    };
}

functions! {
    /// A failure of a kind, with a message.
    0 create_status(code: c_int, message: *const c_char) -> Status;
    /// Makes a domain.
    26 create_custom_op_domain(name: *const c_char, out: *mut *mut Opaque) -> Status;
    /// Adds an operator to a domain.
    27 custom_op_domain_add(domain: *mut Opaque, operator: *const c_void) -> Status;
    /// Adds a domain to the options of a session.
    28 add_custom_op_domain(options: *mut Opaque, domain: *mut Opaque) -> Status;
    /// Where the elements of a tensor begin.
    51 tensor_data(value: *mut Opaque, out: *mut *mut c_void) -> Status;
    /// Makes an empty type.
    57 create_shape(out: *mut *mut Opaque) -> Status;
    /// Sets its element, which is a float of 32 bits else.
    58 set_element(shape: *mut Opaque, element: c_int) -> Status;
    /// Sets its sizes.
    59 set_sizes(shape: *mut Opaque, sizes: *const i64, count: usize) -> Status;
    /// Its element.
    60 element(shape: *const Opaque, out: *mut c_int) -> Status;
    /// Its rank.
    61 rank(shape: *const Opaque, out: *mut usize) -> Status;
    /// Its sizes.
    62 sizes(shape: *const Opaque, out: *mut i64, count: usize) -> Status;
    /// The names of its sizes; empty ones where they have none.
    63 size_names(shape: *const Opaque, out: *mut *const c_char, count: usize) -> Status;
    /// The type of a tensor, to be released.
    65 tensor_shape(value: *const Opaque, out: *mut *mut Opaque) -> Status;
    /// A text among a kernel's attributes.
    87 attribute_text(info: *const Opaque, name: *const c_char, out: *mut c_char, size: *mut usize) -> Status;
    /// How many inputs a call has.
    88 input_count(context: *const Opaque, out: *mut usize) -> Status;
    /// How many outputs it has.
    89 output_count(context: *const Opaque, out: *mut usize) -> Status;
    /// An input.
    90 input(context: *const Opaque, at: usize, out: *mut *const Opaque) -> Status;
    /// An output of these sizes.
    91 output(context: *mut Opaque, at: usize, sizes: *const i64, count: usize, out: *mut *mut Opaque) -> Status;
    /// Frees a failure.
    93 release_status(status: Status);
    /// Frees a type.
    99 release_shape(shape: *mut Opaque);
    /// How many inputs a node has.
    267 infer_input_count(context: *const Opaque, out: *mut usize) -> Status;
    /// The type of an input, as far as it is known; it stays ONNX Runtime's.
    268 infer_input(context: *const Opaque, at: usize, out: *mut *mut Opaque) -> Status;
    /// An attribute of a node.
    269 infer_attribute(context: *const Opaque, name: *const c_char, out: *mut *const Opaque) -> Status;
    /// Says the shape of an output.
    270 infer_output(context: *const Opaque, at: usize, shape: *const Opaque) -> Status;
    /// Gives names to sizes that are not known.
    271 set_size_names(shape: *mut Opaque, names: *const *const c_char, count: usize) -> Status;
    /// What an attribute is.
    272 read_attribute(attribute: *const Opaque, kind: c_int, out: *mut c_void, room: usize, size: *mut usize) -> Status;
    /// Calls a function on the session's threads.
    274 parallel_for(context: *const Opaque, function: unsafe extern "C" fn(*mut c_void, usize), count: usize, batches: usize, user: *mut c_void) -> Status;
    /// The type of a tensor where it lies; since version 24.
    414 shape_reference(value: *const Opaque, element: *mut c_int, sizes: *mut *const i64, count: *mut usize) -> Status;
}

impl Api {
    /// The table, or why there is none.
    ///
    /// # Safety
    /// `base` leads to the interface of an ONNX Runtime that stays loaded.
    pub(crate) unsafe fn of(base: *const ApiBase) -> Result<Api, Status> {
        // SAFETY: the caller's; the version is a text for ever.
        let (get, version) = unsafe { ((*base).get, CStr::from_ptr(((*base).version)())) };
        let version = version.to_string_lossy();
        let minor = version.split('.').nth(1).and_then(|it| it.parse().ok());
        let minor = minor.unwrap_or(0);
        // The first version is always there; asking for one that is not would be printed.
        let asked = if minor < VERSION { 1 } else { VERSION };
        // SAFETY: the function is the caller's.
        let table = unsafe { get(asked) };
        let api = Api { table, minor };
        match asked {
            VERSION => Ok(api),
            _ => {
                let what =
                    format!("restride needs ONNX Runtime 1.{VERSION} or newer, not {version}");
                Err(api.failure(&what))
            }
        }
    }

    /// What tells this table from others.
    pub(crate) fn address(self) -> usize {
        self.table as usize
    }

    /// A failure with a message.
    pub(crate) fn failure(self, message: &str) -> Status {
        const FAIL: c_int = 1;
        let text: Vec<u8> = message.bytes().filter(|&byte| byte != 0).collect();
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: a text that ends, which is copied.
        unsafe { self.create_status(FAIL, text.as_ptr()) }
    }

    /// Whether it went well.
    #[inline]
    pub(crate) fn check(self, status: Status) -> Result<(), Status> {
        match status.is_null() {
            true => Ok(()),
            false => Err(status),
        }
    }

    /// Whether it went well, if nobody wants to know why not.
    pub(crate) fn went_well(self, status: Status) -> bool {
        if !status.is_null() {
            // SAFETY: a failure that was handed to us.
            unsafe { self.release_status(status) };
        }
        status.is_null()
    }

    /// The element and the sizes of a tensor, added to a list.
    ///
    /// # Safety
    /// `value` is a tensor.
    #[inline]
    pub(crate) unsafe fn type_of<const N: usize>(
        self,
        value: *const Opaque,
        sizes: &mut smallvec::SmallVec<[i64; N]>,
    ) -> Result<c_int, Status>
    where
        [i64; N]: smallvec::Array<Item = i64>,
    {
        let mut element = 0;
        if self.minor >= HAS_SHAPE_REFERENCE {
            let (mut start, mut count) = (std::ptr::null(), 0);
            // SAFETY: the function is there in this version, the value is a tensor.
            self.check(unsafe {
                self.shape_reference(value, &mut element, &mut start, &mut count)
            })?;
            if count > 0 {
                // SAFETY: so many sizes lie there as long as the tensor lives.
                sizes.extend_from_slice(unsafe { std::slice::from_raw_parts(start, count) });
            }
            return Ok(element);
        }
        let mut shape = std::ptr::null_mut();
        // SAFETY: the value is a tensor.
        self.check(unsafe { self.tensor_shape(value, &mut shape) })?;
        // SAFETY: the type that was just made.
        let read = unsafe { self.type_in(shape, &mut element, sizes) };
        // SAFETY: likewise; nobody else has it.
        unsafe { self.release_shape(shape) };
        read.map(|()| element)
    }

    /// What a type says.
    ///
    /// # Safety
    /// `shape` is a type.
    pub(crate) unsafe fn type_in<const N: usize>(
        self,
        shape: *const Opaque,
        element: &mut c_int,
        sizes: &mut smallvec::SmallVec<[i64; N]>,
    ) -> Result<(), Status>
    where
        [i64; N]: smallvec::Array<Item = i64>,
    {
        let (mut rank, before) = (0, sizes.len());
        // SAFETY: the type is the caller's, and there is room for its sizes.
        unsafe {
            self.check(self.element(shape, element))?;
            self.check(self.rank(shape, &mut rank))?;
            sizes.resize(before + rank, 0);
            self.check(self.sizes(shape, sizes.as_mut_ptr().add(before), rank))
        }
    }
}
