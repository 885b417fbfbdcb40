//! A tensor as the oracle sees it: a dense type and bytes, read and written by index.

use crate::{ElementType, TensorType, TypeError};

use super::walk::each_index;

/// A dense tensor in row-major order and native byte order.
///
/// ```
/// use restride_graph::{ElementType, TensorType, oracle::Tensor};
///
/// let ty = TensorType::dense(ElementType::U8, [2, 2])?;
/// let tensor = Tensor::new(ty, vec![1, 2, 3, 4])?;
/// assert_eq!(tensor.bits(&[1, 0]), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    ty: TensorType,
    bytes: Vec<u8>,
}

/// Why a tensor cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The type itself cannot be.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// The wrong number of bytes.
    #[error("{got} bytes for a tensor of {expected}")]
    Length {
        /// What was given.
        got: usize,
        /// What the type needs.
        expected: usize,
    },
}

impl Tensor {
    /// A tensor of exactly these bytes; a layout in `ty` is dropped.
    pub fn new(ty: TensorType, bytes: Vec<u8>) -> Result<Tensor, TensorError> {
        let expected = ty.byte_size();
        if bytes.len() != expected {
            return Err(TensorError::Length {
                got: bytes.len(),
                expected,
            });
        }
        Ok(Tensor {
            ty: ty.without_layout(),
            bytes,
        })
    }

    /// A tensor whose elements are given one by one, as bits, in row-major order.
    pub fn from_bits(
        ty: TensorType,
        bits: impl IntoIterator<Item = u128>,
    ) -> Result<Tensor, TensorError> {
        let width = ty.element().width();
        let mut bytes = Vec::new();
        for element in bits {
            push_bits(&mut bytes, width, element);
        }
        Tensor::new(ty, bytes)
    }

    /// The tensor that lies in `buffer` as `ty`'s layout says.
    pub fn read(ty: &TensorType, buffer: &[u8]) -> Result<Tensor, TensorError> {
        check_buffer(ty, buffer.len())?;
        let width = ty.element().width();
        let mut bytes = Vec::new();
        for index in each_index(ty.shape()) {
            let at = address(ty, &index) * width;
            bytes.extend_from_slice(&buffer[at..at + width]);
        }
        Tensor::new(ty.clone(), bytes)
    }

    /// Writes the elements into `buffer` where `ty`'s layout says; other bytes stay.
    pub fn write_into(&self, ty: &TensorType, buffer: &mut [u8]) -> Result<(), TensorError> {
        check_buffer(ty, buffer.len())?;
        let same = ty.shape() == self.shape() && ty.element().width() == self.width();
        if !same {
            return Err(TensorError::Length {
                got: self.bytes.len(),
                expected: ty.byte_size(),
            });
        }
        let width = self.width();
        for index in each_index(ty.shape()) {
            let at = address(ty, &index) * width;
            buffer[at..at + width].copy_from_slice(self.element_bytes(&index));
        }
        Ok(())
    }

    /// The type: always dense.
    pub fn ty(&self) -> &TensorType {
        &self.ty
    }

    /// What an element is.
    pub fn element(&self) -> ElementType {
        self.ty.element()
    }

    /// The size of each axis.
    pub fn shape(&self) -> &[i64] {
        self.ty.shape()
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.ty.rank()
    }

    /// The elements, row-major, native byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The elements, row-major, native byte order.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Bytes per element.
    pub(super) fn width(&self) -> usize {
        self.element().width()
    }

    /// The bits of the element at `index`, which must be one of this tensor's.
    pub fn bits(&self, index: &[i64]) -> u128 {
        let mut bits = [0; 16];
        let bytes = self.element_bytes(index);
        if cfg!(target_endian = "little") {
            bits[..bytes.len()].copy_from_slice(bytes);
        } else {
            bits[16 - bytes.len()..].copy_from_slice(bytes);
        }
        u128::from_ne_bytes(bits)
    }

    /// The number at `index`, for integer elements; a `u128` beyond `i128` reads as the largest.
    pub(super) fn integer(&self, index: &[i64]) -> i128 {
        let bits = self.bits(index);
        let unused = 128 - 8 * self.width() as u32;
        if self.element().is_signed_integer() {
            ((bits << unused) as i128) >> unused
        } else {
            i128::try_from(bits).unwrap_or(i128::MAX)
        }
    }

    /// The bytes of one element.
    pub(super) fn element_bytes(&self, index: &[i64]) -> &[u8] {
        let at = address(&self.ty, index) * self.width();
        &self.bytes[at..at + self.width()]
    }
}

/// Where the element at `index` lies, counted in elements.
fn address(ty: &TensorType, index: &[i64]) -> usize {
    let at = match ty.layout() {
        // Horner's rule; the product of the sizes fits, so every prefix does.
        None => (index.iter().zip(ty.shape()))
            .fold(0, |at, (&i, &size)| at * i128::from(size) + i128::from(i)),
        Some(layout) => (index.iter().zip(&layout.strides))
            .fold(i128::from(layout.offset), |at, (&i, &stride)| {
                at + i128::from(i) * i128::from(stride)
            }),
    };
    at as usize
}

fn check_buffer(ty: &TensorType, got: usize) -> Result<(), TensorError> {
    let expected = ty.required_elements() * ty.element().width();
    if got < expected {
        return Err(TensorError::Length { got, expected });
    }
    Ok(())
}

/// Appends the low `width` bytes of `bits` in native order.
pub(super) fn push_bits(bytes: &mut Vec<u8>, width: usize, bits: u128) {
    if cfg!(target_endian = "little") {
        bytes.extend_from_slice(&bits.to_ne_bytes()[..width]);
    } else {
        bytes.extend_from_slice(&bits.to_ne_bytes()[16 - width..]);
    }
}
