//! Counting through a box, with an address per column.

use super::Fault;

struct Wheel<const N: usize> {
    extent: i64,
    digit: i64,
    /// What one step adds.
    forth: [i128; N],
    /// What going back to the start adds.
    back: [i128; N],
}

/// Positions of a box in row-major order.
pub(super) struct Odometer<const N: usize> {
    at: [i128; N],
    dims: Vec<Wheel<N>>,
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
        let forth = strides.map(i128::from);
        let back = forth.map(|stride| (1 - i128::from(extent)) * stride);
        self.dims.push(Wheel {
            extent,
            digit: 0,
            forth,
            back,
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
            let by = if wrapped { &dim.back } else { &dim.forth };
            for (at, by) in self.at.iter_mut().zip(by) {
                *at = at.saturating_add(*by);
            }
            if !wrapped {
                return true;
            }
            dim.digit = 0;
        }
        false
    }
}
