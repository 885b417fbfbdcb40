//! Pages whose every cache line knows what it holds. loom reports whoever writes a line while
//! another thread executes it, or without being ordered after that; the rest is asserted here.

use super::CODE_ALIGN;
use crate::error::CodeMemoryError;
use crate::world;
use loom::cell::UnsafeCell;
use std::ops::Range;

/// What the lines of poisoned code hold.
const POISON: u64 = u64::MAX;

#[derive(Debug)]
struct Line {
    number: u64,
    code: UnsafeCell<u64>,
}

#[derive(Debug)]
pub(super) struct Slab {
    lines: Vec<Line>,
}

impl Slab {
    pub(super) fn new(len: usize) -> Result<Self, CodeMemoryError> {
        let count = (len / CODE_ALIGN) as u64;
        let first = world::new_lines(count);
        let line = |number| Line {
            number,
            code: UnsafeCell::new(0),
        };
        let lines = (first..first + count).map(line).collect();
        Ok(Self { lines })
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len() * CODE_ALIGN
    }

    pub(super) fn entry(&self, offset: usize) -> *const u8 {
        (&raw const self.lines[offset / CODE_ALIGN]).cast()
    }

    fn put(&self, offset: usize, len: usize, code: u64) {
        let lines = &self.lines[offset / CODE_ALIGN..(offset + len).div_ceil(CODE_ALIGN)];
        world::with(|world| world.written(numbers(lines), code == POISON));
        for line in lines {
            // SAFETY: loom fails the model if this is not exclusive.
            line.code.with_mut(|held| unsafe { *held = code });
        }
    }

    /// # Safety
    /// None is needed: the model watches.
    pub(super) unsafe fn write(&self, offset: usize, bytes: &[u8]) {
        self.put(offset, bytes.len(), u64::from(bytes[0]));
    }

    /// # Safety
    /// None is needed: the model watches.
    pub(super) unsafe fn poison(&self, offset: usize, len: usize) {
        self.put(offset, len, POISON);
    }

    /// # Safety
    /// None is needed: the model watches.
    pub(super) unsafe fn unmap_inherited(self) {}

    /// # Safety
    /// None is needed: the model watches.
    pub(super) unsafe fn unmap(self) {
        world::with(|world| world.unmapped(numbers(&self.lines)));
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
