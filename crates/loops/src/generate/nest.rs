//! From a part of a target to statements that write it.

use smallvec::SmallVec;

use super::shape::{AddressBox, cut};
use super::{Generator, Growth};
use crate::ir::{Addr, BufferId, Dim, Form, Gather, IndexType, Move, Norm, Place, Role, Stmt, Var};

/// The longest that a source may become.
const MAX_SOURCE: i64 = 40_000;

/// Where a nest stands: the target, the loops around and what they add to its address.
#[derive(Clone)]
struct Site {
    target: BufferId,
    base: i64,
    /// `(variable, extent, stride in the target)`.
    loops: Vec<(Var, i64, i64)>,
    /// Whether it is in the last phase.
    last: bool,
}

/// One dimension of what is written, with its stride in a source.
#[derive(Clone, Copy)]
struct Axis {
    extent: i64,
    dst: i64,
    src: i64,
}

impl Generator {
    /// Statements that write all of a set of addresses.
    pub(super) fn target(
        &mut self,
        target: BufferId,
        base: i64,
        dims: &[(i64, i64)],
        last: bool,
    ) -> Vec<Stmt> {
        let whole = AddressBox {
            base,
            dims: dims.to_vec(),
        };
        let parts = cut(&mut self.random, whole);
        let shared = parts[0].dims.first().copied();
        let alike = parts.iter().all(|p| p.dims.first().copied() == shared);
        if let Some((extent, stride)) = shared
            && alike
            && self.random.one_in(2)
        {
            // One loop around all parts.
            let var = self.var();
            let loops = vec![(var, extent, stride)];
            let mut body = Vec::new();
            for part in parts {
                let site = Site {
                    target,
                    base: part.base,
                    loops: loops.clone(),
                    last,
                };
                body.extend(self.nest(&site, part.dims[1..].to_vec()));
            }
            return vec![Stmt::For {
                var,
                extent,
                parallel: self.random.one_in(2),
                body,
            }];
        }
        let mut out = Vec::new();
        for part in parts {
            let site = Site {
                target,
                base: part.base,
                loops: Vec::new(),
                last,
            };
            out.extend(self.nest(&site, part.dims));
        }
        out
    }

    fn nest(&mut self, site: &Site, mut dims: Vec<(i64, i64)>) -> Vec<Stmt> {
        if !self.random.one_in(8) {
            dims.retain(|d| d.0 != 1);
        }
        self.tile(&mut dims);
        if self.random.one_in(3) {
            self.random.shuffle(&mut dims);
        }
        let most = dims.len().min(3 - site.loops.len().min(2));
        let count = self.random.below(most + 1).min(self.random.below(most + 1));
        let own: Vec<(i64, i64)> = dims.split_off(count);
        let mut site = site.clone();
        let outside = site.loops.len();
        for (extent, stride) in dims {
            let var = self.var();
            site.loops.push((var, extent, stride));
        }
        let mut body = self.leaf(&site, own);
        for (depth, &(var, extent, _)) in site.loops.iter().enumerate().skip(outside).rev() {
            let parallel = depth == 0 && self.random.one_in(2);
            body = vec![Stmt::For {
                var,
                extent,
                parallel,
                body,
            }];
        }
        body
    }

    fn tile(&mut self, dims: &mut Vec<(i64, i64)>) {
        if dims.is_empty() || !self.random.one_in(3) {
            return;
        }
        let at = self.random.below(dims.len());
        let (extent, stride) = dims[at];
        if let Some(by) = [2, 3, 4, 8, 16]
            .into_iter()
            .rev()
            .find(|by| extent % by == 0)
        {
            dims[at] = (by, stride);
            dims.insert(0, (extent / by, by * stride));
        }
    }

