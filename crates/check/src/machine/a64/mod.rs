//! The 64-bit code of Arm, as far as generated code uses it.

mod decode;
mod execute;
mod op;

use super::{CodeRun, Convention, Next};
use crate::violation::{Kind, Stop};
use decode::decode;
use op::{A64Op, Address};

/// Bytes of an instruction.
pub(super) const LENGTH: i64 = 4;

const STACK: usize = 31;
const LINK: usize = 30;

/// The procedure call standard. The platform's register is not for generated code either.
pub(super) const CONVENTION: Convention = Convention {
    kept: &[
        (18, "x18"),
        (19, "x19"),
        (20, "x20"),
        (21, "x21"),
        (22, "x22"),
        (23, "x23"),
        (24, "x24"),
        (25, "x25"),
        (26, "x26"),
        (27, "x27"),
        (28, "x28"),
        (29, "x29"),
    ],
    kept_vectors: 8..16,
    arguments: [0, 1, 2, 3],
    result: 0,
    stack: STACK,
    link: Some(LINK),
};

/// Words of a piece of code.
pub(crate) struct A64Code<'a> {
    code: &'a [u8],
    /// Whether an instruction was decoded, by word.
    seen: Vec<bool>,
    /// Whether a word belongs to a constant that code loads.
    constant: Vec<bool>,
}

impl<'a> A64Code<'a> {
    pub(crate) fn new(code: &'a [u8]) -> Self {
        let words = code.len() / 4;
        let mut program = Self {
            code,
            seen: vec![false; words],
            constant: vec![false; words],
        };
        // Up to the end of each function there is nothing but instructions; what is behind them is
        // read as some as well, of which only loads of constants before them matter.
        for at in (0..code.len() as i64).step_by(4) {
            if let Some(A64Op::Load {
                size,
                address: Address::Literal(by),
                ..
            }) = program.word(at).and_then(decode)
            {
                program.mark(at, by, size);
            }
        }
        program
    }

    /// Takes note of a constant, unless the instruction is in one itself.
    fn mark(&mut self, at: i64, by: i64, size: usize) {
        if self.constant.get((at / 4) as usize) != Some(&false) {
            return;
        }
        let first = usize::try_from(at + by).unwrap_or(usize::MAX) / 4;
        let words = first..first.saturating_add(size / 4);
        if let Some(words) = self.constant.get_mut(words) {
            words.fill(true);
        }
    }

    fn word(&self, at: i64) -> Option<u32> {
        let at = usize::try_from(at).ok().filter(|at| at % 4 == 0)?;
        let bytes = self.code.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    }

    /// Decodes all that may be reached from some places, and refuses what is no code.
    pub(crate) fn survey(mut self, entries: &[usize]) -> Result<(), Kind> {
        let mut open: Vec<i64> = entries.iter().map(|entry| *entry as i64).collect();
        while let Some(at) = open.pop() {
            let known = usize::try_from(at / 4)
                .ok()
                .and_then(|at| self.seen.get(at));
            if known == Some(&true) && at % 4 == 0 {
                continue;
            }
            let op = match self.get(at) {
                Ok(op) => op,
                Err(Stop::Wrong(kind)) => return Err(kind),
                Err(Stop::NotUnderstood(_) | Stop::Limit(_)) => continue,
            };
            match op {
                A64Op::Branch(by) => open.push(at + by),
                A64Op::BranchIf(_, by) | A64Op::BranchZero { by, .. } => {
                    open.extend([at + by, at + LENGTH]);
                }
                A64Op::Return | A64Op::Trap => {}
                _ => open.push(at + LENGTH),
            }
        }
        Ok(())
    }

    pub(crate) fn decoded(&self) -> impl Iterator<Item = usize> + '_ {
        let seen = self.seen.iter().enumerate();
        seen.filter(|(_, seen)| **seen).map(|(at, _)| 4 * at)
    }

    pub(crate) fn get(&mut self, at: i64) -> Result<A64Op, Stop> {
        let missing = || Stop::from(Kind::NoCode { offset: at });
        let word = self.word(at).ok_or_else(missing)?;
        let place = (at / 4) as usize;
        // What lies between functions is no instruction of any processor.
        if self.constant.get(place) == Some(&true) || word == u32::from_le_bytes([0xcc; 4]) {
            return Err(missing());
        }
        let op = decode(word).ok_or_else(|| {
            Stop::not_understood(format!("{word:08x} is not known to be generated"))
        })?;
        if let Some(seen) = self.seen.get_mut(place) {
            *seen = true;
        }
        Ok(op)
    }

    /// An instruction for people.
    pub(crate) fn text(&self, at: i64) -> String {
        let word = self.word(at).unwrap_or_default();
        match decode(word) {
            Some(op) => format!("{word:08x} {op:?}"),
            None => format!("{word:08x}"),
        }
    }
}
