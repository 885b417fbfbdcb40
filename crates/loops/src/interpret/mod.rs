//! The checking interpreter: the meaning of a kernel, and the judge of the verifier.
//!
//! It runs any kernel, verified or not, element by element and byte-exact. It knows no forms. Each
//! address is checked against its buffer, each load against what has been written, each store
//! against what has been written before, and at the end each image must be complete. Nothing a
//! kernel contains makes it panic, run for ever or take unbounded memory.
//!
//! Phases are run in chunks, in any order, to show that the order does not matter.

use smallvec::SmallVec;

use crate::Random;
use crate::chunk_range;
use crate::ir::{Addr, Gather, Kernel, Move, Norm, Place, Stmt, Var};

mod fault;
mod memory;
mod odometer;

pub use fault::Fault;
use memory::{ElementBytes, KernelMemory};
use odometer::Odometer;

/// The most elements and iterations of one run.
const MAX_STEPS: u64 = 1 << 31;
/// The deepest nest of loops.
const MAX_DEPTH: usize = 256;

/// The order in which the chunks of each phase are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// First to last.
    Forward,
    /// Last to first.
    Backward,
    /// Some order that depends on the seed and the phase.
    Shuffled(u64),
}

/// Runs a kernel as one chunk. Input n is `inputs[n]`; the outputs come in the order of their
/// numbers, whole buffers with 0 outside of the image.
pub fn interpret<B: AsRef<[u8]>>(kernel: &Kernel, inputs: &[B]) -> Result<Vec<Vec<u8>>, Fault> {
    interpret_chunked(kernel, inputs, 1, Order::Forward)
}

/// Runs a kernel with each phase in so many chunks (at least 1), one after the other.
pub fn interpret_chunked<B: AsRef<[u8]>>(
    kernel: &Kernel,
    inputs: &[B],
    chunks: u32,
    order: Order,
) -> Result<Vec<Vec<u8>>, Fault> {
    let memory = KernelMemory::new(kernel, inputs)?;
    let mut run = Interpretation {
        kernel,
        memory,
        scope: SmallVec::new(),
        steps: 0,
    };
    for (number, phase) in kernel.phases.iter().enumerate() {
        for chunk in order.of(chunks.max(1), number) {
            run.chunk(phase, chunk, chunks.max(1))?;
        }
    }
    run.memory.finish(kernel)
}

impl Order {
    fn of(self, chunks: u32, phase: usize) -> Vec<u32> {
        let mut all: Vec<u32> = (0..chunks).collect();
        match self {
            Order::Forward => {}
            Order::Backward => all.reverse(),
            Order::Shuffled(seed) => Random::new(seed ^ phase as u64).shuffle(&mut all),
        }
        all
    }
}

/// A variable in scope.
#[derive(Clone, Copy)]
struct Binding {
    var: Var,
    /// Nothing for an index out of range.
    value: Option<i64>,
    /// The trip count of a loop; 1 for an index.
    extent: i64,
}

struct Interpretation<'k> {
    kernel: &'k Kernel,
    memory: KernelMemory<'k>,
    scope: SmallVec<[Binding; 8]>,
    steps: u64,
}