    fn leaf(&mut self, site: &Site, own: Vec<(i64, i64)>) -> Vec<Stmt> {
        match self.random.below(8) {
            0 => vec![self.fill(site, own)],
            1 | 2 => self.indexed(site, own),
            3 | 4 if !own.is_empty() => vec![self.gather(site, own)],
            5 if !site.loops.is_empty() && self.fits_scratch(site, &own) => {
                self.through_scratch(site, own)
            }
            _ => {
                let (source, loops, mut own) = self.source(site, own, &[]);
                vec![self.move_box(site, source, &loops, &mut own)]
            }
        }
    }

    fn dst(&self, site: &Site) -> Place {
        let mut terms = site.loops.iter().map(|&(var, _, stride)| (var, stride));
        let addr = terms.try_fold(Addr::constant(site.base), |a, (v, c)| a.plus(v, c));
        Place {
            buffer: site.target,
            addr: addr.unwrap_or_default(),
        }
    }

    fn fill(&mut self, site: &Site, own: Vec<(i64, i64)>) -> Stmt {
        let bits = u128::from(self.random.bits()) << 64 | u128::from(self.random.bits());
        let bits = if self.random.one_in(3) { 0 } else { bits };
        let bits = bits & self.buffers[site.target.0 as usize].width.mask();
        Stmt::Fill {
            dst: self.dst(site),
            dims: own.into_iter().collect(),
            bits,
        }
    }

    /// Picks a source and strides in it for every loop and every dimension of the box, with
    /// `extra` dimensions `(extent, stride)` on top. Returns the place without loops.
    fn source(
        &mut self,
        site: &Site,
        own: Vec<(i64, i64)>,
        extra: &[(i64, i64)],
    ) -> (Place, Vec<i64>, Vec<Axis>) {
        let width = self.buffers[site.target.0 as usize].width;
        let id = self.data_source(width, site.last);
        let loops = site.loops.iter().map(|&(_, extent, dst)| (extent, dst));
        let axis = |(extent, dst)| Axis {
            extent,
            dst,
            src: 0,
        };
        let mut axes: Vec<Axis> = loops.chain(own).map(axis).collect();
        self.assign(&mut axes);
        let mut spans: Vec<(i64, i64)> = axes.iter().map(|a| (a.extent, a.src)).collect();
        spans.extend(extra);
        if self.growth[id.0 as usize] == Growth::Fixed {
            let len = self.buffers[id.0 as usize].len;
            shrink(&mut spans, len);
            for (axis, span) in axes.iter_mut().zip(&spans) {
                axis.src = span.1;
            }
            if spans[axes.len()..] != *extra {
                // The extra dimension does not fit: take a source that grows.
                let stage = self.stage.take();
                let found = self.source(site, axes_back(&axes, site), extra);
                self.stage = stage;
                return found;
            }
        }
        let base = self.place_base(id, &spans);
        let box_axes = axes.split_off(site.loops.len());
        (
            Place::at(id, base),
            axes.iter().map(|a| a.src).collect(),
            box_axes,
        )
    }

    /// A base that keeps all addresses in the buffer, which grows if it may.
    fn place_base(&mut self, id: BufferId, spans: &[(i64, i64)]) -> i64 {
        let reach = |s: &(i64, i64)| (s.0 - 1) * s.1;
        let low: i64 = spans.iter().map(|s| reach(s).min(0)).sum();
        let high: i64 = spans.iter().map(|s| reach(s).max(0)).sum();
        let room = match self.growth[id.0 as usize] {
            Growth::Grows => 3,
            Growth::Fixed => self.buffers[id.0 as usize].len - 1 - (high - low),
        };
        let base = self.random.within(0, room.max(0)) - low;
        self.grow(id, base + high + 1);
        base
    }

