//! Tensor types: an element, a shape, and for inputs and outputs a layout.
//!
//! A [`TensorType`] can only be made through checks, so whoever holds one may rely on these facts:
//! the rank is at most [`MAX_RANK`]; no size is negative; the product of the sizes that are not
//! zero, times the element width, is at most `isize::MAX` (an empty tensor is no excuse for absurd
//! sizes); and every element that a layout addresses has a byte offset in `0..=isize::MAX`.

use std::fmt;

use smallvec::SmallVec;

use crate::ElementType;

/// The largest rank a tensor may have.
pub const MAX_RANK: usize = 32;

/// Sizes of the axes, outermost first. Rank 0 and size 0 are ordinary.
pub type Shape = SmallVec<[i64; 6]>;

/// Where the elements of an input or output lie: `offset + sum(index * stride)`, in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Strided {
    /// Element offset of index 0 from the start of the buffer.
    pub offset: i64,
    /// One stride per axis, in elements; negative and zero ones are fine for inputs.
    pub strides: Shape,
}

/// The type of a value.
///
/// ```
/// # extern crate restride_graph as restride;
/// use restride::{ElementType, Strided, TensorType};
///
/// let ty = TensorType::dense(ElementType::F32, [8, 16])?;
/// assert_eq!((ty.rank(), ty.numel(), ty.byte_size()), (2, 128, 512));
/// assert_eq!(ty.to_string(), "f32[8, 16]");
///
/// // Every second row of a buffer, backwards.
/// let view = TensorType::strided(
///     ElementType::F32,
///     [4, 16],
///     Strided { offset: 96, strides: [-32, 1].as_slice().into() },
/// )?;
/// assert_eq!(view.required_elements(), 112);
/// # Ok::<(), restride_graph::TypeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    element: ElementType,
    shape: Shape,
    layout: Option<Strided>,
}

/// Why a tensor type cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeError {
    /// More axes than [`MAX_RANK`].
    #[error("rank {rank} is more than {MAX_RANK}")]
    Rank {
        /// The rank asked for.
        rank: usize,
    },
    /// A size below zero.
    #[error("axis {axis} has size {size}; a size is at least 0")]
    NegativeSize {
        /// The axis.
        axis: usize,
        /// Its size.
        size: i64,
    },
    /// The sizes other than zero multiply to more bytes than can be addressed.
    #[error("the sizes multiply to more than {} bytes", isize::MAX)]
    TooLarge,
    /// A layout whose number of strides is not the rank.
    #[error("{strides} strides for rank {rank}")]
    StrideCount {
        /// The strides given.
        strides: usize,
        /// The rank.
        rank: usize,
    },
    /// A layout that addresses elements before the start of the buffer or beyond `isize::MAX`.
    #[error("the layout reaches element {reached}, {}", beyond(*reached, *width))]
    Unaddressable {
        /// The lowest or highest element that the layout reaches.
        reached: i128,
        /// The element width.
        width: usize,
    },
    /// An output layout that is not known to keep its elements apart.
    #[error(
        "axis {axis} has stride {stride}, but the axes of smaller strides span {span} elements; \
         the elements of an output must not share addresses"
    )]
    Overlap {
        /// The axis whose stride is too small.
        axis: usize,
        /// Its stride.
        stride: i64,
        /// How many elements the axes inside it span.
        span: i128,
    },
}

/// Where an element lies that no buffer has.
fn beyond(reached: i128, width: usize) -> String {
    match reached {
        ..0 => "before the first".into(),
        _ => {
            let last = isize::MAX as usize / width - 1;
            format!("beyond the last that there can be, {last}")
        }
    }
}

impl TensorType {
    /// A type whose elements lie dense in row-major order.
    pub fn dense(element: ElementType, shape: impl AsRef<[i64]>) -> Result<TensorType, TypeError> {
        let shape = shape.as_ref();
        if shape.len() > MAX_RANK {
            return Err(TypeError::Rank { rank: shape.len() });
        }
        let mut bytes = element.width() as i64;
        for (axis, &size) in shape.iter().enumerate() {
            if size < 0 {
                return Err(TypeError::NegativeSize { axis, size });
            }
            bytes = bytes
                .checked_mul(size.max(1))
                .filter(|&bytes| isize::try_from(bytes).is_ok())
                .ok_or(TypeError::TooLarge)?;
        }
        Ok(TensorType {
            element,
            shape: Shape::from_slice(shape),
            layout: None,
        })
    }

    /// A type whose elements lie where `layout` says.
    pub fn strided(
        element: ElementType,
        shape: impl AsRef<[i64]>,
        layout: Strided,
    ) -> Result<TensorType, TypeError> {
        TensorType::dense(element, shape)?.with_layout(layout)
    }

    /// The same element and shape, lying where `layout` says.
    pub fn with_layout(self, layout: Strided) -> Result<TensorType, TypeError> {
        if layout.strides.len() != self.rank() {
            return Err(TypeError::StrideCount {
                strides: layout.strides.len(),
                rank: self.rank(),
            });
        }
        let (low, high) = reach(&self.shape, &layout);
        let width = self.element.width();
        let elements = (isize::MAX as usize / width) as i128;
        for reached in [low, high] {
            if reached < 0 || reached >= elements {
                return Err(TypeError::Unaddressable { reached, width });
            }
        }
        Ok(TensorType {
            layout: Some(layout),
            ..self
        })
    }

    /// The same element and shape, dense.
    pub fn without_layout(self) -> TensorType {
        TensorType {
            layout: None,
            ..self
        }
    }

    /// What an element is.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// The size of each axis.
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// The layout in the caller's buffer; `None` is dense row-major.
    pub fn layout(&self) -> Option<&Strided> {
        self.layout.as_ref()
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        // The constructor proved that this product fits.
        self.shape.iter().map(|&size| size as usize).product()
    }

