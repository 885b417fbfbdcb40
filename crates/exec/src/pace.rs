//! Which kernels gain nothing from machine code.

use restride_loops::{Kernel, Place, Stmt};

/// A run costs a few dozen nanoseconds more than a call of machine code. Moving so many bytes takes
/// a hundred times as long.
const PER_RUN: u64 = 128 << 10;

/// The same for one statement: the call of a leaf, the sums of its addresses.
const PER_STATEMENT: u64 = 32 << 10;

/// Bytes of either that stand for a nanosecond.
const PER_NANOSECOND: u64 = PER_RUN / 25;

/// Nanoseconds that making machine code takes, to begin with and for each statement.
const MAKING: (u64, u64) = (20_000, 15_000);

/// How often a kernel has to run until machine code has made up for the time that it takes to make;
/// nothing if that never gains anything.
#[must_use]
pub fn code_pays_after(kernel: &Kernel) -> Option<u32> {
    let work = Work::of(kernel);
    if work.statements == 0 || work.keeps_pace() {
        return None;
    }
    let gain = PER_RUN.saturating_add(work.overhead) / PER_NANOSECOND;
    let making = MAKING
        .1
        .saturating_mul(work.statements)
        .saturating_add(MAKING.0);
    Some(u32::try_from(making.div_ceil(gain.max(1))).unwrap_or(u32::MAX))
}

/// How many micro-operations of a move take a nanosecond, about.
const PER_MOVE: usize = 20;

/// Nanoseconds that each instruction of a move takes to make.
const INSTRUCTION: u64 = 1000;

/// Code that has not paid within so many runs is not worth having.
const WORTH: u64 = 64;

/// Moves that code of their own makes faster in a kernel that gains nothing else by it.
#[derive(Clone, Copy)]
pub(crate) struct Loops {
    /// Nanoseconds of a run that they save,
    saved: u64,
    /// and those that it takes to make them.
    making: u64,
}

impl Loops {
    /// None so far; nothing if there will be code anyway.
    pub(crate) fn of(kernel: &Kernel) -> Option<Loops> {
        let work = Work::of(kernel);
        let making = MAKING.1.saturating_mul(work.statements);
        work.keeps_pace().then_some(Loops {
            saved: 0,
            making: making.saturating_add(MAKING.0),
        })
    }

    /// Counts what is saved in each of some runs, and the instructions that do that.
    pub(crate) fn save(&mut self, (saved, instructions): (usize, usize), times: u64) {
        let saved = (saved / PER_MOVE) as u64;
        self.saved = self.saved.saturating_add(saved.saturating_mul(times));
        let making = INSTRUCTION.saturating_mul(instructions as u64);
        self.making = self.making.saturating_add(making);
    }

    /// After how many runs they have paid, unless that is many.
    pub(crate) fn pay_after(&self) -> Option<u32> {
        let runs = self.making.div_ceil(self.saved.max(1));
        u32::try_from(runs).ok().filter(|_| runs <= WORTH)
    }
}

/// Whether running a kernel generically takes as long as running its machine code, to a hundredth
/// or so: where nearly all of the time is spent in leaves, which are the same for both.
#[must_use]
pub fn keeps_pace(kernel: &Kernel) -> bool {
    Work::of(kernel).keeps_pace()
}

/// Whether one run of these statements is so long that nothing is gained by making the loop around
/// them part of a leaf, which then would choose the order of its iterations itself.
pub(crate) fn is_long(kernel: &Kernel, body: &[Stmt]) -> bool {
    let mut work = Work::default();
    work.add(kernel, body, 1);
    work.bytes >= work.overhead
}

/// What a run does.
#[derive(Default)]
struct Work {
    /// Bytes that leaves write.
    bytes: u64,
    /// What the statements cost on top, as the bytes that a hundred times as much time moves.
    overhead: u64,
    /// How many statements there are.
    statements: u64,
}

impl Work {
    fn of(kernel: &Kernel) -> Work {
        let mut work = Work::default();
        for phase in &kernel.phases {
            work.add(kernel, phase, 1);
        }
        work
    }

    fn keeps_pace(&self) -> bool {
        self.bytes >= PER_RUN.saturating_add(self.overhead)
    }

    fn add(&mut self, kernel: &Kernel, stmts: &[Stmt], times: u64) {
        for stmt in stmts {
            self.statements += 1;
            match stmt {
                Stmt::For { extent, body, .. } => {
                    self.add(kernel, body, times.saturating_mul(count([*extent])));
                }
                Stmt::Index { .. } => self.pay(times, PER_STATEMENT),
                Stmt::Check { dims, .. } => {
                    let rows = dims
                        .split_last()
                        .map_or(1, |(_, outer)| count(outer.iter().map(|dim| dim.0)));
                    self.pay(times.saturating_mul(rows), PER_STATEMENT);
                }
                Stmt::Move(m) => {
                    self.leaf(
                        kernel,
                        &m.dst,
                        count(m.dims.iter().map(|dim| dim.extent)),
                        times,
                    );
                }
                Stmt::Gather(g) => {
                    let row = count(g.dims.iter().map(|dim| dim.extent));
                    self.leaf(kernel, &g.dst, row.saturating_mul(count([g.extent])), times);
                }
                Stmt::Fill { dst, dims, .. } => {
                    self.leaf(kernel, dst, count(dims.iter().map(|dim| dim.0)), times);
                }
            }
        }
    }

    fn leaf(&mut self, kernel: &Kernel, dst: &Place, elements: u64, times: u64) {
        let width = kernel
            .buffer(dst.buffer)
            .map_or(1, |buffer| buffer.width.bytes() as u64);
        let bytes = elements.saturating_mul(width);
        self.bytes = self.bytes.saturating_add(bytes.saturating_mul(times));
        self.pay(times, PER_STATEMENT);
    }

    fn pay(&mut self, times: u64, each: u64) {
        self.overhead = self.overhead.saturating_add(times.saturating_mul(each));
    }
}

/// The product of extents, each at least 1.
fn count(extents: impl IntoIterator<Item = i64>) -> u64 {
    extents
        .into_iter()
        .fold(1u64, |n, extent| n.saturating_mul(extent.unsigned_abs()))
}
