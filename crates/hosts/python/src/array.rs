//! Arrays of numpy by numpy's C interface, of which this declares the little that is needed.
//!
//! The layout of an array and the places in the table of functions are what numpy 2 promises to
//! everything that is compiled against it. Reading them takes no call, which is what makes small
//! arrays cheap.

use crate::exchange::{from_dlpack, is_offered};
use crate::layout::{Layout, overlaps};
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// `PyArrayObject_fields`, as far as it is looked at.
#[repr(C)]
struct Fields {
    head: ffi::PyObject,
    data: *mut u8,
    nd: c_int,
    dimensions: *const isize,
    strides: *const isize,
    base: *mut ffi::PyObject,
    descr: *mut Descr,
    flags: c_int,
}

/// `PyArray_Descr` of numpy 2, as far as it is looked at.
#[repr(C)]
struct Descr {
    head: ffi::PyObject,
    typeobj: *mut ffi::PyTypeObject,
    kind: u8,
    letter: u8,
    byteorder: u8,
    former_flags: u8,
    type_num: c_int,
    flags: u64,
    elsize: isize,
}

const C_CONTIGUOUS: c_int = 0x1;
const F_CONTIGUOUS: c_int = 0x2;
const WRITEABLE: c_int = 0x400;

/// Elements are references, to objects or to strings.
const NOT_PLAIN: u64 = 0x01;

const ARRAY_TYPE: usize = 2;
const VERSION: usize = 0;
const FROM_ANY: usize = 69;
const NEW_FROM_DESCR: usize = 94;
const EQUIV_TYPES: usize = 182;
const NEW_LIKE_ARRAY: usize = 277;
const SET_BASE_OBJECT: usize = 282;

/// The table of functions; set when the module is imported, before anything else can be called.
static TABLE: AtomicPtr<*const c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Finds numpy.
pub(crate) fn import(py: Python<'_>) -> PyResult<()> {
    let module = py.import("numpy._core._multiarray_umath")?;
    let capsule = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
    // SAFETY: numpy made the capsule, and gave it no name.
    let table = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), std::ptr::null()) };
    if table.is_null() {
        return Err(PyErr::fetch(py));
    }
    TABLE.store(table.cast(), Ordering::Release);
    // SAFETY: the entry has this type in every version.
    let version: unsafe extern "C" fn() -> c_uint = unsafe { std::mem::transmute(entry(VERSION)) };
    // SAFETY: it takes nothing.
    match unsafe { version() } >> 24 {
        2 => Ok(()),
        _ => Err(PyImportError::new_err("restride needs numpy 2")),
    }
}

#[inline(always)]
fn entry(at: usize) -> *const c_void {
    // SAFETY: the table is numpy's, which has more entries than any constant here says.
    unsafe { *TABLE.load(Ordering::Relaxed).add(at) }
}

/// The order in which memory for an array is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// As in C.
    C,
    /// As in Fortran.
    F,
    /// As the array has it that is copied.
    Keep,
}

/// An array, an instance of a subclass too.
pub(crate) struct Array<'py>(Bound<'py, PyAny>);

impl<'py> Array<'py> {
    /// The object, if it is one.
    #[inline]
    pub(crate) fn exactly(object: &Bound<'py, PyAny>) -> Option<Self> {
        let class = entry(ARRAY_TYPE).cast_mut().cast();
        // SAFETY: both are alive.
        let is = unsafe { ffi::PyObject_TypeCheck(object.as_ptr(), class) };
        (is != 0).then(|| Self(object.clone()))
    }

