//! Tensors as the caller hands them over: borrowed bytes and an element type, nothing owned.
//!
//! A tensor is the buffer only. Where its elements lie in it (shape, strides, offset) is part of
//! the program that was compiled for it, so a call has nothing to describe again.

use restride_graph::ElementType;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that is an element type.
///
/// All values of an element type are values of the Rust type, with one exception: bytes that are
/// said to be bools may be others than 0 and 1, and a Rust `bool` may not. So what is written to a
/// slice of `bool` must come from slices of `bool`; see [`RunError::NotBool`](crate::RunError::NotBool).
pub trait Element: Copy + sealed::Sealed + 'static {
    /// The element type it is.
    const ELEMENT: ElementType;
}

macro_rules! elements {
    ($($rust:ty => $name:ident),* $(,)?) => {$(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const ELEMENT: ElementType = ElementType::$name;
        }
    )*};
}

elements! {
    bool => Bool,
    i8 => I8, u8 => U8, i16 => I16, u16 => U16, i32 => I32, u32 => U32,
    i64 => I64, u64 => U64, i128 => I128, u128 => U128, f32 => F32, f64 => F64,
}

#[cfg(feature = "half")]
elements! { half::f16 => F16, half::bf16 => Bf16 }

/// How strictly the element of a tensor is compared with the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Values of the Rust type that this is: valid, and to be so after a call.
    Values(ElementType),
    /// Bytes for an element of this name.
    Named(ElementType),
    /// Plain bytes: any element.
    Bytes,
}

/// A tensor to read from.
#[derive(Clone, Copy, Debug)]
pub struct TensorRef<'a> {
    pub(crate) start: *const u8,
    pub(crate) bytes: usize,
    pub(crate) claim: Claim,
    borrow: PhantomData<&'a [u8]>,
}

// SAFETY: it stands for a shared slice of plain data.
unsafe impl Send for TensorRef<'_> {}
// SAFETY: as above.
unsafe impl Sync for TensorRef<'_> {}

impl<'a> TensorRef<'a> {
    /// A slice of elements.
    #[must_use]
    pub fn new<T: Element>(elements: &'a [T]) -> Self {
        Self {
            start: elements.as_ptr().cast(),
            bytes: size_of_val(elements),
            claim: Claim::Values(T::ELEMENT),
            borrow: PhantomData,
        }
    }

    /// Plain bytes that hold elements of whatever type the program says, at any alignment.
    #[must_use]
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self {
            claim: Claim::Bytes,
            ..Self::new(bytes)
        }
    }

    /// Bytes that hold elements of a named type, such as `bf16`, for which Rust has none.
    #[must_use]
    pub fn of(element: ElementType, bytes: &'a [u8]) -> Self {
        Self {
            claim: Claim::Named(element),
            ..Self::new(bytes)
        }
    }

    /// So many bytes from an address on, which hold elements of a named type.
    ///
    /// # Safety
    /// All of them can be read, those between the elements of a layout too: vectors load what lies
    /// between the first and the last element, and drop what they do not need. Nobody writes to any
    /// of them, except as another thread may to the indices of a gather, for as long as the tensor
    /// lives.
    #[must_use]
    pub unsafe fn from_raw(element: ElementType, start: *const u8, bytes: usize) -> Self {
        Self {
            start,
            bytes,
            claim: Claim::Named(element),
            borrow: PhantomData,
        }
    }
}

#[cfg(feature = "ndarray")]
impl TensorRef<'_> {
    /// So many elements from an address on, those that a layout names being values of their type.
    ///
    /// # Safety
    /// As for [`TensorRef::from_raw`].
    pub(crate) unsafe fn from_values<T: Element>(start: *const T, count: usize) -> Self {
        Self {
            start: start.cast(),
            bytes: count * size_of::<T>(),
            claim: Claim::Values(T::ELEMENT),
            borrow: PhantomData,
        }
    }
}

#[cfg(feature = "ndarray")]
impl TensorMut<'_> {
    /// So many elements from an address on, of which those that a layout names are to be values.
    ///
    /// # Safety
    /// As for [`TensorMut::from_raw`].
    pub(crate) unsafe fn from_values<T: Element>(start: *mut T, count: usize) -> Self {
        Self {
            start: start.cast(),
            bytes: count * size_of::<T>(),
            claim: Claim::Values(T::ELEMENT),
            borrow: PhantomData,
        }
    }
}

/// A tensor to write to. What it holds before the call plays no part.
#[derive(Debug)]
pub struct TensorMut<'a> {
    pub(crate) start: *mut u8,
    pub(crate) bytes: usize,
    pub(crate) claim: Claim,
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: it stands for an exclusive slice of plain data.
unsafe impl Send for TensorMut<'_> {}
// SAFETY: as above; nothing can be done with a shared reference to it.
unsafe impl Sync for TensorMut<'_> {}

