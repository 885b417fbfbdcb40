//! View steps: the operations that only rename coordinates.

use crate::Break;
use crate::math::{add, mul, product};
use smallvec::SmallVec;

/// Sizes of axes, outermost first.
pub type Sizes = SmallVec<[i64; 6]>;

/// Axis numbers, or how many axes stand in each group.
pub type Axes = SmallVec<[usize; 6]>;

/// `[start:len:step]` on one axis: coordinates `start, start + step, ...`, `len` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first coordinate taken.
    pub start: i64,
    /// How many are taken.
    pub len: i64,
    /// Distance from one to the next; not 0.
    pub step: i64,
}

impl Span {
    /// All of an axis.
    pub fn whole(extent: i64) -> Self {
        Span {
            start: 0,
            len: extent,
            step: 1,
        }
    }

    /// Whether it takes all of an axis in order.
    pub fn is_whole(&self, extent: i64) -> bool {
        self.len == extent && (extent <= 1 || (self.start == 0 && self.step == 1))
    }

    fn fits(&self, extent: i64) -> bool {
        if *self == Span::whole(extent) {
            return extent >= 0;
        }
        let last = || add(self.start, mul(self.len - 1, self.step).ok()?).ok();
        let inside = |x: i64| (0..extent).contains(&x);
        self.step != 0
            && self.len >= 0
            && (self.len == 0 || (inside(self.start) && last().is_some_and(inside)))
    }
}

/// One view step. Its operand's shape is known from the context.
#[derive(Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// One span per axis.
    Slice(SmallVec<[Span; 6]>),
    /// Axis `k` of the result is axis `perm[k]` of the operand.
    Permute(Axes),
    /// `groups[k]` neighbouring axes become axis `k`; no groups at all drop unit axes to rank 0.
    Collapse {
        /// How many operand axes each result axis takes.
        groups: Axes,
    },
    /// Axis `k` becomes `groups[k]` axes; with no groups a rank-0 value gets unit axes.
    Expand {
        /// How many result axes each operand axis gives.
        groups: Axes,
        /// The result's sizes.
        sizes: Sizes,
    },
    /// Axes of extent 1 are repeated up to these sizes.
    Broadcast {
        /// The result's sizes.
        sizes: Sizes,
    },
    /// All runs of neighbours along an axis: it becomes two, the place of a run's first element,
    /// and the element within the run.
    Windows {
        /// The axis.
        axis: usize,
        /// How many elements a run has, from 1 to the extent of the axis.
        size: i64,
    },
}

/// By hand, for the derived one would copy element by element.
impl Clone for View {
    fn clone(&self) -> Self {
        match self {
            View::Slice(spans) => View::Slice(SmallVec::from_slice(spans)),
            View::Permute(perm) => View::Permute(Axes::from_slice(perm)),
            View::Collapse { groups } => View::Collapse {
                groups: Axes::from_slice(groups),
            },
            View::Expand { groups, sizes } => View::Expand {
                groups: Axes::from_slice(groups),
                sizes: Sizes::from_slice(sizes),
            },
            View::Broadcast { sizes } => View::Broadcast {
                sizes: Sizes::from_slice(sizes),
            },
            &View::Windows { axis, size } => View::Windows { axis, size },
        }
    }
}