impl Interpretation<'_> {
    fn chunk(&mut self, phase: &[Stmt], chunk: u32, chunks: u32) -> Result<(), Fault> {
        self.scope.clear();
        for (at, stmt) in phase.iter().enumerate() {
            match stmt {
                Stmt::For {
                    var,
                    extent,
                    parallel: true,
                    body,
                } => {
                    // Other chunks have not run what stands before the loop.
                    let hidden = std::mem::take(&mut self.scope);
                    let range = chunk_range(*extent, chunk, chunks);
                    self.repeat(*var, *extent, range, body, 1)?;
                    self.scope = hidden;
                }
                Stmt::For { .. }
                | Stmt::Check { .. }
                | Stmt::Index { .. }
                | Stmt::Move(_)
                | Stmt::Gather(_)
                | Stmt::Fill { .. }
                    if chunk == 0 =>
                {
                    self.one_of(phase, at, 0)?;
                }
                Stmt::For { .. }
                | Stmt::Check { .. }
                | Stmt::Index { .. }
                | Stmt::Move(_)
                | Stmt::Gather(_)
                | Stmt::Fill { .. } => {}
            }
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        var: Var,
        extent: i64,
        range: std::ops::Range<i64>,
        body: &[Stmt],
        depth: usize,
    ) -> Result<(), Fault> {
        if extent < 1 {
            return Err(Fault::Extent { extent });
        }
        if depth > MAX_DEPTH {
            return Err(Fault::TooDeep { limit: MAX_DEPTH });
        }
        let outside = self.scope.len();
        for value in range {
            self.step()?;
            self.scope.push(Binding {
                var,
                value: Some(value),
                extent,
            });
            for at in 0..body.len() {
                self.one_of(body, at, depth)?;
            }
            self.scope.truncate(outside);
        }
        Ok(())
    }

    /// A statement of a block. Where a check fails, those that are one with it are looked at too.
    fn one_of(&mut self, block: &[Stmt], at: usize, depth: usize) -> Result<(), Fault> {
        let mut done = self.stmt(&block[at], depth);
        let (Err(Fault::CheckFailed { code, .. }), Stmt::Check { .. }) = (&done, &block[at]) else {
            return done;
        };
        let own = |stmt: &&Stmt| matches!(stmt, Stmt::Check { code: other, .. } if other == code);
        let before = block[..at].iter().rev().take_while(own).count();
        let after = block[at + 1..].iter().take_while(own).count();
        let members = (before + 1 + after) as u64;
        if let Err(Fault::CheckFailed { position, .. }) = &mut done {
            *position = position.wrapping_mul(members).wrapping_add(before as u64);
        }
        // Those before it have held.
        for member in 1..=after {
            let next = self.stmt(&block[at + member], depth);
            let Err(fault) = next else { continue };
            let Fault::CheckFailed {
                code,
                position,
                value,
            } = fault
            else {
                return Err(fault);
            };
            let position = position
                .wrapping_mul(members)
                .wrapping_add((before + member) as u64);
            if matches!(done, Err(Fault::CheckFailed { position: least, .. }) if position < least) {
                done = Err(Fault::CheckFailed {
                    code,
                    position,
                    value,
                });
            }
        }
        done
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) -> Result<(), Fault> {
        self.step()?;
        match stmt {
            Stmt::For {
                var, extent, body, ..
            } => self.repeat(*var, *extent, 0..*extent, body, depth + 1),
            Stmt::Check {
                index,
                dims,
                norm,
                code,
            } => self.check(index, dims, norm, *code),
            Stmt::Index { var, place, norm } => {
                let value = match self.address(&place.addr)? {
                    Some(address) => self.load_index(place, address, norm)?,
                    None => None,
                };
                self.scope.push(Binding {
                    var: *var,
                    value,
                    extent: 1,
                });
                Ok(())
            }
            Stmt::Move(m) => self.move_box(m),
            Stmt::Gather(g) => self.gather(g),
            Stmt::Fill { dst, dims, bits } => {
                let mut odometer = Odometer::new([self.destination(dst)?]);
                for &(extent, stride) in dims {
                    odometer.push(extent, [stride])?;
                }
                let element = bits.to_le_bytes();
                loop {
                    self.step()?;
                    self.memory.write(dst.buffer, odometer.at()[0], &element)?;
                    if !odometer.step() {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn move_box(&mut self, m: &Move) -> Result<(), Fault> {
        self.same_width(&m.dst, &m.src)?;
        let dst = self.destination(&m.dst)?;
        let src = self.address(&m.src.addr)?;
        let mut odometer = Odometer::new([dst, src.unwrap_or(0)]);
        for dim in &m.dims {
            odometer.push(dim.extent, [dim.dst, dim.src])?;
        }
        self.copy(&mut odometer, &m.dst, &m.src, src.is_some())
    }

    fn gather(&mut self, g: &Gather) -> Result<(), Fault> {
        self.same_width(&g.dst, &g.src)?;
        let dst = self.destination(&g.dst)?;
        let src = self.address(&g.src.addr)?;
        let index = self.address(&g.index.addr)?;
        let mut rows = Odometer::new([index.unwrap_or(0), dst]);
        rows.push(g.extent, [g.index_stride, g.dst_stride])?;
        loop {
            let [index_at, dst_at] = rows.at();
            let row = match index {
                Some(_) => self.load_index(&g.index, index_at, &g.norm)?,
                None => None,
            };
            let from = row
                .zip(src)
                .map(|(row, src)| src.saturating_add(i128::from(row) * i128::from(g.coeff)));
            let mut odometer = Odometer::new([dst_at, from.unwrap_or(0)]);
            for dim in &g.dims {
                odometer.push(dim.extent, [dim.dst, dim.src])?;
            }
            self.copy(&mut odometer, &g.dst, &g.src, from.is_some())?;
            if !rows.step() {
                return Ok(());
            }
        }
    }

    fn copy(
        &mut self,
        odometer: &mut Odometer<2>,
        dst: &Place,
        src: &Place,
        in_range: bool,
    ) -> Result<(), Fault> {
        loop {
            self.step()?;
            let [to, from] = odometer.at();
            let element: ElementBytes = if in_range {
                self.memory.read(src.buffer, from)?
            } else {
                [0; 16]
            };
            self.memory.write(dst.buffer, to, &element)?;
            if !odometer.step() {
                return Ok(());
            }
        }
    }

    fn check(
        &mut self,
        index: &Place,
        dims: &[(i64, i64)],
        norm: &Norm,
        code: u32,
    ) -> Result<(), Fault> {
        if self.memory.output_written {
            return Err(Fault::CheckAfterWrite { code });
        }
        let Some(address) = self.address(&index.addr)? else {
            return Err(Fault::LostDestination {
                buffer: index.buffer,
            });
        };
        let iteration = self.scope.iter().fold(0u64, |n, b| {
            n.wrapping_mul(b.extent as u64)
                .wrapping_add(b.value.unwrap_or(0) as u64)
        });
        let mut weight = dims.iter().fold(1i64, |n, d| n.wrapping_mul(d.0));
        let first = iteration.wrapping_mul(weight as u64);
        let mut odometer = Odometer::new([address, 0]);
        for &(extent, stride) in dims {
            // A step of stride 0 looks at the same indices again; the first of them counts.
            if extent < 1 {
                return Err(Fault::Extent { extent });
            }
            weight = weight.wrapping_div(extent);
            if stride != 0 {
                odometer.push(extent, [stride, weight])?;
            }
        }
        loop {
            self.step()?;
            let [at, position] = odometer.at();
            let value = self.load_integer(index, at, norm)?;
            if norm.within(value).is_none() {
                return Err(Fault::CheckFailed {
                    code,
                    position: first.wrapping_add(position as u64),
                    value,
                });
            }
            if !odometer.step() {
                return Ok(());
            }
        }
    }

    fn load_index(
        &mut self,
        place: &Place,
        address: i128,
        norm: &Norm,
    ) -> Result<Option<i64>, Fault> {
        if norm.limit < 1 {
            return Err(Fault::Limit { limit: norm.limit });
        }
        Ok(norm.select(self.load_integer(place, address, norm)?))
    }

    fn load_integer(&self, place: &Place, address: i128, norm: &Norm) -> Result<i128, Fault> {
        let (buffer, ty) = (place.buffer, norm.ty);
        let declared = self
            .kernel
            .buffer(buffer)
            .ok_or(Fault::UnknownBuffer { buffer })?;
        let width = declared.width;
        if width != ty.width() {
            return Err(Fault::IndexWidth { buffer, width, ty });
        }
        let element = self.memory.read(buffer, address)?;
        Ok(ty.widen(memory::low_bits(&element, width)))
    }

    fn same_width(&self, dst: &Place, src: &Place) -> Result<(), Fault> {
        let width = |place: &Place| {
            let buffer = place.buffer;
            self.kernel
                .buffer(buffer)
                .map(|b| b.width)
                .ok_or(Fault::UnknownBuffer { buffer })
        };
        let (dst_width, src_width) = (width(dst)?, width(src)?);
        if dst_width != src_width {
            let (dst, src) = (dst.buffer, src.buffer);
            return Err(Fault::Widths {
                dst,
                dst_width,
                src,
                src_width,
            });
        }
        Ok(())
    }

    fn destination(&self, dst: &Place) -> Result<i128, Fault> {
        self.address(&dst.addr)?
            .ok_or(Fault::LostDestination { buffer: dst.buffer })
    }

    /// An address; nothing when it depends on an index out of range.
    fn address(&self, addr: &Addr) -> Result<Option<i128>, Fault> {
        let mut sum = Some(i128::from(addr.base));
        for &(var, coeff) in &addr.terms {
            let bound = self.scope.iter().rev().find(|b| b.var == var);
            let value = bound.ok_or(Fault::UnknownVar { var })?.value;
            sum = sum
                .zip(value)
                .map(|(sum, v)| sum.saturating_add(i128::from(v) * i128::from(coeff)));
        }
        Ok(sum)
    }

    fn step(&mut self) -> Result<(), Fault> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(Fault::TooLong { limit: MAX_STEPS });
        }
        Ok(())
    }
}
