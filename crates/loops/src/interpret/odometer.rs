//! Counting through a box, with an address per column.

use super::Fault;

struct Dim<const N: usize> {
    extent: i64,
    digit: i64,
    strides: [i64; N],
}

/// Positions of a box in row-major order.
pub(super) struct Odometer<const N: usize> {
    at: [i128; N],
    dims: Vec<Dim<N>>,
}

impl<const N: usize> Odometer<N> {
    /// A box of one element.
    pub(super) fn new(at: [i128; N]) -> Odometer<N> {
        Odometer {
            at,
            dims: Vec::new(),
        }
    }

    /// Adds an innermost dimension; the box must be at its start.
    pub(super) fn push(&mut self, extent: i64, strides: [i64; N]) -> Result<(), Fault> {
        if extent < 1 {
            return Err(Fault::Extent { extent });
        }
        self.dims.push(Dim {
            extent,
            digit: 0,
            strides,
        });
        Ok(())
    }

    /// The addresses here.
    pub(super) fn at(&self) -> [i128; N] {
        self.at
    }

    /// Goes on to the next position; `false`, and at the start again, if there is none.
    pub(super) fn step(&mut self) -> bool {
        for dim in self.dims.iter_mut().rev() {
            dim.digit += 1;
            let wrapped = dim.digit == dim.extent;
            let by = if wrapped {
                1 - i128::from(dim.extent)
            } else {
                1
            };
            for (at, &stride) in self.at.iter_mut().zip(&dim.strides) {
                *at = at.saturating_add(by * i128::from(stride));
            }
            if !wrapped {
                return true;
            }
            dim.digit = 0;
        }
        false
    }
}
