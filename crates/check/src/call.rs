//! Calls of precompiled functions, by what they promise.

use restride_leaves::{Callee, Contract};
use restride_loops::{Dim, Gather, Norm};

use crate::label::Label;
use crate::machine::CodeRun;
use crate::memory::CarriedLabels;
use crate::symbol::{Interval, Symbol};
use crate::value::{Number, Pointer, Value};
use crate::violation::{Kind, Stop};

/// What is done at a point of a box, given its place in each column.
type Visit<'f, S, const N: usize> = dyn FnMut(&mut S, [i64; N]) -> Result<(), Stop> + 'f;

/// Bytes between the first and the last one touched, relative to an address.
#[derive(Clone, Copy)]
struct Hull {
    low: i128,
    high: i128,
}

impl Hull {
    fn element(width: usize) -> Self {
        Self {
            low: 0,
            high: width as i128,
        }
    }

    /// The hull of `extent` copies, `stride` elements apart.
    fn repeated(self, extent: i64, stride: i64, width: usize) -> Self {
        let last = i128::from(extent) - 1;
        let reach = last
            .saturating_mul(i128::from(stride))
            .saturating_mul(width as i128);
        Self {
            low: self.low.saturating_add(reach.min(0)),
            high: self.high.saturating_add(reach.max(0)),
        }
    }

    fn of(dims: &[(i64, i64)], width: usize) -> Self {
        dims.iter()
            .fold(Self::element(width), |hull, (extent, stride)| {
                hull.repeated(*extent, *stride, width)
            })
    }
}

/// An address whose whole hull is inside, with or without the indices in it.
fn plain(at: Pointer) -> Pointer {
    Pointer {
        sum: Symbol::KNOWN,
        ..at
    }
}

fn moved(at: Pointer, elements: i64, width: usize) -> Pointer {
    let by = elements.wrapping_mul(width as i64);
    Pointer {
        offset: at.offset.wrapping_add(by),
        ..at
    }
}

/// A box, with what it moves to in the first column and what from in the second.
pub(crate) fn columns(dims: &[Dim]) -> Vec<(i64, [i64; 2])> {
    dims.iter().map(|d| (d.extent, [d.dst, d.src])).collect()
}

impl<'a> CodeRun<'a> {
    /// Calls whatever is at an address.
    pub(crate) fn call_function(&mut self, target: Value) -> Result<(), Stop> {
        self.demand_aligned_stack()?;
        let callee = self.callee(target)?;
        self.calls += 1;
        let accesses = self.memory.accesses;
        let result = match &callee.contract {
            Contract::Move { dims, width } => {
                let (dst, src) = (self.argument_pointer(0)?, self.argument_pointer(1)?);
                self.move_box(dst, src, &columns(dims), *width)?;
                None
            }
            Contract::Weave { parts, width } => {
                let (dst, sources) = (self.argument_pointer(0)?, self.argument_pointer(1)?);
                for (number, (dims, behind)) in (0..).zip(parts) {
                    let src = self.memory.load_value(moved(sources, number, 8), 8)?;
                    let Value::Pointer(src) = src else {
                        return Err(src.unexpected("an address"));
                    };
                    let dst = moved(dst, *behind, *width);
                    self.move_box(dst, src, &columns(dims), *width)?;
                }
                None
            }
            Contract::Fill { dims, width, bits } => {
                let dst = self.argument_pointer(0)?;
                let element = bits.to_le_bytes().map(Label::literal);
                self.fill(dst, dims, *width, &element)?;
                None
            }
            Contract::Gather { gather, width } => {
                self.gather(gather, *width)?;
                None
            }
            Contract::Check { dims, norm } => {
                let first = self.argument_pointer(0)?;
                let bits = u64::from(!self.all_within(first, dims, norm)?);
                let may_be = Interval { low: 0, high: 1 };
                let symbol = self.memory.symbols.root(bits as i64, may_be);
                Some(Value::Number(Number { bits, symbol }))
            }
        };
        self.memory.accesses = accesses;
        self.after_call(result)
    }