impl<'a> TensorMut<'a> {
    /// A slice of elements.
    #[must_use]
    pub fn new<T: Element>(elements: &'a mut [T]) -> Self {
        Self {
            start: elements.as_mut_ptr().cast(),
            bytes: size_of_val(elements),
            claim: Claim::Values(T::ELEMENT),
            borrow: PhantomData,
        }
    }

    /// A slice of elements that need not be initialised. After a successful call those that the
    /// output's layout names are; a dense output of the slice's length is initialised whole.
    /// Elements are valid values of their type, those of a `bool` too.
    #[must_use]
    pub fn uninit<T: Element>(elements: &'a mut [MaybeUninit<T>]) -> Self {
        Self {
            start: elements.as_mut_ptr().cast(),
            bytes: size_of_val(elements),
            claim: Claim::Values(T::ELEMENT),
            borrow: PhantomData,
        }
    }

    /// Bytes for elements of a named type, that need not be initialised: a part of an arena, or an
    /// output of a type that Rust does not have. As for [`TensorMut::uninit`], a successful call
    /// initialises what the output's layout names.
    ///
    /// ```
    /// use restride::{ElementType, TensorMut};
    /// use std::mem::MaybeUninit;
    ///
    /// let mut arena = [MaybeUninit::<u8>::uninit(); 64];
    /// let (y, _rest) = arena.split_at_mut(24);
    /// let y = TensorMut::uninit_of(ElementType::Bf16, y);
    /// ```
    #[must_use]
    pub fn uninit_of(element: ElementType, bytes: &'a mut [MaybeUninit<u8>]) -> Self {
        Self {
            claim: Claim::Named(element),
            ..Self::uninit(bytes)
        }
    }

    /// So many bytes from an address on, for elements of a named type, initialised or not. As with
    /// other bytes, those of a bool are 0 or 1 only if those of the inputs are.
    ///
    /// # Safety
    /// They can be written to, and nothing else uses them, for as long as the tensor lives.
    #[must_use]
    pub unsafe fn from_raw(element: ElementType, start: *mut u8, bytes: usize) -> Self {
        Self {
            start,
            bytes,
            claim: Claim::Named(element),
            borrow: PhantomData,
        }
    }

    /// The same tensor for a while, after which this one can be used again.
    #[must_use]
    pub fn reborrow(&mut self) -> TensorMut<'_> {
        TensorMut { ..*self }
    }

    /// Plain bytes for elements of whatever type the program says, at any alignment.
    #[must_use]
    pub fn from_bytes(bytes: &'a mut [u8]) -> Self {
        Self {
            claim: Claim::Bytes,
            ..Self::new(bytes)
        }
    }

    /// Bytes for elements of a named type, such as `bf16`.
    #[must_use]
    pub fn of(element: ElementType, bytes: &'a mut [u8]) -> Self {
        Self {
            claim: Claim::Named(element),
            ..Self::new(bytes)
        }
    }
}

/// Memory of a host's own for an output: what [`Program::run_with`](crate::Program::run_with) is given.
///
/// ```
/// use restride::{ElementType, OutputBuffer, TensorMut};
///
/// /// A host's tensor.
/// struct Tensor {
///     element: ElementType,
///     bytes: Box<[u8]>,
/// }
///
/// impl OutputBuffer for Tensor {
///     fn tensor(&mut self) -> TensorMut<'_> {
///         TensorMut::of(self.element, &mut self.bytes)
///     }
/// }
/// ```
pub trait OutputBuffer {
    /// Where the elements go.
    fn tensor(&mut self) -> TensorMut<'_>;
}

impl<T: Element> OutputBuffer for Vec<T> {
    fn tensor(&mut self) -> TensorMut<'_> {
        TensorMut::new(self)
    }
}

impl<T: Element> OutputBuffer for Box<[T]> {
    fn tensor(&mut self) -> TensorMut<'_> {
        TensorMut::new(self)
    }
}

impl<T: Element> OutputBuffer for &mut [T] {
    fn tensor(&mut self) -> TensorMut<'_> {
        TensorMut::new(self)
    }
}

impl<T: Element> OutputBuffer for Box<[MaybeUninit<T>]> {
    fn tensor(&mut self) -> TensorMut<'_> {
        TensorMut::uninit(self)
    }
}

impl<T: Element> OutputBuffer for &mut [MaybeUninit<T>] {
    fn tensor(&mut self) -> TensorMut<'_> {
        TensorMut::uninit(self)
    }
}

impl OutputBuffer for TensorMut<'_> {
    fn tensor(&mut self) -> TensorMut<'_> {
        self.reborrow()
    }
}