    fn assign(&mut self, axes: &mut [Axis]) {
        let mut order: Vec<usize> = (0..axes.len()).collect();
        order.sort_by_key(|&a| axes[a].dst.abs());
        match self.random.below(5) {
            0 => self.random.shuffle(&mut order),
            1 | 2 if order.len() > 1 => order.swap(0, 1),
            _ => {}
        }
        let mut stride = self.random.pick(&[1, 1, 1, 1, 2, 3, 4, 7]);
        for at in order {
            let axis = &mut axes[at];
            if stride * axis.extent > MAX_SOURCE || self.random.one_in(10) {
                axis.src = 0;
                continue;
            }
            axis.src = if self.random.one_in(6) {
                -stride
            } else {
                stride
            };
            let gap = if self.random.one_in(4) {
                self.random.within(0, 4)
            } else {
                0
            };
            stride = stride * axis.extent + gap;
        }
    }

    fn move_box(&mut self, site: &Site, mut src: Place, loops: &[i64], own: &mut [Axis]) -> Stmt {
        for (&(var, ..), &stride) in site.loops.iter().zip(loops) {
            src.addr = src.addr.plus(var, stride).unwrap_or_default();
        }
        self.order_box(own);
        let dim = |a: &Axis| Dim {
            extent: a.extent,
            dst: a.dst,
            src: a.src,
        };
        let dims: SmallVec<[Dim; 4]> = own.iter().map(dim).collect();
        let fitting: Vec<Form> = Form::ALL.into_iter().filter(|f| f.fits(&dims)).collect();
        let plain = fitting.len() == 1 || self.random.one_in(4);
        let form = if plain {
            Form::Elements
        } else {
            self.random.pick(&fitting[1..])
        };
        Stmt::Move(Move {
            dst: self.dst(site),
            src,
            dims,
            form,
        })
    }

    fn order_box(&mut self, own: &mut [Axis]) {
        match self.random.below(4) {
            0 => self.random.shuffle(own),
            1 => own.sort_by_key(|a| (a.dst == 1 || a.src == 1, a.dst == 1)),
            2 => own.sort_by_key(|a| (a.dst == 1 || a.src == 1, a.src == 1)),
            _ => own.sort_by_key(|a| std::cmp::Reverse(a.dst.abs())),
        }
    }

    fn norm(&mut self) -> Norm {
        Norm {
            ty: self.random.pick(&IndexType::ALL),
            limit: self.random.within(1, 12),
            wrap: self.random.one_in(2),
            clamp: self.random.one_in(2),
        }
    }

    /// A loaded index, perhaps one that an earlier one selects, and a move by it.
    fn indexed(&mut self, site: &Site, own: Vec<(i64, i64)>) -> Vec<Stmt> {
        let norm = self.norm();
        let coeff = self.random.within(-40, 40);
        let mut out = Vec::new();
        let mut terms: Vec<(Var, i64)> = Vec::new();
        let mut spans: Vec<(i64, i64)> = Vec::new();
        if self.random.one_in(4) {
            let (var, norm) = (self.var(), self.norm());
            let place = self.index_place(site, &norm, &[], &[]);
            out.push(Stmt::Index { var, place, norm });
            let stride = self.random.within(1, 3);
            terms.push((var, stride));
            spans.push((norm.limit, stride));
        }
        let var = self.var();
        let place = self.index_place(site, &norm, &terms, &spans);
        out.push(Stmt::Index { var, place, norm });
        let (mut src, loops, mut own) = self.source(site, own, &[(norm.limit, coeff)]);
        src.addr = src.addr.plus(var, coeff).unwrap_or_default();
        out.push(self.move_box(site, src, &loops, &mut own));
        out
    }

    /// A place to load an index from, moving with the loops and some more terms.
    fn index_place(
        &mut self,
        site: &Site,
        norm: &Norm,
        terms: &[(Var, i64)],
        spans: &[(i64, i64)],
    ) -> Place {
        let id = self.index_source(norm, site.last);
        let mut all: Vec<(Var, i64, i64)> = Vec::new();
        let mut stride = 1;
        for &(var, extent, _) in site.loops.iter().rev() {
            if stride * extent < 5_000 && !self.random.one_in(4) {
                all.push((var, extent, stride));
                stride *= extent;
            }
        }
        let own = all.iter().map(|a| (a.1, a.2));
        let spans: Vec<(i64, i64)> = own.chain(spans.iter().copied()).collect();
        let base = self.place_base(id, &spans);
        let terms = all
            .iter()
            .map(|a| (a.0, a.2))
            .chain(terms.iter().copied())
            .collect();
        Place {
            buffer: id,
            addr: Addr { base, terms },
        }
    }

