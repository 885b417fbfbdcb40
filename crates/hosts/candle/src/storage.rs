//! Candle's storage as restride's tensors. The only unsafe code of this crate.

use candle_core::backend::{BackendDevice as _, BackendStorage as _};
use candle_core::cpu_backend::CpuDevice;
use candle_core::{CpuStorage, DType, Error, Layout, Result, Shape};
use restride::{ElementType, InputShape, OutputBuffer, TensorMut, TensorRef};

/// What both sides call their types. Those of 4 and 6 bits are candle's own business.
const TYPES: [(DType, ElementType); 11] = [
    (DType::U8, ElementType::U8),
    (DType::U32, ElementType::U32),
    (DType::I16, ElementType::I16),
    (DType::I32, ElementType::I32),
    (DType::I64, ElementType::I64),
    (DType::BF16, ElementType::Bf16),
    (DType::F16, ElementType::F16),
    (DType::F32, ElementType::F32),
    (DType::F64, ElementType::F64),
    (DType::F8E4M3, ElementType::F8E4M3),
    (DType::F8E8M0, ElementType::F8E8M0),
];

/// The element type of a dtype.
pub(crate) fn element(dtype: DType) -> Result<ElementType> {
    let known = TYPES.iter().find(|(theirs, _)| *theirs == dtype);
    let known = known.ok_or(Error::UnsupportedDTypeForOp(dtype, "restride"))?;
    Ok(known.1)
}

/// The dtype of an element type.
fn dtype(element: ElementType) -> Result<DType> {
    let known = TYPES.iter().find(|(_, ours)| *ours == element);
    let known = known.ok_or_else(|| Error::msg(format!("candle has no {element}")))?;
    Ok(known.0)
}

/// Calls a function with the slice that a storage holds, whatever it holds.
macro_rules! with_elements {
    ($storage:expr, $slice:ident => $result:expr) => {
        match $storage {
            CpuStorage::U8($slice)
            | CpuStorage::F6E2M3($slice)
            | CpuStorage::F6E3M2($slice)
            | CpuStorage::F4($slice)
            | CpuStorage::F8E8M0($slice) => $result,
            CpuStorage::U32($slice) => $result,
            CpuStorage::I16($slice) => $result,
            CpuStorage::I32($slice) => $result,
            CpuStorage::I64($slice) => $result,
            CpuStorage::BF16($slice) => $result,
            CpuStorage::F16($slice) => $result,
            CpuStorage::F32($slice) => $result,
            CpuStorage::F64($slice) => $result,
            CpuStorage::F8E4M3($slice) => $result,
        }
    };
}

/// What a layout names of a storage: its elements from the first one on.
pub(crate) fn input<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<TensorRef<'a>> {
    let element = element(storage.dtype())?;
    let offset = layout.start_offset();
    with_elements!(storage, all => {
        let from = all.get(offset..).ok_or_else(|| Error::msg("a layout that begins outside of its storage"))?;
        // SAFETY: they are a borrowed slice of numbers.
        Ok(unsafe { TensorRef::from_raw(element, from.as_ptr().cast(), size_of_val(from)) })
    })
}

/// The shape and the strides of a layout. Where it begins is left to [`input`], so that one program
/// serves every place.
pub(crate) fn shape(layout: &Layout) -> InputShape<'_> {
    let shape = InputShape::of(layout.dims());
    match layout.is_contiguous() {
        true => shape,
        false => shape.with_strides(0, layout.stride()),
    }
}

/// Storage that nobody has written yet.
pub(crate) struct Fresh {
    storage: CpuStorage,
    element: ElementType,
}

impl Fresh {
    pub(crate) fn new(shape: &Shape, element: ElementType) -> Result<Self> {
        let dtype = dtype(element)?;
        // SAFETY: it is given away by `written` alone, after a call that has written all of it.
        let storage = unsafe { CpuDevice.alloc_uninit(shape, dtype)? };
        Ok(Self { storage, element })
    }

    /// The storage, after a call that ended well.
    pub(crate) fn written(self) -> CpuStorage {
        self.storage
    }
}

impl OutputBuffer for Fresh {
    fn tensor(&mut self) -> TensorMut<'_> {
        let element = self.element;
        with_elements!(&mut self.storage, all => {
            // SAFETY: they are a borrowed slice of numbers, of which any bits are one.
            unsafe { TensorMut::from_raw(element, all.as_mut_ptr().cast(), size_of_val(&**all)) }
        })
    }
}
