//! Gathers, and index tensors whose values suit them, or do not.

use restride_graph::{
    Constant, ElementType, IndexRule, Op, OutOfRange, Sample, TensorType, ValueId,
};

use super::shapes::{index_element, input_layout};
use super::{Draw, IndexBound, KnownValue, Random};

/// What the values of an index tensor are held against: entry `i` has limit `limits[i % len]`.
pub(super) struct Wanted<'a> {
    pub(super) shape: &'a [i64],
    pub(super) limits: &'a [i64],
    pub(super) rule: IndexRule,
}

fn rule(random: &mut Random) -> IndexRule {
    IndexRule {
        out_of_range: random.pick(&[OutOfRange::Zero, OutOfRange::Clamp, OutOfRange::Error]),
        wrap: random.flip(),
    }
}

impl Draw {
    /// An operator that reads indices.
    pub(super) fn indexed(&mut self, x: ValueId) -> Option<Op> {
        match self.random.below(20) {
            17.. => self.placed(x),
            0..10 => self.gather(x),
            10..13 => self.gather_elements(x),
            _ => self.gather_nd(x),
        }
    }

    /// `gather` along some axis, with or without batch axes.
    pub(super) fn gather(&mut self, x: ValueId) -> Option<Op> {
        let shape = self.shape(x);
        let random = &mut self.random;
        let axis = random.below(shape.len());
        let rule = rule(random);
        let batch = if random.percent(30) {
            random.below(axis + 1)
        } else {
            0
        };
        let rest = shape.iter().product::<i64>() / shape[axis].max(1);
        let mut own = Vec::new();
        let mut room = (super::shapes::MAX_ELEMENTS / rest.max(1)).clamp(1, 12);
        let rank = random
            .pick(&[0, 1, 1, 1, 2, 2])
            .min(6usize.saturating_sub(shape.len() - 1 - batch));
        for _ in 0..rank {
            let extent = match random.below(25) {
                0 => 0,
                1..4 => 1,
                _ => random.within(1, 5),
            }
            .min(room);
            room /= extent.max(1);
            own.push(extent);
        }
        let index_shape = [&shape[..batch], &own].concat();
        let wanted = Wanted {
            shape: &index_shape,
            limits: &[shape[axis]],
            rule,
        };
        let reused = (batch == 0 && self.random.percent(25))
            .then(|| self.reusable(&wanted))
            .flatten();
        let indices = match reused {
            Some(indices) => indices,
            None => self.indices(&wanted)?,
        };
        let rank = self.shape(indices).len();
        let batch_dims = match rank {
            rank if rank > batch && self.random.percent(25) => batch as i64 - rank as i64,
            _ => batch as i64,
        };
        let axis = self.random.spelled_axis(axis, shape.len());
        Some(Op::Gather {
            x,
            indices,
            axis,
            batch_dims,
            rule,
        })
    }

    /// A region along some axes, and starts that suit it: taken or replaced.
    fn placed(&mut self, x: ValueId) -> Option<Op> {
        let shape = self.shape(x);
        let random = &mut self.random;
        let axes: Vec<usize> = match random.percent(40) {
            true => (0..1 + random.below(shape.len())).collect(),
            false => {
                let count = random.below(shape.len() + 1);
                random
                    .permutation(shape.len())
                    .into_iter()
                    .take(count)
                    .collect()
            }
        };
        let sizes: Vec<i64> = axes
            .iter()
            .map(|&axis| match random.below(12) {
                0 => 0,
                1 => shape[axis],
                _ => random.within(shape[axis].min(1), shape[axis]),
            })
            .collect();
        let limits: Vec<i64> = axes
            .iter()
            .zip(&sizes)
            .map(|(&axis, size)| shape[axis] - size + 1)
            .collect();
        let rule = IndexRule {
            wrap: false,
            ..rule(random)
        };
        let count = axes.len() as i64;
        let starts = self.indices(&Wanted {
            shape: &[count],
            limits: &limits,
            rule,
        })?;
        let spelled = |&axis: &usize| self.random.spelled_axis(axis, shape.len());
        let first = axes.iter().copied().eq(0..axes.len());
        let named = axes.clone();
        let axes = axes.iter().map(spelled).collect();
        let axes = (!first || self.random.flip()).then_some(axes);
        let small = shape.iter().product::<i64>() <= 200;
        if small && self.random.percent(40) {
            let mut region = shape.clone();
            named
                .iter()
                .zip(&sizes)
                .for_each(|(&axis, &size)| region[axis] = size);
            let element = self.graph.ty(x).element();
            let ty = TensorType::dense(element, region).ok()?;
            let like = |known: &&KnownValue| *self.graph.ty(known.value) == ty;
            let known = self.pool.iter().find(like).map(|known| known.value);
            let update = match known {
                Some(value) => value,
                None => self.input("u", ty, Sample::Labels(self.samples.len() as u32))?,
            };
            return Some(Op::DynamicUpdateSlice {
                x,
                update,
                starts,
                axes,
                out_of_range: rule.out_of_range,
            });
        }
        Some(Op::DynamicSlice {
            x,
            starts,
            sizes: sizes.into_iter().collect(),
            axes,
            out_of_range: rule.out_of_range,
        })
    }

