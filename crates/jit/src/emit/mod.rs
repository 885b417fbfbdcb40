//! A phase of a kernel to intermediate code.
//!
//! The code is emitted in the order in which it is to run: nothing after it reorders, hoists or
//! merges. Only integer instructions and 128-bit vectors of bytes are used, every access is
//! `notrap` and nothing more, and addresses are full 64-bit sums whose constants are in bytes.

mod code;
mod copy;
mod fill;
mod gather;
mod halves;
mod index;
mod pointers;
mod tiles;
mod vectors;

use std::borrow::Borrow;

use cranelift_codegen::ir::{InstBuilder, StackSlot, Value, types};
use restride_leaves::Weave;
use restride_loops::{Buffer, BufferId, Form, Kernel, Move, Place, Role, ScratchLayout, Stmt, Var};
use restride_moves::{BoxError, ByteBox, Inline, STAGE, Shuffles};
use smallvec::SmallVec;

use crate::attach::Attachments;
use crate::cpu::Machine;
use crate::error::JitError;
use code::{Code, Trips};
use pointers::{Key, Pointers};

pub(crate) use code::signature;

/// The bytes of as many addresses as one leaf takes.
const SOURCES: u32 = 8 * Weave::SOURCES as u32;

/// A byte address: a pointer and a displacement known now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    ptr: Value,
    offset: i64,
}

impl At {
    fn plus(self, bytes: i64) -> Self {
        Self {
            ptr: self.ptr,
            offset: self.offset.wrapping_add(bytes),
        }
    }
}

/// What a function returns when a check fails.
pub(crate) enum Statuses<'a> {
    /// The number of the check in program order, from 1; the last one given out.
    Numbers(&'a mut i64),
    /// One more than the code that the kernel gives it.
    Codes,
}

impl Statuses<'_> {
    fn next(&mut self, code: u32) -> i64 {
        match self {
            Self::Numbers(last) => {
                **last += 1;
                **last
            }
            Self::Codes => i64::from(code) + 1,
        }
    }
}

/// Emits the phases of one kernel.
pub(crate) struct Emitter<'a, 'f> {
    code: Code<'f>,
    kernel: &'a Kernel,
    attachments: &'a mut Attachments,
    pointers: Pointers,
    /// For index variables that may be out of range: whether they are in it.
    in_range: SmallVec<[(Var, Value); 4]>,
    /// What vectors can be put together; nothing where there are no vectors.
    shuffles: Option<Shuffles>,
    /// Where blocks are put together, if any are.
    stage: Option<StackSlot>,
    /// Where the addresses of several sources are passed, if any are.
    sources: Option<StackSlot>,
    /// About how many instructions a statement may have, of code that does everything itself;
    /// nothing if it may call leaves.
    room: Option<usize>,
    /// What a check that fails returns.
    statuses: Statuses<'a>,
    /// The most instructions that the function may have.
    limit: usize,
}

impl<'a, 'f> Emitter<'a, 'f> {
    pub(crate) fn new(
        builder: cranelift_frontend::FunctionBuilder<'f>,
        kernel: &'a Kernel,
        attachments: &'a mut Attachments,
        machine: Machine,
        room: Option<usize>,
        statuses: Statuses<'a>,
        limit: usize,
    ) -> Self {
        Self {
            code: Code::new(builder, machine),
            kernel,
            attachments,
            pointers: Pointers::default(),
            in_range: SmallVec::new(),
            shuffles: machine.shuffles(),
            stage: None,
            sources: None,
            room,
            statuses,
            limit,
        }
    }

    /// Memory on the stack in which blocks are put together.
    fn stage(&mut self) -> At {
        on_stack(&mut self.code, &mut self.stage, STAGE as u32)
    }

    /// Emits one phase as the body of the function under construction.
    pub(crate) fn phase(mut self, stmts: &[Stmt]) -> Result<(), JitError> {
        let [table, chunk, chunks] = self.code.entry();
        for buffer in self.pointers.buffers_of(stmts) {
            let base = self.base(table, buffer)?;
            self.pointers.define(Key::base(buffer), base);
        }
        // Statements of one phase depend on each other only within an iteration, or within what
        // chunk 0 runs alone; so those go first, together.
        let alone: Vec<&Stmt> = stmts.iter().filter(|stmt| !is_shared(stmt)).collect();
        if alone.len() == stmts.len() {
            // A phase without a parallel loop is called for the first chunk only.
            self.block(&alone)?;
        } else if !alone.is_empty() {
            let done = self.code.only_if_zero(chunk);
            self.block(&alone)?;
            self.code.join(done);
        }
        for stmt in stmts {
            if let Stmt::For {
                var,
                extent,
                parallel: true,
                body,
            } = stmt
            {
                let (begin, count) = self.code.share(*extent, chunk, chunks);
                self.shared_loop(*var, begin, count, body)?;
            }
        }
        self.code.finish();
        Ok(())
    }

