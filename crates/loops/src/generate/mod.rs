//! Random kernels that are valid by construction, for tests of whatever runs kernels.
//!
//! A kernel is grown from its outputs: an image is cut into disjoint pieces, each piece becomes a
//! nest around a move, a gather or a fill, and source addresses are made up around it. Inputs,
//! constants and index tensors get the lengths that turned out to be needed. Scratch comes as
//! whole stages, as stages inside one iteration, and as copied index tensors. Every form that
//! suits a box comes up.
//!
//! This module knows nothing of the verifier, so that the two can be tested against each other.

use crate::Random;
use crate::ir::{
    Addr, Buffer, BufferId, Dim, Form, Image, IndexType, Kernel, Move, Norm, Place, Role, Stmt,
    Var, Width,
};
use smallvec::{SmallVec, smallvec};

mod data;
mod nest;
mod shape;

pub use data::inputs;

/// The kernel that belongs to a seed.
pub fn kernel(seed: u64) -> Kernel {
    let mut g = Generator::new(seed);
    let width = g.random.pick(&Width::ALL);
    if g.random.one_in(3) {
        g.scratch_stage(width);
    }
    for number in 0..if g.random.one_in(5) { 2 } else { 1 } {
        g.output(number, width);
    }
    g.finish(seed)
}

/// What a statement may read, by how it got its length.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growth {
    /// It becomes as long as it needs to be.
    Grows,
    /// It has a length.
    Fixed,
}

struct Generator {
    random: Random,
    buffers: Vec<Buffer>,
    growth: Vec<Growth>,
    inputs: u32,
    vars: u32,
    checks: Vec<Stmt>,
    first: Vec<Stmt>,
    last: Vec<Stmt>,
    /// A scratch buffer that the first phase fills.
    stage: Option<BufferId>,
    /// Data and index buffers to be used again.
    shared: Vec<(BufferId, Option<IndexType>)>,
    /// Index buffers that a copy in the first phase fills: from, to.
    copied: Vec<(BufferId, BufferId)>,
    index_limits: Vec<(BufferId, Norm)>,
}

impl Generator {
    fn new(seed: u64) -> Generator {
        Generator {
            random: Random::new(seed),
            buffers: Vec::new(),
            growth: Vec::new(),
            inputs: 0,
            vars: 0,
            checks: Vec::new(),
            first: Vec::new(),
            last: Vec::new(),
            stage: None,
            shared: Vec::new(),
            copied: Vec::new(),
            index_limits: Vec::new(),
        }
    }

    fn add(&mut self, role: Role, width: Width, len: i64, growth: Growth) -> BufferId {
        self.buffers.push(Buffer { role, width, len });
        self.growth.push(growth);
        BufferId(self.buffers.len() as u32 - 1)
    }

    fn add_readable(&mut self, width: Width) -> BufferId {
        let role = if self.random.one_in(6) {
            Role::Const([].into())
        } else {
            self.inputs += 1;
            Role::In(self.inputs - 1)
        };
        self.add(role, width, 0, Growth::Grows)
    }

    fn var(&mut self) -> Var {
        self.vars += 1;
        Var(self.vars - 1)
    }

    fn grow(&mut self, id: BufferId, len: i64) {
        let at = id.0 as usize;
        if self.growth[at] == Growth::Grows {
            self.buffers[at].len = self.buffers[at].len.max(len);
        }
    }

    /// A buffer to take data from.
    fn data_source(&mut self, width: Width, stage: bool) -> BufferId {
        if stage && let Some(id) = self.stage.filter(|_| !self.random.one_in(3)) {
            return id;
        }
        let known = self
            .shared
            .iter()
            .find(|&&(id, ty)| ty.is_none() && self.buffers[id.0 as usize].width == width);
        match known.copied() {
            Some((id, _)) if !self.random.one_in(3) => id,
            Some(_) | None => {
                let id = self.add_readable(width);
                self.shared.push((id, None));
                id
            }
        }
    }

    /// A buffer to take indices from. Those copied to scratch are only ready for the last phase.
    fn index_source(&mut self, norm: &Norm, last: bool) -> BufferId {
        let known = self.shared.iter().find(|s| s.1 == Some(norm.ty)).copied();
        if let Some((id, _)) = known
            && self.random.one_in(3)
        {
            return id;
        }
        let id = self.add_readable(norm.ty.width());
        self.index_limits.push((id, *norm));
        if last && self.random.one_in(5) {
            let copy = self.add(Role::Scratch, norm.ty.width(), 0, Growth::Grows);
            self.copied.push((id, copy));
            return copy;
        }
        self.shared.push((id, Some(norm.ty)));
        id
    }

    fn scratch_stage(&mut self, width: Width) {
        let shape = shape::random(&mut self.random, width);
        let (len, dims) = shape::dense(&shape);
        let id = self.add(Role::Scratch, width, len, Growth::Fixed);
        let stmts = self.target(id, 0, &dims, false);
        self.first.extend(stmts);
        self.stage = Some(id);
    }