    fn gather(&mut self, site: &Site, mut own: Vec<(i64, i64)>) -> Stmt {
        let norm = self.norm();
        let at = self.random.below(own.len());
        let (extent, dst_stride) = own.remove(at);
        let index_stride = self.random.pick(&[1, 1, 1, 2, -1, 0]);
        let index = self.index_place(site, &norm, &[], &[(extent, index_stride)]);
        let row = own.iter().map(|d| d.0).product::<i64>().min(2_000);
        let coeff = if self.random.one_in(4) {
            self.random.within(-5, 5)
        } else {
            row
        };
        let (mut src, loops, mut own) = self.source(site, own, &[(norm.limit, coeff)]);
        for (&(var, ..), &stride) in site.loops.iter().zip(&loops) {
            src.addr = src.addr.plus(var, stride).unwrap_or_default();
        }
        self.order_box(&mut own);
        let dim = |a: &Axis| Dim {
            extent: a.extent,
            dst: a.dst,
            src: a.src,
        };
        Stmt::Gather(Box::new(Gather {
            extent,
            index,
            index_stride,
            norm,
            dst: self.dst(site),
            dst_stride,
            src,
            coeff,
            dims: own.iter().map(dim).collect(),
        }))
    }

    fn fits_scratch(&self, site: &Site, own: &[(i64, i64)]) -> bool {
        let loops = site.loops.iter().map(|l| l.1);
        loops.chain(own.iter().map(|d| d.0)).product::<i64>() <= 5_000
    }

    /// The part goes through scratch of its own within each iteration.
    fn through_scratch(&mut self, site: &Site, own: Vec<(i64, i64)>) -> Vec<Stmt> {
        let width = self.buffers[site.target.0 as usize].width;
        let mut staged = Vec::new();
        let mut stride = 1;
        for &(extent, _) in own.iter().rev() {
            staged.insert(0, (extent, stride));
            stride *= extent;
        }
        let mut inner = site.clone();
        inner.base = 0;
        for at in (0..inner.loops.len()).rev() {
            inner.loops[at].2 = stride;
            stride *= inner.loops[at].1;
        }
        inner.target = self.add(Role::Scratch, width, stride, Growth::Fixed);
        let (source, loops, mut axes) = self.source(&inner, staged.clone(), &[]);
        let first = self.move_box(&inner, source, &loops, &mut axes);
        let mut axes: Vec<Axis> = own
            .iter()
            .zip(&staged)
            .map(|(d, s)| Axis {
                extent: d.0,
                dst: d.1,
                src: s.1,
            })
            .collect();
        let loops: Vec<i64> = inner.loops.iter().map(|l| l.2).collect();
        let second = self.move_box(site, Place::at(inner.target, 0), &loops, &mut axes);
        vec![first, second]
    }
}

/// The box again, without its source strides.
fn axes_back(axes: &[Axis], site: &Site) -> Vec<(i64, i64)> {
    axes[site.loops.len()..]
        .iter()
        .map(|a| (a.extent, a.dst))
        .collect()
}

/// Sets the longest-reaching strides to 0 until the whole fits.
fn shrink(spans: &mut [(i64, i64)], len: i64) {
    let reach = |s: &(i64, i64)| ((s.0 - 1) * s.1).abs();
    while spans.iter().map(reach).sum::<i64>() >= len {
        let Some(longest) = spans.iter_mut().max_by_key(|s| reach(s)) else {
            return;
        };
        longest.1 = 0;
    }
}
