//! Dense constants: index tables, mostly.

use std::fmt;
use std::sync::Arc;

use crate::{ElementType, TensorType};

/// A dense tensor known when the graph is built, in row-major order and native byte order.
///
/// ```
/// # extern crate restride_graph as restride;
/// use restride::{Constant, ElementType};
///
/// let table = Constant::from_integers(ElementType::I64, [3], &[2, 0, -1])?;
/// assert_eq!(table.integer(2), Some(-1));
/// # Ok::<(), restride_graph::ConstantError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Constant {
    ty: TensorType,
    bytes: Arc<[u8]>,
}

/// Why a constant cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstantError {
    /// The type itself cannot be.
    #[error(transparent)]
    Type(#[from] crate::TypeError),
    /// The wrong amount of data.
    #[error("{got} {unit} for a tensor of {expected}")]
    Length {
        /// What was given.
        got: usize,
        /// What the type needs.
        expected: usize,
        /// What is counted: bytes or elements.
        unit: &'static str,
    },
    /// A layout, which a constant cannot have.
    #[error("a constant is dense; it has no layout")]
    Layout,
    /// A value that the element cannot hold.
    #[error("element {position} is {value}, which {element} cannot hold")]
    Value {
        /// Flat position.
        position: usize,
        /// The value given.
        value: i128,
        /// The element.
        element: ElementType,
    },
}

impl Constant {
    /// A constant of these bytes, which must be exactly the dense tensor; those of bools are 0 or 1.
    pub fn new(ty: TensorType, bytes: impl Into<Arc<[u8]>>) -> Result<Constant, ConstantError> {
        let bytes = bytes.into();
        if ty.layout().is_some() {
            return Err(ConstantError::Layout);
        }
        if bytes.len() != ty.byte_size() {
            return Err(ConstantError::Length {
                got: bytes.len(),
                expected: ty.byte_size(),
                unit: "bytes",
            });
        }
        let wrong = |byte: &u8| u128::from(*byte) & !ElementType::Bool.bit_mask() != 0;
        if ty.element() == ElementType::Bool
            && let Some(position) = bytes.iter().position(wrong)
        {
            return Err(ConstantError::Value {
                position,
                value: bytes[position].into(),
                element: ElementType::Bool,
            });
        }
        Ok(Constant { ty, bytes })
    }

    /// A constant of these numbers. For elements that are no integers the numbers are bit patterns.
    pub fn from_integers(
        element: ElementType,
        shape: impl AsRef<[i64]>,
        values: &[i128],
    ) -> Result<Constant, ConstantError> {
        let ty = TensorType::dense(element, shape)?;
        if values.len() != ty.numel() {
            return Err(ConstantError::Length {
                got: values.len(),
                expected: ty.numel(),
                unit: "elements",
            });
        }
        let mut bytes = Vec::with_capacity(ty.byte_size());
        for (position, &value) in values.iter().enumerate() {
            let bits = encode(element, value).ok_or(ConstantError::Value {
                position,
                value,
                element,
            })?;
            push_bits(&mut bytes, element.width(), bits);
        }
        Constant::new(ty, bytes)
    }

    /// The type: always dense.
    pub fn ty(&self) -> &TensorType {
        &self.ty
    }

    /// The elements, row-major, native byte order.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// The bits of one element.
    pub fn bits(&self, position: usize) -> Option<u128> {
        let width = self.ty.element().width();
        let start = position.checked_mul(width)?;
        let bytes = self.bytes.get(start..start.checked_add(width)?)?;
        Some(bits_from(bytes))
    }

    /// One element as a number, when elements are integers.
    pub fn integer(&self, position: usize) -> Option<i128> {
        let element = self.ty.element();
        let bits = self.bits(position)?;
        if element.is_signed_integer() {
            let unused = 128 - 8 * element.width() as u32;
            Some(((bits << unused) as i128) >> unused)
        } else if element.is_unsigned_integer() {
            // A u128 beyond i128 has no number here; its bits are still there.
            i128::try_from(bits).ok()
        } else {
            None
        }
    }
}

/// The bits of a number as an element, if it can hold it.
pub(crate) fn encode(element: ElementType, value: i128) -> Option<u128> {
    let bits = 8 * element.width() as u32;
    let fits = if element.is_signed_integer() {
        bits == 128 || (-(1i128 << (bits - 1))..1i128 << (bits - 1)).contains(&value)
    } else {
        value >= 0 && value as u128 & !element.bit_mask() == 0
    };
    fits.then_some(value as u128 & element.bit_mask())
}

pub(crate) fn push_bits(bytes: &mut Vec<u8>, width: usize, bits: u128) {
    match width {
        1 => bytes.push(bits as u8),
        2 => bytes.extend_from_slice(&(bits as u16).to_ne_bytes()),
        4 => bytes.extend_from_slice(&(bits as u32).to_ne_bytes()),
        8 => bytes.extend_from_slice(&(bits as u64).to_ne_bytes()),
        _ => bytes.extend_from_slice(&bits.to_ne_bytes()),
    }
}

fn bits_from(bytes: &[u8]) -> u128 {
    let mut wide = [0u8; 16];
    if cfg!(target_endian = "little") {
        wide[..bytes.len()].copy_from_slice(bytes);
    } else {
        wide[16 - bytes.len()..].copy_from_slice(bytes);
    }
    u128::from_ne_bytes(wide)
}

impl fmt::Debug for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Constant({}, {} bytes)", self.ty, self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let values = [-128i128, -1, 0, 127];
        let table = Constant::from_integers(ElementType::I8, [4], &values).unwrap();
        let back: Vec<_> = (0..5).map(|k| table.integer(k)).collect();
        assert_eq!(back, [Some(-128), Some(-1), Some(0), Some(127), None]);
        assert!(Constant::from_integers(ElementType::I8, [1], &[128]).is_err());
        assert!(Constant::from_integers(ElementType::U8, [1], &[-1]).is_err());
        assert!(Constant::from_integers(ElementType::Bool, [1], &[2]).is_err());
        let bools = |bytes: [u8; 2]| {
            let ty = TensorType::dense(ElementType::Bool, [2]).unwrap();
            Constant::new(ty, bytes.to_vec()).map(|_| ())
        };
        assert_eq!(bools([1, 0]), Ok(()));
        assert_eq!(
            bools([1, 255]).unwrap_err().to_string(),
            "element 1 is 255, which bool cannot hold"
        );
        assert!(Constant::from_integers(ElementType::I8, [2], &[1]).is_err());
        assert!(Constant::from_integers(ElementType::I128, [1], &[i128::MIN]).is_ok());
        assert!(Constant::from_integers(ElementType::U128, [1], &[i128::MAX]).is_ok());
    }
}