    /// The bytes of all elements, laid dense.
    pub fn byte_size(&self) -> usize {
        self.numel() * self.element.width()
    }

    /// How many elements a buffer needs so that every element of this tensor lies in it.
    pub fn required_elements(&self) -> usize {
        if self.numel() == 0 {
            return 0;
        }
        match &self.layout {
            None => self.numel(),
            // The constructor proved that the reach is in range.
            Some(layout) => reach(&self.shape, layout).1 as usize + 1,
        }
    }

    /// Whether no two elements share an address, as an output requires.
    ///
    /// The rule is the usual one: taken by growing stride, every axis steps over all that the axes
    /// before it span. Axes of size 1 and empty tensors are free.
    pub fn check_injective(&self) -> Result<(), TypeError> {
        let Some(layout) = &self.layout else {
            return Ok(());
        };
        if self.numel() == 0 {
            return Ok(());
        }
        let mut axes: SmallVec<[usize; 8]> = (0..self.rank())
            .filter(|&axis| self.shape[axis] > 1)
            .collect();
        axes.sort_by_key(|&axis| layout.strides[axis].unsigned_abs());
        let mut span = 1i128;
        for axis in axes {
            let stride = layout.strides[axis];
            let magnitude = i128::from(stride.unsigned_abs());
            if magnitude < span {
                return Err(TypeError::Overlap { axis, stride, span });
            }
            span += magnitude * i128::from(self.shape[axis] - 1);
        }
        Ok(())
    }
}

/// The lowest and the highest element that a layout addresses (its offset when there is none).
fn reach(shape: &[i64], layout: &Strided) -> (i128, i128) {
    let offset = i128::from(layout.offset);
    if shape.contains(&0) {
        return (offset, offset);
    }
    let (mut low, mut high) = (offset, offset);
    // One product fits, 32 of them may not: the sums saturate, far out of any range.
    for (&size, &stride) in shape.iter().zip(&layout.strides) {
        let distance = i128::from(size - 1) * i128::from(stride);
        if distance < 0 {
            low = low.saturating_add(distance);
        } else {
            high = high.saturating_add(distance);
        }
    }
    (low, high)
}

/// Writes `[8, 16]`.
pub(crate) fn write_list(
    f: &mut impl fmt::Write,
    items: impl IntoIterator<Item = impl fmt::Display>,
) -> fmt::Result {
    f.write_char('[')?;
    for (k, item) in items.into_iter().enumerate() {
        if k > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    f.write_char(']')
}

impl fmt::Display for Strided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("strides ")?;
        write_list(f, &self.strides)?;
        if self.offset != 0 {
            write!(f, " offset {}", self.offset)?;
        }
        Ok(())
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.element)?;
        write_list(f, &self.shape)?;
        match &self.layout {
            Some(layout) => write!(f, " {layout}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(shape: &[i64], offset: i64, strides: &[i64]) -> Result<TensorType, TypeError> {
        let layout = Strided {
            offset,
            strides: strides.into(),
        };
        TensorType::strided(ElementType::F32, shape, layout)
    }

    #[test]
    fn sizes_are_bounded_even_when_the_tensor_is_empty() {
        let dense = |shape: &[i64]| TensorType::dense(ElementType::F32, shape);
        assert!(dense(&[1 << 60]).is_ok());
        assert_eq!(dense(&[1 << 61]), Err(TypeError::TooLarge));
        assert_eq!(dense(&[0, 1 << 32, 1 << 32]), Err(TypeError::TooLarge));
        assert_eq!(
            dense(&[2, -1]),
            Err(TypeError::NegativeSize { axis: 1, size: -1 })
        );
        assert_eq!(dense(&[1; 33]), Err(TypeError::Rank { rank: 33 }));
        assert_eq!(dense(&[1; 32]).map(|ty| ty.numel()), Ok(1));
        assert_eq!(dense(&[]).map(|ty| ty.numel()), Ok(1));
    }

    #[test]
    fn addresses_stay_in_range() {
        assert_eq!(
            strided(&[4], 3, &[-1]).map(|ty| ty.required_elements()),
            Ok(4)
        );
        assert!(matches!(
            strided(&[4], 2, &[-1]),
            Err(TypeError::Unaddressable { reached: -1, .. })
        ));
        assert!(strided(&[2], 0, &[i64::MAX]).is_err());
        assert!(strided(&[2], 0, &[i64::MIN]).is_err());
        assert!(strided(&[1], 0, &[i64::MIN]).is_ok());
        assert!(strided(&[1 << 30, 1 << 30], i64::MAX, &[i64::MAX, i64::MAX]).is_err());
        assert!(strided(&[0], -1, &[1]).is_err());
        assert_eq!(
            strided(&[0], 7, &[1]).map(|ty| ty.required_elements()),
            Ok(0)
        );
    }

    #[test]
    fn overlap_is_found() {
        let injective = |shape: &[i64], strides: &[i64]| {
            strided(shape, 100, strides).and_then(|ty| ty.check_injective())
        };
        assert_eq!(injective(&[4, 5], &[5, 1]), Ok(()));
        assert_eq!(injective(&[4, 5], &[-5, 1]), Ok(()));
        assert_eq!(injective(&[5, 4], &[1, 9]), Ok(()));
        assert_eq!(injective(&[1, 5], &[0, 1]), Ok(()));
        assert_eq!(injective(&[0, 5], &[0, 0]), Ok(()));
        assert!(injective(&[4, 5], &[4, 1]).is_err());
        assert!(injective(&[4, 5], &[5, 0]).is_err());
    }
}