    /// The object, or the array that numpy makes of it. Elements that are references are refused.
    #[inline]
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let array = match Self::exactly(object) {
            Some(array) => array,
            None => Self::made_of(object)?,
        };
        match array.is_plain() {
            true => Ok(array),
            false => Err(array.refused()),
        }
    }

    #[cold]
    fn made_of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        type FromAny = unsafe extern "C" fn(
            *mut ffi::PyObject,
            *mut Descr,
            c_int,
            c_int,
            c_int,
            *mut ffi::PyObject,
        ) -> *mut ffi::PyObject;
        let is_tensor = is_offered(object);
        if is_tensor && !object.hasattr("__array__")? {
            return Ok(Self(from_dlpack(object.py(), object)?));
        }
        let null = std::ptr::null_mut::<ffi::PyObject>();
        // SAFETY: the entry has this type, and no descriptor and no context are asked for.
        let made = unsafe {
            let from_any: FromAny = std::mem::transmute(entry(FROM_ANY));
            from_any(object.as_ptr(), null.cast(), 0, 0, 0, null)
        };
        // SAFETY: an owned reference, or an error has been set.
        match unsafe { Bound::from_owned_ptr_or_err(object.py(), made) } {
            // Of elements that numpy has no name for.
            Err(error) if is_tensor && error.is_instance_of::<PyTypeError>(object.py()) => {
                from_dlpack(object.py(), object).map_err(|_| error)
            }
            made => made,
        }
        .map(Self)
    }

    #[cold]
    fn refused(&self) -> PyErr {
        let name = self.0.getattr("dtype").map(|dtype| dtype.to_string());
        PyTypeError::new_err(format!(
            "arrays of dtype {} are not moved by restride: their elements are no plain bytes",
            name.unwrap_or_default()
        ))
    }

    #[inline(always)]
    fn fields(&self) -> &Fields {
        // SAFETY: it is an array, whose layout numpy promises.
        unsafe { &*self.0.as_ptr().cast() }
    }

    #[inline(always)]
    fn descr(&self) -> &Descr {
        // SAFETY: an array keeps its descriptor alive, whose layout numpy promises.
        unsafe { &*self.fields().descr }
    }

    /// The object that it is.
    #[inline]
    pub(crate) fn object(&self) -> &Bound<'py, PyAny> {
        &self.0
    }

    /// The object that it is.
    #[inline]
    pub(crate) fn into_object(self) -> Bound<'py, PyAny> {
        self.0
    }

    /// Where its first element is.
    #[inline]
    pub(crate) fn data(&self) -> *mut u8 {
        self.fields().data
    }

    /// Its sizes.
    #[inline]
    pub(crate) fn shape(&self) -> &[isize] {
        list(self.fields().dimensions, self.fields().nd)
    }

    /// Its strides, in bytes.
    #[inline]
    pub(crate) fn strides(&self) -> &[isize] {
        list(self.fields().strides, self.fields().nd)
    }

    /// How many axes it has.
    #[inline]
    pub(crate) fn rank(&self) -> usize {
        self.fields().nd as usize
    }

    /// How many elements it has.
    pub(crate) fn len(&self) -> isize {
        self.shape().iter().product()
    }

    /// How many bytes an element has.
    #[inline]
    pub(crate) fn itemsize(&self) -> isize {
        self.descr().elsize
    }

    /// The kind of its elements, as `dtype.kind` says it.
    pub(crate) fn kind(&self) -> u8 {
        self.descr().kind
    }

    #[inline]
    fn has(&self, flags: c_int) -> bool {
        self.fields().flags & flags == flags
    }

    /// Whether its elements are bytes that can be moved.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.descr().flags & NOT_PLAIN == 0
    }

    /// Whether its elements lie in the order of their indices.
    #[inline]
    pub(crate) fn is_dense(&self) -> bool {
        self.has(C_CONTIGUOUS)
    }

    /// Whether its elements lie in the order of their indices read backwards.
    #[inline]
    pub(crate) fn is_dense_in_fortran(&self) -> bool {
        self.has(F_CONTIGUOUS)
    }

    /// Whether it can be written to.
    pub(crate) fn is_writeable(&self) -> bool {
        self.has(WRITEABLE)
    }

    /// Whether its numbers are of the machine's byte order.
    pub(crate) fn is_native(&self) -> bool {
        let swapped = if cfg!(target_endian = "little") {
            b'>'
        } else {
            b'<'
        };
        self.descr().byteorder != swapped
    }

    /// Whether it has no elements of its own, because it is a view of another or has none at all.
    pub(crate) fn lies_in(&self, other: &Self) -> bool {
        let region = |array: &Self| {
            let layout = Layout::of(array.shape(), array.strides(), array.itemsize(), 1)?;
            Some((
                (array.data() as usize).wrapping_sub(layout.below()),
                layout.span,
            ))
        };
        match (region(self), region(other)) {
            (Some((_, 0)), _) => true,
            (Some(a), Some(b)) => overlaps(a, b),
            _ => false,
        }
    }

    /// Whether it is an array and no instance of a subclass.
    #[inline]
    pub(crate) fn is_base_class(&self) -> bool {
        let class: *mut ffi::PyTypeObject = entry(ARRAY_TYPE).cast_mut().cast();
        // SAFETY: it is alive.
        unsafe { ffi::Py_TYPE(self.0.as_ptr()) == class }
    }

    /// Whether its dtype is this very object.
    #[inline]
    pub(crate) fn has_descriptor(&self, dtype: &Py<PyAny>) -> bool {
        std::ptr::eq(self.fields().descr.cast_const().cast(), dtype.as_ptr())
    }

    /// Whether the elements of both mean the same.
    #[inline]
    pub(crate) fn has_dtype_of(&self, other: &Self) -> bool {
        let (a, b) = (self.fields().descr, other.fields().descr);
        if std::ptr::eq(a, b) {
            return true;
        }
        // SAFETY: the entry has this type, and both descriptors are alive.
        unsafe {
            let same: unsafe extern "C" fn(*mut Descr, *mut Descr) -> u8 =
                std::mem::transmute(entry(EQUIV_TYPES));
            same(a, b) != 0
        }
    }

    /// A new array with elements like this one's, that are not initialised.
    #[inline]
    pub(crate) fn new_like(&self, shape: &[isize], order: Order) -> PyResult<Self> {
        let null = std::ptr::null_mut();
        let flags = c_int::from(order == Order::F);
        // SAFETY: numpy allocates, by the sizes given.
        unsafe { self.with_descr(shape, null, null.cast(), flags) }
    }

    /// A new array of the same shape, laid out as this one is.
    pub(crate) fn new_in_kept_order(&self) -> PyResult<Self> {
        type NewLike = unsafe extern "C" fn(
            *mut ffi::PyObject,
            c_int,
            *mut Descr,
            c_int,
        ) -> *mut ffi::PyObject;
        const KEEP_ORDER: c_int = 2;
        // SAFETY: the entry has this type; no descriptor is given.
        let made = unsafe {
            let new_like: NewLike = std::mem::transmute(entry(NEW_LIKE_ARRAY));
            new_like(self.0.as_ptr(), KEEP_ORDER, std::ptr::null_mut(), 0)
        };
        // SAFETY: an owned reference, or an error has been set.
        unsafe { Bound::from_owned_ptr_or_err(self.0.py(), made) }.map(Self)
    }

    /// A view of memory of this array, that keeps the array alive.
    ///
    /// # Safety
    /// Every element that the shape and the strides name from this many bytes after the first element
    /// on lies in the memory of the array.
    pub(crate) unsafe fn view(
        &self,
        shape: &[isize],
        strides: &[isize],
        offset: isize,
    ) -> PyResult<Self> {
        let flags = self.fields().flags & WRITEABLE;
        let data = self.data().wrapping_offset(offset);
        // SAFETY: the caller's.
        let view = unsafe { self.with_descr(shape, strides.as_ptr(), data, flags) }?;
        view.set_base(self.0.clone())
    }

    /// # Safety
    /// Without data there are no strides; with data, all that they name is memory that lives as long.
    #[inline]
    unsafe fn with_descr(
        &self,
        shape: &[isize],
        strides: *const isize,
        data: *mut u8,
        flags: c_int,
    ) -> PyResult<Self> {
        // SAFETY: an array keeps its descriptor alive; the rest is the caller's.
        unsafe {
            made_with(
                self.0.py(),
                self.fields().descr,
                shape,
                strides,
                data,
                flags,
            )
        }
    }

    /// An array in memory that its base keeps.
    ///
    /// # Safety
    /// Every element that the shape and the strides name lies in memory that lives as long as the base,
    /// and may be written if that is said.
    pub(crate) unsafe fn foreign(
        dtype: &Bound<'py, PyAny>,
        (shape, strides): (&[isize], &[isize]),
        data: *mut u8,
        is_writeable: bool,
        base: Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        // Where no element is, there may be no memory; without any numpy would take its own.
        let data = if data.is_null() {
            std::ptr::dangling_mut::<u128>().cast()
        } else {
            data
        };
        let flags = if is_writeable { WRITEABLE } else { 0 };
        let (py, descr) = (dtype.py(), dtype.as_ptr().cast());
        // SAFETY: the caller's.
        let array = unsafe { made_with(py, descr, shape, strides.as_ptr(), data, flags) }?;
        array.set_base(base)
    }

    /// Keeps an object alive as long as itself.
    fn set_base(self, base: Bound<'py, PyAny>) -> PyResult<Self> {
        // SAFETY: the entry has this type; it takes over the reference to the base, also when it fails.
        let failed = unsafe {
            let set: unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject) -> c_int =
                std::mem::transmute(entry(SET_BASE_OBJECT));
            set(self.0.as_ptr(), base.into_ptr())
        };
        match failed {
            0 => Ok(self),
            _ => Err(PyErr::fetch(self.0.py())),
        }
    }
}

