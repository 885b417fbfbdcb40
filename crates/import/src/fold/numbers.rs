//! Tensors of numbers: whole ones as such, everything else as doubles.

use restride_graph::{Constant, ElementType, TensorType};

use crate::builder::MAX_VALUE;
use crate::number::{decode, encode};
use crate::spell::integers;

/// The numbers themselves.
#[derive(Clone, Debug)]
pub(super) enum List {
    /// Integers and booleans.
    Whole(Vec<i64>),
    /// Floats.
    Real(Vec<f64>),
}

/// A tensor of numbers.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    pub(super) element: ElementType,
    pub(super) shape: Vec<i64>,
    pub(super) list: List,
}

impl Numbers {
    pub(super) fn ints(element: ElementType, shape: &[i64], list: Vec<i64>) -> Numbers {
        Numbers {
            element,
            shape: shape.to_vec(),
            list: List::Whole(list),
        }
    }

    /// The numbers of a constant; nothing for elements that are no numbers.
    pub(super) fn of(value: &Constant) -> Option<Numbers> {
        let element = value.ty().element();
        let list = match integers(value) {
            Some(list) => List::Whole(list),
            None => {
                let read = |at| decode(element, value.bits(at)?);
                let list: Option<Vec<f64>> = (0..value.ty().numel()).map(read).collect();
                List::Real(list?)
            }
        };
        Some(Numbers {
            element,
            shape: value.ty().shape().to_vec(),
            list,
        })
    }

    /// The constant, each number as its element rounds it.
    pub(super) fn constant(&self) -> Result<Constant, String> {
        let ty = TensorType::dense(self.element, &self.shape).map_err(|error| error.to_string())?;
        if ty.numel() > MAX_VALUE {
            return Err(format!("a value of {} elements", ty.numel()));
        }
        let width = self.element.width();
        let mut bytes = Vec::with_capacity(ty.byte_size());
        let mut push = |number: f64, whole: Option<i64>| match encode(self.element, number, whole) {
            Some(bits) => {
                // Constants hold elements in native order; only the low bytes are the element's.
                let wide = bits.to_le_bytes();
                let mut one = wide[..width].to_vec();
                if cfg!(target_endian = "big") {
                    one.reverse();
                }
                bytes.extend_from_slice(&one);
                Ok(())
            }
            None => Err(format!("numbers as {}", self.element)),
        };
        match &self.list {
            List::Whole(list) => list.iter().try_for_each(|&n| push(n as f64, Some(n)))?,
            List::Real(list) => list.iter().try_for_each(|&n| push(n, None))?,
        }
        Constant::new(ty, bytes).map_err(|error| error.to_string())
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match &self.list {
            List::Whole(list) => list.len(),
            List::Real(list) => list.len(),
        }
    }

    /// One of them as a double.
    pub(super) fn real(&self, at: usize) -> f64 {
        match &self.list {
            List::Whole(list) => list.get(at).map_or(0.0, |&number| number as f64),
            List::Real(list) => list.get(at).copied().unwrap_or_default(),
        }
    }

    /// One of them as a whole number; a real one is cut off.
    pub(super) fn whole(&self, at: usize) -> i64 {
        match &self.list {
            List::Whole(list) => list.get(at).copied().unwrap_or_default(),
            // Saturates, and takes a NaN for 0.
            List::Real(list) => list.get(at).map_or(0, |&number| number as i64),
        }
    }
}