    fn output(&mut self, number: u32, width: Width) {
        let shape = shape::random(&mut self.random, width);
        let (len, image) = shape::image(&mut self.random, &shape);
        let dims: Vec<(i64, i64)> = image.dims.to_vec();
        let offset = image.offset;
        let id = self.add(Role::Out(number, image), width, len, Growth::Fixed);
        let last = !self.random.one_in(5);
        let stmts = self.target(id, offset, &dims, last);
        if last {
            &mut self.last
        } else {
            &mut self.first
        }
        .extend(stmts);
    }

    /// Index copies and checks, whose lengths are known only now, then all phases.
    fn finish(mut self, seed: u64) -> Kernel {
        let copied = std::mem::take(&mut self.copied);
        for &(from, to) in &copied {
            let len = self.buffers[to.0 as usize].len;
            self.grow(from, len);
            self.first.push(Stmt::Move(Move {
                dst: Place::at(to, 0),
                src: Place::at(from, 0),
                dims: smallvec::smallvec![Dim {
                    extent: len,
                    dst: 1,
                    src: 1
                }],
                form: Form::Rows,
            }));
        }
        for (id, norm) in self.index_limits.clone() {
            let len = self.buffers[id.0 as usize].len;
            if len > 0 && self.random.one_in(4) {
                let code = self.checks.len() as u32;
                let check = self.check(id, len, norm, code);
                self.checks.push(check);
            }
        }
        for at in 0..self.buffers.len() {
            let slack = if self.random.one_in(3) {
                self.random.within(0, 5)
            } else {
                0
            };
            let buffer = &mut self.buffers[at];
            if self.growth[at] == Growth::Grows && buffer.role != Role::Scratch {
                buffer.len += slack;
            }
            if let Role::Const(_) = buffer.role {
                let norm = self.index_limits.iter().find(|l| l.0.0 as usize == at);
                let bytes = data::bytes(&mut self.random, buffer, norm.map(|l| &l.1), true);
                self.buffers[at].role = Role::Const(bytes.into());
            }
        }
        let computed = self.computed_checks(&copied);
        let mut phases: SmallVec<[Vec<Stmt>; 3]> =
            smallvec![self.checks, self.first, computed, self.last];
        phases.retain(|p| !p.is_empty());
        // A single phase may hold the checks too, if nothing of it is shared out.
        let parallel = |s: &Stmt| matches!(s, Stmt::For { parallel: true, .. });
        if phases.len() == 2 && self.random.one_in(2) && !phases.concat().iter().any(parallel) {
            let both = phases.concat();
            if phases[0].iter().all(|s| matches!(s, Stmt::Check { .. })) {
                phases = smallvec![both];
            }
        }
        // Some checks that stand together are one.
        for phase in &mut phases {
            for at in 1..phase.len() {
                if let [Stmt::Check { code: before, .. }, Stmt::Check { code, .. }] =
                    &mut phase[at - 1..=at]
                    && self.random.one_in(2)
                {
                    *code = *before;
                }
            }
        }
        Kernel {
            name: format!("seed_{seed}").into(),
            buffers: self.buffers,
            phases,
        }
    }

    /// Checks of indices in scratch, which may follow writes, but not those of outputs.
    fn computed_checks(&mut self, copied: &[(BufferId, BufferId)]) -> Vec<Stmt> {
        let mut targets = Vec::new();
        let mut stack: Vec<&Stmt> = self.first.iter().collect();
        while let Some(stmt) = stack.pop() {
            stack.extend(stmt.body());
            targets.extend(stmt.dst().map(|dst| dst.buffer.0 as usize));
        }
        let mut out = Vec::new();
        if targets
            .iter()
            .any(|&t| self.buffers[t].role.output().is_some())
        {
            return out;
        }
        for &(from, to) in copied {
            let norm = self.index_limits.iter().find(|l| l.0 == from).map(|l| l.1);
            if let Some(norm) = norm
                && self.random.one_in(2)
            {
                let (len, code) = (self.buffers[to.0 as usize].len, 100 + out.len() as u32);
                let check = self.check(to, len, norm, code);
                out.push(check);
            }
        }
        out
    }

    fn check(&mut self, id: BufferId, len: i64, norm: Norm, code: u32) -> Stmt {
        let rows = self.random.within(1, 4);
        if len % rows != 0 || rows == 1 {
            let dims = smallvec::smallvec![(len, 1)];
            return Stmt::Check {
                index: Place::at(id, 0),
                dims,
                norm,
                code,
            };
        }
        let var = self.var();
        let addr = Addr {
            base: 0,
            terms: smallvec::smallvec![(var, len / rows)],
        };
        let dims = smallvec::smallvec![(len / rows, 1)];
        let check = Stmt::Check {
            index: Place { buffer: id, addr },
            dims,
            norm,
            code,
        };
        Stmt::For {
            var,
            extent: rows,
            parallel: false,
            body: vec![check],
        }
    }
}

/// The image of a buffer by its dimensions.
fn image_of(offset: i64, dims: &[(i64, i64)]) -> Image {
    Image {
        offset,
        dims: dims.iter().copied().collect(),
    }
}