    fn gather_elements(&mut self, x: ValueId) -> Option<Op> {
        let shape = self.shape(x);
        let random = &mut self.random;
        let axis = random.below(shape.len());
        let rule = rule(random);
        let mut index_shape = shape.clone();
        for (at, size) in index_shape.iter_mut().enumerate() {
            if at == axis {
                let least = i64::from(!random.percent(5));
                *size = random.within(least, 5);
            } else if random.percent(25) {
                *size = random.within((*size).min(1), *size);
            }
        }
        let indices = self.indices(&Wanted {
            shape: &index_shape,
            limits: &[shape[axis]],
            rule,
        })?;
        let axis = self.random.spelled_axis(axis, shape.len());
        Some(Op::GatherElements {
            x,
            indices,
            axis,
            rule,
        })
    }

    fn gather_nd(&mut self, x: ValueId) -> Option<Op> {
        let shape = self.shape(x);
        let random = &mut self.random;
        let batch = if random.percent(30) {
            random.below(shape.len())
        } else {
            0
        };
        let depth = match random.below(12) {
            0 => 0,
            _ => 1 + random.below(shape.len() - batch),
        };
        let rule = rule(random);
        let rank = random.pick(&[0, 1, 1, 2]);
        let own: Vec<i64> = (0..rank)
            .map(|_| {
                let least = i64::from(!random.percent(4));
                random.within(least, 4)
            })
            .collect();
        let index_shape = [&shape[..batch], &own, &[depth as i64]].concat();
        let limits = &shape[batch..batch + depth];
        let indices = self.indices(&Wanted {
            shape: &index_shape,
            limits,
            rule,
        })?;
        Some(Op::GatherNd {
            x,
            indices,
            batch_dims: batch as i64,
            rule,
        })
    }

    /// A value that is there already and may serve as an index.
    fn reusable(&mut self, wanted: &Wanted<'_>) -> Option<ValueId> {
        let fits = |known: &&KnownValue| {
            let ty = self.graph.ty(known.value);
            let tame = known.bound.is_some_and(|bound| {
                bound.limit <= wanted.limits[0] && (wanted.rule.wrap || !bound.negative)
            });
            let forgiving = wanted.rule.out_of_range != OutOfRange::Error;
            ty.element().is_index() && ty.rank() <= 2 && ty.numel() <= 16 && (tame || forgiving)
        };
        let all: Vec<ValueId> = self
            .pool
            .iter()
            .filter(fits)
            .map(|known| known.value)
            .collect();
        (!all.is_empty()).then(|| self.random.pick(&all))
    }

    /// A new index tensor: an input or a constant, at times a view of a bigger one.
    fn indices(&mut self, wanted: &Wanted<'_>) -> Option<ValueId> {
        let mut element = index_element(&mut self.random);
        if self.random.percent(50) {
            element = self.random.pick(&[ElementType::I32, ElementType::I64]);
        }
        if wanted.limits.iter().any(|&limit| limit > 127) && element.width() == 1 {
            element = ElementType::I16;
        }
        let single = wanted.limits.len() == 1;
        if !single || wanted.shape.is_empty() || !self.random.percent(25) {
            return self.index_leaf(wanted, element);
        }
        // The same shape by a detour, which canonicalising should see through.
        let rank = wanted.shape.len();
        match self.random.below(3) {
            0 => {
                let order = self.random.permutation(rank);
                let mut shape = vec![0; rank];
                for (axis, &from) in order.iter().enumerate() {
                    shape[from] = wanted.shape[axis];
                }
                let leaf = self.index_leaf(
                    &Wanted {
                        shape: &shape,
                        ..*wanted
                    },
                    element,
                )?;
                let perm = order.iter().map(|&axis| axis as i64).collect();
                self.push(Op::Transpose { x: leaf, perm })
            }
            1 => {
                let all: i64 = wanted.shape.iter().product();
                let leaf = self.index_leaf(
                    &Wanted {
                        shape: &[all],
                        ..*wanted
                    },
                    element,
                )?;
                let pattern = wanted.shape.iter().copied().collect();
                self.push(Op::Reshape {
                    x: leaf,
                    dialect: restride_graph::ReshapeDialect::Plain,
                    pattern,
                })
            }
            _ => {
                let mut shape = wanted.shape.to_vec();
                shape[0] = 2 * shape[0] + 1;
                let leaf = self.index_leaf(
                    &Wanted {
                        shape: &shape,
                        ..*wanted
                    },
                    element,
                )?;
                let backwards = self.random.flip();
                let one = |value: i64| restride_graph::Ints::from_slice(&[value]);
                self.push(Op::Slice {
                    x: leaf,
                    dialect: restride_graph::SliceDialect::Onnx,
                    start: one(if backwards { -1 } else { 1 }),
                    stop: one(if backwards { 1 } else { i64::MAX }),
                    step: one(if backwards { -2 } else { 2 }),
                    axes: Some(one(0)),
                })
                .filter(|&value| self.graph.ty(value).shape() == wanted.shape)
            }
        }
    }