impl View {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            View::Slice(_) => "slice",
            View::Permute(_) => "permute",
            View::Collapse { .. } => "collapse",
            View::Expand { .. } => "expand",
            View::Broadcast { .. } => "broadcast",
            View::Windows { .. } => "windows",
        }
    }

    /// The shape it gives, or why it does not apply to this one.
    pub fn shape(&self, shape: &[i64]) -> Result<Sizes, Break> {
        let rank = |given: usize| match given == shape.len() {
            true => Ok(()),
            false => Err(Break::Rank {
                given,
                expected: shape.len(),
            }),
        };
        match self {
            View::Slice(spans) => {
                rank(spans.len())?;
                for (axis, (span, &extent)) in spans.iter().zip(shape).enumerate() {
                    if !span.fits(extent) {
                        let Span { start, len, step } = *span;
                        return Err(Break::Span {
                            axis,
                            extent,
                            start,
                            len,
                            step,
                        });
                    }
                }
                let mut out = Sizes::from_slice(shape);
                out.iter_mut().zip(spans).for_each(|(n, s)| *n = s.len);
                Ok(out)
            }
            View::Permute(perm) => {
                rank(perm.len())?;
                let mut seen: SmallVec<[bool; 16]> = SmallVec::from_elem(false, shape.len());
                for &axis in perm {
                    seen.get_mut(axis).into_iter().for_each(|s| *s = true);
                }
                if let Some(axis) = seen.iter().position(|s| !s) {
                    return Err(Break::Permutation { axis });
                }
                let mut out = Sizes::from_slice(shape);
                out.iter_mut().zip(perm).for_each(|(n, &a)| *n = shape[a]);
                Ok(out)
            }
            View::Collapse { groups } => {
                if groups.is_empty() {
                    return no_groups(shape).map(|()| Sizes::new());
                }
                rank(cover(groups, shape.len())?)?;
                let mut rest = shape;
                let mut out = Sizes::new();
                for &count in groups {
                    let (group, after) = rest.split_at(count);
                    out.push(product(group)?);
                    rest = after;
                }
                Ok(out)
            }
            View::Expand { groups, sizes } => {
                if let Some(axis) = sizes.iter().position(|&n| n < 0) {
                    return Err(Break::Extent {
                        axis,
                        extent: sizes[axis],
                    });
                }
                if groups.is_empty() {
                    rank(0)?;
                    return no_groups(sizes).map(|()| Sizes::from_slice(sizes));
                }
                rank(groups.len())?;
                cover(groups, sizes.len())?;
                let mut rest = sizes.as_slice();
                for (axis, (&count, &expected)) in groups.iter().zip(shape).enumerate() {
                    let (group, after) = rest.split_at(count);
                    let given = product(group)?;
                    if given != expected {
                        return Err(Break::Sizes {
                            axis,
                            given,
                            expected,
                        });
                    }
                    rest = after;
                }
                Ok(Sizes::from_slice(sizes))
            }
            View::Broadcast { sizes } => {
                rank(sizes.len())?;
                for (axis, (&to, &extent)) in sizes.iter().zip(shape).enumerate() {
                    if to < 0 {
                        return Err(Break::Extent { axis, extent: to });
                    }
                    if to != extent && extent != 1 {
                        return Err(Break::NotUnit { axis, extent });
                    }
                }
                product(sizes)?;
                Ok(Sizes::from_slice(sizes))
            }
            &View::Windows { axis, size } => {
                let Some(&extent) = shape.get(axis) else {
                    return Err(Break::Rank {
                        given: axis,
                        expected: shape.len(),
                    });
                };
                if size < 1 || size > extent {
                    return Err(Break::Window { axis, extent, size });
                }
                let mut out = Sizes::from_slice(shape);
                out[axis] = size;
                out.insert(axis, extent - size + 1);
                product(&out)?;
                Ok(out)
            }
        }
    }
}

/// Every group has an axis, and together they have `axes`.
fn cover(groups: &[usize], axes: usize) -> Result<usize, Break> {
    let given = groups.iter().fold(0usize, |n, &g| n.saturating_add(g));
    match given == axes && groups.iter().all(|&g| g > 0) {
        true => Ok(given),
        false => Err(Break::Rank {
            given,
            expected: axes,
        }),
    }
}

/// Only unit axes come from nothing, or go to nothing.
fn no_groups(sizes: &[i64]) -> Result<(), Break> {
    match sizes.iter().position(|&n| n != 1) {
        None => Ok(()),
        Some(axis) => Err(Break::Sizes {
            axis,
            given: sizes[axis],
            expected: 1,
        }),
    }
}