    /// Emits all phases, one after the other, as the body of a function of addresses of inputs, those of
    /// outputs and scratch. Constants are names to be resolved, each the number of its buffer.
    pub(crate) fn whole(mut self, scratch: &ScratchLayout) -> Result<(), JitError> {
        let arguments = self.code.entry();
        let kernel = self.kernel;
        for stmts in &kernel.phases {
            let mark = self.pointers.mark();
            for buffer in self.pointers.buffers_of(stmts) {
                let base = self.argument(arguments, buffer, scratch)?;
                self.pointers.define(Key::base(buffer), base);
            }
            self.block(stmts)?;
            self.pointers.reset(mark);
        }
        self.code.finish();
        Ok(())
    }

    /// Where a buffer begins: from the caller's table, or a constant of the kernel's own.
    fn base(&mut self, table: Value, id: BufferId) -> Result<Value, JitError> {
        Ok(match &self.buffer(id)?.role {
            Role::Const(bytes) => {
                let address = self.attachments.constant(bytes);
                self.code.address(address)
            }
            Role::In(_) | Role::Out(..) | Role::Scratch => self.code.entry_of(table, id.0),
        })
    }

    /// The same for [`Emitter::whole`].
    fn argument(
        &mut self,
        [inputs, outputs, memory]: [Value; 3],
        id: BufferId,
        scratch: &ScratchLayout,
    ) -> Result<Value, JitError> {
        Ok(match &self.buffer(id)?.role {
            Role::Const(_) => self.code.named(id.0),
            Role::In(number) => self.code.entry_of(inputs, *number),
            Role::Out(number, _) => self.code.entry_of(outputs, *number),
            Role::Scratch => {
                let mut places = scratch.offsets.iter();
                let place = places.find(|(known, _)| *known == id);
                let (_, offset) = place.ok_or_else(|| missing(id))?;
                let offset = i64::try_from(*offset).map_err(|_| missing(id))?;
                self.code.pointer(At {
                    ptr: memory,
                    offset,
                })
            }
        })
    }

