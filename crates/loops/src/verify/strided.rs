//! Sets of addresses that a nest of loops and a box run through.

use smallvec::SmallVec;

/// `low + sum(stride * i)` with every stride positive, largest first, and neighbours merged where
/// together they count through one longer run. Two statements that write the same addresses in
/// whatever order have, in all but odd cases, the same `Strided`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Strided {
    /// The lowest address.
    pub(super) low: i64,
    /// The highest address less the lowest.
    pub(super) span: i64,
    /// `(extent >= 2, stride >= 1)`.
    pub(super) dims: SmallVec<[(i64, i64); 6]>,
    /// Whether a dimension of stride 0 was dropped, so that every address comes up again.
    pub(super) repeats: bool,
}

impl Strided {
    /// From a base and `(extent >= 1, stride)` in any order. Every address must lie in
    /// `0..=i64::MAX`, which the bounds check has shown; then nothing here can overflow.
    pub(super) fn new(base: i64, dims: impl IntoIterator<Item = (i64, i64)>) -> Strided {
        let mut set = Strided {
            low: base,
            span: 0,
            dims: SmallVec::new(),
            repeats: false,
        };
        for (extent, stride) in dims {
            if extent == 1 {
                continue;
            }
            if stride == 0 {
                set.repeats = true;
                continue;
            }
            let reach = (extent - 1) * stride;
            if stride < 0 {
                set.low += reach;
            }
            set.span += reach.abs();
            let stride = stride.abs();
            let at = set
                .dims
                .iter()
                .position(|&(_, s)| s < stride)
                .unwrap_or(set.dims.len());
            set.dims.insert(at, (extent, stride));
        }
        set.merge();
        set
    }

    fn merge(&mut self) {
        let mut kept = 0;
        for at in 0..self.dims.len() {
            let (extent, stride) = self.dims[at];
            if kept > 0 {
                let outer = self.dims[kept - 1];
                if extent.checked_mul(stride) == Some(outer.1)
                    && let Some(product) = extent.checked_mul(outer.0)
                {
                    self.dims[kept - 1] = (product, stride);
                    continue;
                }
            }
            self.dims[kept] = (extent, stride);
            kept += 1;
        }
        self.dims.truncate(kept);
    }

    /// The highest address.
    pub(super) fn high(&self) -> i64 {
        self.low + self.span
    }

    /// How many steps the odometer makes: the number of addresses if none comes up twice.
    pub(super) fn count(&self) -> i128 {
        self.dims
            .iter()
            .fold(1, |n: i128, &(extent, _)| n.saturating_mul(extent.into()))
    }

    /// Whether every stride is larger than all that lies inside it spans; then no address comes
    /// up twice, and addresses rise in the order of the odometer.
    pub(super) fn is_nested(&self) -> bool {
        let mut inner = 0;
        !self.repeats
            && self.dims.iter().rev().all(|&(extent, stride)| {
                let fits = stride > inner;
                inner += (extent - 1) * stride;
                fits
            })
    }

    /// What lies between the lowest and the highest address and is not in this nested set: at
    /// most one set per dimension, disjoint from each other.
    pub(super) fn gaps(&self) -> SmallVec<[Strided; 2]> {
        let mut gaps = SmallVec::new();
        let mut inner = 0;
        for (at, &(extent, stride)) in self.dims.iter().enumerate().rev() {
            let width = stride - inner - 1;
            if width > 0 {
                let outer = self.dims[..at].iter().copied();
                let here = [(extent - 1, stride), (width, 1)];
                gaps.push(Strided::new(self.low + inner + 1, outer.chain(here)));
            }
            inner += (extent - 1) * stride;
        }
        gaps
    }

    /// Calls `f` with every step's address, until it says to stop. Returns whether it never did.
    pub(super) fn all(&self, mut f: impl FnMut(i64) -> bool) -> bool {
        let mut digits: SmallVec<[i64; 6]> = SmallVec::from_elem(0, self.dims.len());
        let mut address = self.low;
        loop {
            if !f(address) {
                return false;
            }
            let mut at = self.dims.len();
            loop {
                if at == 0 {
                    return true;
                }
                at -= 1;
                let (extent, stride) = self.dims[at];
                digits[at] += 1;
                address += stride;
                if digits[at] < extent {
                    break;
                }
                digits[at] = 0;
                address -= extent * stride;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(set: &Strided) -> Vec<i64> {
        let mut out = Vec::new();
        set.all(|a| {
            out.push(a);
            true
        });
        out.sort_unstable();
        out
    }

    #[test]
    fn one_normal_form() {
        let dense = Strided::new(5, [(24, 1)]);
        assert_eq!(Strided::new(5, [(4, 1), (2, 12), (1, 99), (3, 4)]), dense);
        assert_eq!(Strided::new(28, [(2, -12), (12, -1)]), dense);
        assert_eq!(dense.dims.as_slice(), [(24, 1)]);
        assert!(!Strided::new(0, [(2, 0)]).is_nested());
    }

    #[test]
    fn gaps_are_what_is_missing() {
        for (e0, s0, e1, s1, e2, s2) in [
            (2, 30, 3, 10, 4, 2),
            (3, 7, 2, 3, 1, 1),
            (5, 4, 4, 1, 1, 1),
            (1, 1, 1, 1, 1, 1),
        ] {
            let set = Strided::new(1, [(e0, s0), (e1, s1), (e2, s2)]);
            assert!(set.is_nested());
            let mut all = members(&set);
            for gap in set.gaps() {
                all.extend(members(&gap));
            }
            all.sort_unstable();
            assert_eq!(all, (set.low..=set.high()).collect::<Vec<_>>());
        }
    }
}