    fn callee(&self, target: Value) -> Result<&'a Callee, Stop> {
        let known = |value: Value| match value {
            Value::Number(number) if number.is_known() => usize::try_from(number.bits).ok(),
            _ => None,
        };
        let number = known(target);
        let params = |callee: &Callee| {
            known(self.argument(match callee.contract {
                Contract::Check { .. } => 1,
                Contract::Move { .. } | Contract::Weave { .. } | Contract::Fill { .. } => 2,
                Contract::Gather { .. } => 3,
            }))
        };
        let callees = self.callees;
        callees
            .iter()
            .find(|callee| Some(callee.entry) == number && Some(callee.params) == params(callee))
            .ok_or_else(|| {
                let entry = number
                    .map_or_else(|| target.what().to_owned(), |number| format!("{number:#x}"));
                let params = "what is passed".to_owned();
                Kind::Callee { entry, params }.into()
            })
    }

    fn is_apart(dst: Pointer, written: Hull, src: Pointer, read: Hull) -> Result<(), Stop> {
        let at = |pointer: Pointer, by: i128| i128::from(pointer.offset).saturating_add(by);
        let apart = dst.region != src.region
            || at(dst, written.high) <= at(src, read.low)
            || at(src, read.high) <= at(dst, written.low);
        if apart {
            Ok(())
        } else {
            Err(Kind::Overlap.into())
        }
    }

    fn move_box(
        &mut self,
        dst: Pointer,
        src: Pointer,
        dims: &[(i64, [i64; 2])],
        width: usize,
    ) -> Result<(), Stop> {
        if dims.iter().any(|(extent, _)| *extent < 1) {
            return Ok(());
        }
        let column = |at: usize| -> Vec<(i64, i64)> {
            dims.iter().map(|(extent, s)| (*extent, s[at])).collect()
        };
        let (written, read) = (Hull::of(&column(0), width), Hull::of(&column(1), width));
        self.memory.bounds(dst, written.low, written.high)?;
        self.memory.bounds(src, read.low, read.high)?;
        Self::is_apart(dst, written, src, read)?;
        self.each(dims, [0, 0], &mut |machine, [to, from]| {
            let element = machine.memory.load(moved(plain(src), from, width), width)?;
            machine
                .memory
                .store(moved(dst, to, width), &element[..width.min(16)])
        })
    }

    fn fill(
        &mut self,
        dst: Pointer,
        dims: &[(i64, i64)],
        width: usize,
        element: &CarriedLabels,
    ) -> Result<(), Stop> {
        if dims.iter().any(|(extent, _)| *extent < 1) {
            return Ok(());
        }
        let written = Hull::of(dims, width);
        self.memory.bounds(dst, written.low, written.high)?;
        let dims: Vec<(i64, [i64; 1])> = dims.iter().map(|d| (d.0, [d.1])).collect();
        self.each(&dims, [0], &mut |machine, [to]| {
            machine
                .memory
                .store(moved(dst, to, width), &element[..width.min(16)])
        })
    }

    fn gather(&mut self, g: &Gather, width: usize) -> Result<(), Stop> {
        let [dst, src, index] = [0, 1, 2].map(|at| self.argument_pointer(at));
        let (dst, src, index) = (dst?, src?, index?);
        if g.extent < 1 || g.dims.iter().any(|dim| dim.extent < 1) {
            return Ok(());
        }
        let row = columns(&g.dims);
        let zeroed: Vec<(i64, i64)> = g.dims.iter().map(|d| (d.extent, d.dst)).collect();
        let read: Vec<(i64, i64)> = g.dims.iter().map(|d| (d.extent, d.src)).collect();
        let index_width = g.norm.ty.width().bytes();
        let written = Hull::of(&zeroed, width).repeated(g.extent, g.dst_stride, width);
        // Any row may be named.
        let read = Hull::of(&read, width).repeated(g.norm.limit, g.coeff, width);
        let indices = Hull::element(index_width).repeated(g.extent, g.index_stride, index_width);
        self.memory.bounds(dst, written.low, written.high)?;
        self.memory.bounds(src, read.low, read.high)?;
        self.memory.bounds(index, indices.low, indices.high)?;
        Self::is_apart(dst, written, src, read)?;
        Self::is_apart(dst, written, index, indices)?;
        for at in 0..g.extent {
            let from = moved(plain(index), at.wrapping_mul(g.index_stride), index_width);
            let value = self.index(from, &g.norm)?;
            let to = moved(dst, at.wrapping_mul(g.dst_stride), width);
            match g.norm.select(value) {
                Some(named) => {
                    let from = moved(plain(src), named.wrapping_mul(g.coeff), width);
                    self.move_box(to, from, &row, width)?;
                }
                None => self.fill(to, &zeroed, width, &[Label::ZERO; 16])?,
            }
        }
        Ok(())
    }

    fn all_within(
        &mut self,
        first: Pointer,
        dims: &[(i64, i64)],
        norm: &Norm,
    ) -> Result<bool, Stop> {
        let width = norm.ty.width().bytes();
        if dims.iter().any(|(extent, _)| *extent < 1) {
            return Ok(true);
        }
        let read = Hull::of(dims, width);
        self.memory.bounds(first, read.low, read.high)?;
        // A step of stride 0 looks at the same indices again.
        let apart = dims.iter().filter(|d| d.1 != 0);
        let dims: Vec<(i64, [i64; 1])> = apart.map(|d| (d.0, [d.1])).collect();
        let mut all = true;
        self.each(&dims, [0], &mut |machine, [at]| {
            let value = machine.index(moved(plain(first), at, width), norm)?;
            all &= norm.within(value).is_some();
            Ok(())
        })?;
        Ok(all)
    }

    fn index(&mut self, at: Pointer, norm: &Norm) -> Result<i128, Stop> {
        let width = norm.ty.width().bytes();
        let element = self.memory.load(at, width)?;
        let bits = self.memory.sources.number(&element[..width]);
        let bits = bits.ok_or(Kind::Value {
            what: "data".to_owned(),
            wanted: "an index",
        })?;
        Ok(norm.ty.widen(bits))
    }

    /// Every point of a box.
    fn each<const N: usize>(
        &mut self,
        dims: &[(i64, [i64; N])],
        start: [i64; N],
        f: &mut Visit<'_, Self, N>,
    ) -> Result<(), Stop> {
        let Some(((extent, strides), inner)) = dims.split_first() else {
            self.count(1)?;
            return f(self, start);
        };
        for step in 0..*extent {
            let by = |column: usize| step.wrapping_mul(strides[column]);
            let at = std::array::from_fn(|column| start[column].wrapping_add(by(column)));
            self.each(inner, at, f)?;
        }
        Ok(())
    }
}