    fn buffer(&self, id: BufferId) -> Result<&'a Buffer, JitError> {
        self.kernel.buffer(id).ok_or_else(|| missing(id))
    }

    /// Bytes per element of a place's buffer.
    fn width(&self, place: &Place) -> i64 {
        self.kernel
            .buffer(place.buffer)
            .map_or(1, |buffer| buffer.width.bytes() as i64)
    }

    /// The address of a place, whose variables are all in scope.
    fn at(&mut self, place: &Place) -> Result<At, JitError> {
        let key = self.pointers.key(place);
        Ok(At {
            ptr: self.pointers.get(&key)?,
            offset: place.addr.base.wrapping_mul(self.width(place)),
        })
    }

    /// Statements of one block; what they define goes out of scope after it.
    fn block<S: Borrow<Stmt>>(&mut self, stmts: &[S]) -> Result<(), JitError> {
        let mark = self.pointers.mark();
        let ranges = self.in_range.len();
        let mut at = 0;
        while let Some(stmt) = stmts.get(at) {
            if self.code.size() > self.limit {
                return Err(JitError::TooLarge { limit: self.limit });
            }
            match stmt.borrow() {
                Stmt::For {
                    var, extent, body, ..
                } => self.counted_loop(*var, Trips::Known(*extent), None, body)?,
                Stmt::Check {
                    index,
                    dims,
                    norm,
                    code,
                } => {
                    let status = self.statuses.next(*code);
                    self.check(index, dims, norm, status)?;
                }
                Stmt::Index { var, place, norm } => {
                    self.index(*var, place, norm, &stmts[at + 1..])?;
                }
                Stmt::Move(m) => match self.weave(&stmts[at..])? {
                    0 => self.move_box(m)?,
                    moves => at += moves - 1,
                },
                Stmt::Gather(g) => self.gather(g)?,
                Stmt::Fill { dst, dims, bits } => {
                    let width = self.width(dst);
                    let dst = self.at(dst)?;
                    self.fill(dst, dims, width, *bits)?;
                }
            }
            at += 1;
        }
        self.in_range.truncate(ranges);
        self.pointers.reset(mark);
        Ok(())
    }

    /// The part of a parallel loop that falls to this chunk.
    fn shared_loop(
        &mut self,
        var: Var,
        begin: Value,
        count: Value,
        body: &[Stmt],
    ) -> Result<(), JitError> {
        self.counted_loop(var, Trips::Counted(count), Some(begin), body)
    }

    /// A loop whose pointers step along with its variable, which itself is never computed.
    fn counted_loop(
        &mut self,
        var: Var,
        trips: Trips,
        begin: Option<Value>,
        body: &[Stmt],
    ) -> Result<(), JitError> {
        let mark = self.pointers.mark();
        let mut starts: SmallVec<[Value; 8]> = SmallVec::new();
        let mut keys: SmallVec<[(Key, i64); 8]> = SmallVec::new();
        for (key, coeff) in self.pointers.enter(var, body) {
            let step = coeff.wrapping_mul(self.width_of(key.buffer()));
            let outer = self.pointers.get(&key.without(var))?;
            let start = match begin {
                None => outer,
                Some(begin) => self.code.scaled_sum(outer, begin, step),
            };
            starts.push(start);
            keys.push((key, step));
        }
        let steps: SmallVec<[i64; 8]> = keys.iter().map(|(_, step)| *step).collect();
        let frame = self.code.begin_loop(trips, &starts);
        for ((key, _), value) in keys.into_iter().zip(frame.carried()) {
            self.pointers.define(key, *value);
        }
        self.block(body)?;
        self.code.end_loop(frame, &steps);
        self.pointers.reset(mark);
        Ok(())
    }

    fn width_of(&self, buffer: BufferId) -> i64 {
        self.kernel
            .buffer(buffer)
            .map_or(1, |buffer| buffer.width.bytes() as i64)
    }

    /// The moves at the head of some statements that one leaf makes, and how many these are.
    fn weave<S: Borrow<Stmt>>(&mut self, stmts: &[S]) -> Result<usize, JitError> {
        if self.room.is_some() {
            return Ok(0);
        }
        let steady = |it: &Move| {
            let mut checked = self.in_range.iter();
            checked.all(|(var, _)| it.src.addr.coeff(*var) == 0)
        };
        let planner = self.attachments.planner();
        let Some(weave) = Weave::of(stmts, steady, self.kernel, planner) else {
            return Ok(0);
        };
        let (moves, first) = (weave.moves.len(), &weave.moves[0].dst);
        let (width, dst) = (self.width(first), self.at(first)?);
        let places = on_stack(&mut self.code, &mut self.sources, SOURCES);
        // Sources that there are not are the first once more.
        let all = weave.moves.iter().chain(std::iter::repeat(&weave.moves[0]));
        for (it, at) in all.zip((0..SOURCES).step_by(8)) {
            let src = self.at(&it.src)?;
            let src = self.code.pointer(src);
            self.code.store(src, places.plus(at.into()));
        }
        let (entry, params) = self.attachments.weave(weave, width);
        self.code.call_leaf(entry, dst, places, params);
        Ok(moves)
    }

    /// A box, or zero bits in its place when an index it depends on is out of range.
    fn move_box(&mut self, m: &Move) -> Result<(), JitError> {
        let width = self.width(&m.dst);
        let (dst, src) = (self.at(&m.dst)?, self.at(&m.src)?);
        let Some(ok) = self.all_in_range(&m.src) else {
            return self.transfer(dst, src, m, width);
        };
        let (zero, done) = self.code.unless(ok);
        self.transfer(dst, src, m, width)?;
        self.code.jump(done);
        self.code.enter_cold(zero);
        let dims: SmallVec<[(i64, i64); 6]> =
            m.dims.iter().map(|dim| (dim.extent, dim.dst)).collect();
        self.fill_cold(dst, &dims, width)?;
        self.code.jump(done);
        self.code.enter(done);
        Ok(())
    }

    /// Moves a box whose addresses are known to be in range.
    fn transfer(&mut self, dst: At, src: At, m: &Move, width: i64) -> Result<(), JitError> {
        let shape = ByteBox::of_move(&m.dims, width as usize).map_err(impossible)?;
        let plan = match (self.room, self.shuffles) {
            (Some(room), _) => Some(self.self_contained(&shape, m.form, room)),
            (None, Some(shuffles)) => {
                let planner = self.attachments.planner();
                planner.inline(&shape, m.form, shuffles)
            }
            (None, None) => None,
        };
        match plan {
            Some(plan) => {
                self.inline(dst, src, &shape, &plan);
                Ok(())
            }
            None => {
                let (entry, params) = self.attachments.leaf(&m.dims, width, m.form)?;
                self.code.call_leaf(entry, dst, src, params);
                Ok(())
            }
        }
    }

    /// The code of a box that does everything itself.
    fn self_contained(&self, shape: &ByteBox, form: Form, room: usize) -> Inline {
        match self.shuffles {
            Some(shuffles) => {
                let planner = self.attachments.planner();
                planner.self_contained(shape, form, shuffles, room)
            }
            None => Inline::Runs,
        }
    }

    /// Whether every index variable of an address is in range; nothing when that is certain.
    fn all_in_range(&mut self, place: &Place) -> Option<Value> {
        let mut all = None;
        for (var, ok) in &self.in_range {
            if place.addr.coeff(*var) != 0 {
                all = Some(match all {
                    None => *ok,
                    Some(before) => self.code.ins().band(before, *ok),
                });
            }
        }
        all
    }
}

/// So many bytes on the stack, the same each time.
fn on_stack(code: &mut Code<'_>, slot: &mut Option<StackSlot>, bytes: u32) -> At {
    let slot = *slot.get_or_insert_with(|| code.stack(bytes));
    At {
        ptr: code.ins().stack_addr(types::I64, slot, 0),
        offset: 0,
    }
}

/// A buffer that a kernel mentions and does not have, which no verified kernel does.
fn missing(id: BufferId) -> JitError {
    JitError::Internal(format!("no buffer b{}", id.0))
}

/// A box that no memory holds, which no verified kernel has.
fn impossible(error: BoxError) -> JitError {
    JitError::Internal(error.to_string())
}

/// Whether a statement of a phase is shared out among its chunks.
pub(crate) fn is_shared(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::For { parallel: true, .. })
}