/// # Safety
/// As [`Array::with_descr`]; the descriptor is alive.
#[inline]
unsafe fn made_with<'py>(
    py: Python<'py>,
    descr: *mut Descr,
    shape: &[isize],
    strides: *const isize,
    data: *mut u8,
    flags: c_int,
) -> PyResult<Array<'py>> {
    type New = unsafe extern "C" fn(
        *mut ffi::PyTypeObject,
        *mut Descr,
        c_int,
        *const isize,
        *const isize,
        *mut c_void,
        c_int,
        *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
    // SAFETY: the entry has this type, and takes over a reference to the descriptor.
    let made = unsafe {
        ffi::Py_INCREF(descr.cast());
        let new: New = std::mem::transmute(entry(NEW_FROM_DESCR));
        let class = entry(ARRAY_TYPE).cast_mut().cast();
        let null = std::ptr::null_mut();
        let rank = shape.len() as c_int;
        let (shape, data) = (shape.as_ptr(), data.cast());
        new(class, descr, rank, shape, strides, data, flags, null)
    };
    // SAFETY: an owned reference, or an error has been set.
    unsafe { Bound::from_owned_ptr_or_err(py, made) }.map(Array)
}

impl Clone for Array<'_> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

#[inline(always)]
fn list<'a>(start: *const isize, count: c_int) -> &'a [isize] {
    match count {
        0 => &[],
        // SAFETY: an array has so many sizes and strides, and does not change them while it is used here.
        _ => unsafe { std::slice::from_raw_parts(start, count as usize) },
    }
}