    fn index_leaf(&mut self, wanted: &Wanted<'_>, element: ElementType) -> Option<ValueId> {
        let count: i64 = wanted.shape.iter().product();
        let (values, tame) = self.index_values(wanted, element, count as usize);
        let bound = tame.then(|| IndexBound {
            limit: wanted.limits.iter().copied().max().unwrap_or(1),
            negative: wanted.rule.wrap,
        });
        if self.random.percent(40) {
            let constant = Constant::from_integers(element, wanted.shape, &values).ok()?;
            let value = self.push(Op::Constant(constant))?;
            self.know(value, bound);
            return Some(value);
        }
        let ty = TensorType::dense(element, wanted.shape).ok()?;
        let mut ty = input_layout(&mut self.random, ty);
        if ty
            .layout()
            .is_some_and(|layout| layout.strides.contains(&0))
            && wanted.limits.len() > 1
        {
            ty = ty.without_layout();
        }
        let bits = values
            .iter()
            .map(|&value| value as u128 & element.bit_mask())
            .collect();
        let value = self.input("i", ty, Sample::Bits(bits))?;
        self.know(value, bound);
        Some(value)
    }

    /// Numbers for an index tensor, and whether all of them are in range.
    fn index_values(
        &mut self,
        wanted: &Wanted<'_>,
        element: ElementType,
        count: usize,
    ) -> (Vec<i128>, bool) {
        let random = &mut self.random;
        let IndexRule { out_of_range, wrap } = wanted.rule;
        let limit = |k: usize| {
            wanted
                .limits
                .get(k % wanted.limits.len().max(1))
                .copied()
                .unwrap_or(1)
        };
        let wrap = wrap && element.is_signed_integer();
        let mut values: Vec<i128> = match (wanted.limits, random.percent(25)) {
            // An arithmetic sequence: a slice in disguise.
            (&[limit], true) if limit > 0 && count > 0 => {
                let first = random.within(0, limit - 1);
                let room = if count > 1 {
                    (limit - 1) / (count as i64 - 1).max(1)
                } else {
                    0
                };
                let step = random.within(-room, room);
                let last = first + step * (count as i64 - 1);
                let shift = if last < 0 {
                    -last
                } else {
                    (limit - 1 - last).min(0)
                };
                let fits = (0..limit).contains(&(first + shift));
                let (first, step) = if fits {
                    (first + shift, step)
                } else {
                    (first, 0)
                };
                (0..count as i64)
                    .map(|k| i128::from(first + step * k))
                    .collect()
            }
            _ => (0..count)
                .map(|k| {
                    let limit = limit(k);
                    let low = if wrap { -limit } else { 0 };
                    i128::from(random.within(low, (limit - 1).max(low)))
                })
                .collect(),
        };
        let mut tame = wanted.limits.iter().all(|&limit| limit > 0);
        let wild = match out_of_range {
            OutOfRange::Error => random.percent(15),
            OutOfRange::Zero | OutOfRange::Clamp => random.percent(60),
        };
        if wild && count > 0 {
            tame = false;
            let most = if out_of_range == OutOfRange::Error {
                2
            } else {
                1 + count / 3
            };
            for _ in 0..random.within(1, most as i64) {
                let at = random.below(count);
                values[at] = adversarial(random, element, limit(at));
            }
        }
        (values, tame)
    }
}

/// A value at or beyond a border, as far as the element can hold it.
fn adversarial(random: &mut Random, element: ElementType, limit: i64) -> i128 {
    let limit = i128::from(limit);
    let bits = 8 * element.width() as u32;
    let (low, high) = match element.is_signed_integer() {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    let candidates = [
        limit - 1,
        limit,
        limit + 1,
        -1,
        -limit,
        -limit - 1,
        2 * limit,
        -2 * limit,
        low,
        low + 1,
        high,
        high - 1,
        i128::from(i32::MIN),
        i128::from(u32::MAX),
        1 << 32,
    ];
    let value = random.pick(&candidates);
    if (low..=high).contains(&value) {
        value
    } else {
        random.pick(&[low, high, 0])
    }
}
