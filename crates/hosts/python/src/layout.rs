//! Where the elements of an array lie, in the units that restride moves.
//!
//! An element of numpy has any number of bytes, one of restride 1, 2, 4, 8 or 16. So elements are seen
//! as runs of the widest such units that divide their size and all strides.

use restride::ElementType;
use smallvec::SmallVec;

/// Sizes or strides.
pub(crate) type Numbers = SmallVec<[i64; 8]>;

/// An array as an input or an output of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// What is moved.
    pub(crate) unit: ElementType,
    /// The sizes, with one more at the end if an element is several units.
    pub(crate) shape: Numbers,
    /// The strides in units, one for each size.
    pub(crate) strides: Numbers,
    /// Units from the lowest address to the first element.
    pub(crate) offset: i64,
    /// Bytes from the lowest address to the end of the highest element.
    pub(crate) span: usize,
}

/// The unit of so many bytes.
fn unit(bytes: i64) -> ElementType {
    match bytes {
        16 => ElementType::U128,
        8 => ElementType::U64,
        4 => ElementType::U32,
        2 => ElementType::U16,
        _ => ElementType::U8,
    }
}

/// The widest unit that divides a size, of at most so many bytes.
pub(crate) fn widest(size: i64, most: i64) -> i64 {
    match size {
        0 => most.min(16),
        _ => (1i64 << size.unsigned_abs().trailing_zeros().min(4)).min(most),
    }
}

/// The widest unit of an array: it divides the size of an element and every stride that is stepped.
pub(crate) fn unit_bytes(shape: &[isize], strides: &[isize], itemsize: isize) -> i64 {
    let stepped = shape.iter().zip(strides).filter(|(size, _)| **size > 1);
    stepped.fold(widest(itemsize as i64, 16), |most, (_, stride)| {
        widest(*stride as i64, most)
    })
}

impl Layout {
    /// Of sizes and strides in bytes, in units of so many bytes. Nothing if it reaches further than an
    /// address can.
    pub(crate) fn of(
        shape: &[isize],
        strides: &[isize],
        itemsize: isize,
        bytes: i64,
    ) -> Option<Self> {
        let itemsize = itemsize as i64;
        let (mut sizes, mut steps) = (Numbers::new(), Numbers::new());
        let (mut below, mut above) = (0i64, 0i64);
        let is_empty = shape.contains(&0);
        for (&size, &stride) in shape.iter().zip(strides) {
            sizes.push(size as i64);
            // Of an axis that is not stepped any stride is right.
            let stride = if size > 1 && !is_empty {
                stride as i64
            } else {
                0
            };
            steps.push(stride / bytes);
            if size > 1 && !is_empty {
                let reach = stride.checked_mul(size as i64 - 1)?;
                match reach < 0 {
                    true => below = below.checked_sub(reach)?,
                    false => above = above.checked_add(reach)?,
                }
            }
        }
        if itemsize != bytes {
            sizes.push(itemsize / bytes);
            steps.push(1);
        }
        let span = match is_empty {
            true => 0,
            false => below.checked_add(above)?.checked_add(itemsize)?,
        };
        Some(Self {
            unit: unit(bytes),
            shape: sizes,
            strides: steps,
            offset: below / bytes,
            span: usize::try_from(span).ok()?,
        })
    }

    /// How many bytes before its first element the lowest is.
    pub(crate) fn below(&self) -> usize {
        self.offset as usize * self.unit.width()
    }

    /// Whether no two elements share a place, as far as it is easily seen: every axis steps over all
    /// that the axes with smaller strides reach.
    pub(crate) fn is_injective(&self) -> bool {
        let mut axes: SmallVec<[(u64, i64); 8]> = (self.strides.iter().zip(&self.shape))
            .filter(|(_, size)| **size > 1)
            .map(|(stride, size)| (stride.unsigned_abs(), *size))
            .collect();
        axes.sort_unstable();
        let mut reach = 0u128;
        self.shape.contains(&0)
            || axes.iter().all(|&(stride, size)| {
                let steps_over = u128::from(stride) > reach;
                reach += u128::from(stride) * (size as u128 - 1);
                steps_over
            })
    }
}

/// Whether two pieces of memory share a byte.
pub(crate) fn overlaps(a: (usize, usize), b: (usize, usize)) -> bool {
    a.1 > 0 && b.1 > 0 && a.0 < b.0 + b.1 && b.0 < a.0 + a.1
}
