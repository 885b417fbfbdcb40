//! Pages whose every cache line knows what it holds. loom reports whoever writes a line while
//! another thread executes it, or without being ordered after that; the rest is asserted here.

use super::CODE_ALIGN;
use crate::error::CodeMemoryError;
use crate::process::{Identity as _, Process};
use crate::world;
use loom::cell::UnsafeCell;
use std::ops::Range;
use std::sync::Arc;

#[derive(Debug)]
struct Line {
    number: u64,
    code: UnsafeCell<u64>,
}

// SAFETY: loom fails the model if two threads are at a line and one of them writes.
unsafe impl Sync for Line {}

/// What both views show.
type Lines = Arc<[Line]>;

#[derive(Debug)]
pub(super) struct Pages(Lines);

#[derive(Debug)]
pub(super) struct Writer {
    lines: Lines,
    owner: Process,
}

pub(super) fn map(len: usize) -> Result<(Pages, Writer), CodeMemoryError> {
    let count = (len / CODE_ALIGN) as u64;
    let first = world::new_lines(count);
    let line = |number| Line {
        number,
        code: UnsafeCell::new(0),
    };
    let lines: Lines = (first..first + count).map(line).collect();
    let writer = Writer {
        lines: lines.clone(),
        owner: Process::current(),
    };
    Ok((Pages(lines), writer))
}

impl Pages {
    pub(super) fn len(&self) -> usize {
        self.0.len() * CODE_ALIGN
    }

    pub(super) fn entry(&self, offset: usize) -> *const u8 {
        (&raw const self.0[offset / CODE_ALIGN]).cast()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        world::with(|world| world.unmapped(numbers(&self.0)));
    }
}

impl Writer {
    pub(super) fn is_own(&self) -> bool {
        self.owner == Process::current()
    }

    /// # Safety
    /// None is needed: the model watches.
    pub(super) unsafe fn write(
        &mut self,
        offset: usize,
        bytes: &[u8],
    ) -> Result<(), CodeMemoryError> {
        assert!(self.is_own(), "a child writes its parent's code");
        let lines = offset / CODE_ALIGN..(offset + bytes.len()).div_ceil(CODE_ALIGN);
        let lines = &self.lines[lines];
        world::with(|world| world.written(numbers(lines)));
        for line in lines {
            // SAFETY: loom fails the model if this is not exclusive.
            line.code
                .with_mut(|held| unsafe { *held = bytes[0].into() });
        }
        Ok(())
    }
}

fn numbers(lines: &[Line]) -> Range<u64> {
    let first = lines.first().map_or(0, |line| line.number);
    first..first + lines.len() as u64
}

/// Executes code: its first line, and what it holds.
pub(crate) fn execute(entry: *const u8) -> (u64, u64) {
    // SAFETY: the pointer is to a line of a slab that is kept mapped by the code's owner.
    let line = unsafe { &*entry.cast::<Line>() };
    // SAFETY: loom fails the model if somebody writes meanwhile.
    (line.number, line.code.with(|held| unsafe { *held }))
}
