//! burn's `FlexTensor` copied into a row by restride: all that an adapter for it needs.

use burn_flex::{FlexTensor, Layout};
use burn_std::Bytes;
use restride::{ElementType, Engine, InputShape, TensorMut, TensorRef};

/// Copies a tensor of burn's, of `f32`, by restride: its strides, negative ones too, are an input's. One that is dense is
/// answered as it is, as burn does.
pub fn to_contiguous(engine: &Engine, from: &FlexTensor) -> FlexTensor {
    let layout = from.layout();
    let sizes: Vec<usize> = layout.shape().iter().copied().collect();
    let to_shape = Layout::contiguous(layout.shape().clone());
    if layout.is_contiguous() && layout.start_offset() == 0 {
        return FlexTensor::from_arc(from.data_arc(), to_shape, from.dtype());
    }
    let shape = InputShape::of(&sizes[..]).with_strides(layout.start_offset(), layout.strides());
    let count = layout.num_elements();
    let mut to: Vec<f32> = Vec::with_capacity(count);
    let room = TensorMut::uninit(&mut to.spare_capacity_mut()[..count]);
    let read = TensorRef::of(ElementType::F32, from.bytes());
    let done = engine.write_dense(ElementType::F32, shape, read, room);
    done.expect("a layout of burn's");
    // SAFETY: all of them were just written.
    unsafe { to.set_len(count) };
    // Not `from_bytes_vec`, which copies what does not lie on lines of the cache.
    FlexTensor::new(Bytes::from_elems(to), to_shape, from.dtype())
}
