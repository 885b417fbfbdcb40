//! What is known of the machine that moves are planned for.

use std::fmt;
use std::str::FromStr;

use crate::{Core, Features, Processor, TargetError};

/// What the cost model knows of a machine. Sizes are bytes.
///
/// The model is deliberately small: memory moves in lines, a line that is used whole costs once,
/// a line that is visited again after more than a cache of other lines costs again, lines whose
/// addresses differ by a multiple of a cache way fight for the same few places, and a working
/// set beyond the last cache is cheaper to write past the caches.
///
/// Any numbers will do: those that no machine has count as the nearest that one may have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Which kind of processor it has.
    pub processor: Processor,
    /// What code may use of it, where it is an x86-64.
    pub features: Features,
    /// Whose cores it has. Kernels do not depend on that, only how their moves are carried out.
    pub core: Core,
    /// A cache line.
    pub line: i64,
    /// The first-level data cache.
    pub l1: i64,
    /// One way of the first-level data cache: addresses this far apart share a set.
    pub l1_way: i64,
    /// The second-level cache.
    pub l2: i64,
    /// The last-level cache.
    pub last: i64,
    /// Whether precompiled moves are there, as on this machine; code of a program's own has no stores past the
    /// caches.
    pub precompiled: bool,
    /// A pass that reads and writes so many bytes, or more, is stored past the caches.
    pub past_from: i64,
    /// Work below this is never shared out between threads.
    pub parallel_from: i64,
    /// What one iteration of a parallel loop should move at least.
    pub grain: i64,
}

/// The most bytes that a level of the model may have.
const MOST: i64 = 1 << 40;

/// Into how many iterations work is divided before these grow.
const SHARES: i64 = 32;

/// What the text of a target without precompiled moves says.
const SELF_CONTAINED: &str = "self-contained";

/// Two thirds of the last cache, which never holds only what one pass needs.
pub(crate) fn past_from(last: i64) -> i64 {
    last / 3 * 2
}

impl Default for Target {
    /// The caches of a current x86-64 server core, so that the same graph gives the same loops
    /// everywhere, and all features of this machine and its cores. Of the ways of the nearest cache there are as few as any such core
    /// has: rows that share a set where they need not take a quarter longer, and others twice as long.
    fn default() -> Self {
        Self {
            processor: Processor::host(),
            features: Features::detect(),
            core: Core::detect(),
            line: 64,
            l1: 32 << 10,
            l1_way: 4 << 10,
            l2: 1 << 20,
            last: 32 << 20,
            precompiled: true,
            past_from: past_from(32 << 20),
            parallel_from: 128 << 10,
            grain: 32 << 10,
        }
    }
}

impl Target {
    /// The default, with these features.
    #[must_use]
    pub fn with(features: Features) -> Self {
        Self {
            features,
            ..Self::default()
        }
    }

    /// A machine that need not be this one, for code of its own that one thread runs: of an x86-64 the caches of the
    /// default, of an Arm those of a phone or a small board (Cortex-A76), of a RISC-V those of a board (P550).
    #[must_use]
    pub fn of(processor: Processor, features: Features) -> Self {
        let (l1, l1_way, l2, last) = match processor {
            Processor::X86_64 => (32 << 10, 4 << 10, 1 << 20, 32 << 20),
            Processor::Aarch64 => (64 << 10, 16 << 10, 512 << 10, 2 << 20),
            Processor::Riscv64 | Processor::Riscv64V => (32 << 10, 8 << 10, 256 << 10, 4 << 20),
        };
        Self {
            processor,
            features,
            core: Core::Zen,
            line: 64,
            l1,
            l1_way,
            l2,
            last,
            precompiled: false,
            past_from: past_from(last),
            parallel_from: i64::MAX,
            grain: 32 << 10,
        }
    }

    /// Caches so small that the smallest shapes overflow them, and work so fine that it is always
    /// shared out: what a test takes to see parallel loops, tiles and staging in small graphs.
    #[must_use]
    pub fn cramped() -> Self {
        Self {
            l1: 512,
            l1_way: 128,
            l2: 2048,
            last: 8192,
            past_from: past_from(8192),
            parallel_from: 64,
            grain: 32,
            ..Self::default()
        }
    }

    /// A machine that can be, as near to this one as may be.
    #[must_use]
    pub fn bounded(&self) -> Self {
        let line = self.line.clamp(16, 4096);
        // The sets of a way are gone through.
        let l1_way = self.l1_way.clamp(line, 1 << 16);
        Self {
            line,
            l1: self.l1.clamp(l1_way, MOST),
            l1_way,
            l2: self.l2.clamp(line, MOST),
            last: self.last.clamp(line, MOST),
            past_from: self.past_from.clamp(0, MOST),
            parallel_from: self.parallel_from.max(0),
            grain: self.grain.clamp(1, MOST),
            ..*self
        }
    }

    /// How many lines a set of the nearest cache holds.
    pub(crate) fn ways(&self) -> i64 {
        self.l1 / self.l1_way
    }

    /// Whether vectors are whole lines, and the nearest cache is that of a Zen 4: it has no room for a stage and planes that are put
    /// together there, so that what shares sets is more often written where it belongs.
    pub(crate) fn is_zen_in_lines(&self) -> bool {
        self.core == Core::Zen && self.features.lanes()[0] == 4
    }

    /// Runs of so many bytes are worth storing past the caches: a few lines.
    #[must_use]
    pub fn worth_past(&self) -> i64 {
        4 * self.line
    }

    /// What the nearest cache holds with room to spare.
    pub(crate) fn near(&self) -> usize {
        (self.l1 / 4 * 3) as usize
    }

    /// Whether a table of so many bytes comes from memory: of a last cache that many cores share, each has a part only.
    pub(crate) fn is_far(&self, table: usize) -> bool {
        i64::try_from(table).is_ok_and(|table| table >= self.past_from / 2 * 3)
    }

    /// What one iteration of a parallel loop that moves `whole` bytes should move: every call of a
    /// leaf starts with an empty pipeline, so a few dozen iterations are enough to share out.
    #[must_use]
    pub fn block(&self, whole: i64) -> i64 {
        let most = self.grain.saturating_mul(8);
        (whole / SHARES).clamp(self.grain, most.max(self.grain))
    }

    /// Whether elements that come from afar, or from rows that crowd, are put together on a stage.
    #[must_use]
    pub fn stages_what_is_far(&self) -> bool {
        self.core != Core::Cove
    }

    /// Whether a pass that reads and writes so many bytes is stored past the caches.
    #[must_use]
    pub fn goes_past(&self, pass: i64) -> bool {
        self.precompiled && pass >= self.past_from
    }

    /// The same of a transposition in tiles that has little to lose by it. What such a pass waits for, it waits
    /// for longer than a copy does, so it gains from fewer bytes on.
    #[must_use]
    pub fn goes_past_in_tiles(&self, pass: i64) -> bool {
        self.precompiled && pass >= self.past_from / 4 * 3
    }

    /// Elements of `width` bytes in a line.
    #[must_use]
    pub fn per_line(&self, width: i64) -> i64 {
        (self.line / width).max(1)
    }

    /// Its numbers and what they are called in its text.
    fn numbers(&mut self) -> [(&'static str, &mut i64); 8] {
        [
            ("line", &mut self.line),
            ("l1", &mut self.l1),
            ("l1_way", &mut self.l1_way),
            ("l2", &mut self.l2),
            ("last", &mut self.last),
            ("past_from", &mut self.past_from),
            ("parallel_from", &mut self.parallel_from),
            ("grain", &mut self.grain),
        ]
    }

    /// Takes over what a word of its text says.
    fn read(&mut self, word: &str) -> Option<()> {
        if let Some((name, number)) = word.split_once('=') {
            let mut numbers = self.numbers().into_iter();
            let (_, field) = numbers.find(|(field, _)| *field == name)?;
            *field = number.parse().ok()?;
        } else if let Some(level) = Features::ALL.into_iter().find(|it| it.name() == word) {
            self.features = level;
        } else if let Some(core) = Core::ALL.into_iter().find(|it| it.name() == word) {
            self.core = core;
        } else if let Some(kind) = Processor::ALL.into_iter().find(|it| it.name() == word) {
            self.processor = kind;
        } else if word == SELF_CONTAINED {
            self.precompiled = false;
        } else {
            return None;
        }
        Some(())
    }
}

/// One line, which is read back as the same target: `x86-64 avx2 zen line=64 l1=32768 ...`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (processor, features) = (self.processor.name(), self.features.name());
        write!(f, "{processor} {features} {}", self.core.name())?;
        if !self.precompiled {
            write!(f, " {SELF_CONTAINED}")?;
        }
        let mut target = self.clone();
        let mut numbers = target.numbers().into_iter();
        numbers.try_for_each(|(name, number)| write!(f, " {name}={number}"))
    }
}

/// What a text does not say is as in the default.
impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let mut target = Self::default();
        for word in text.split_whitespace() {
            if target.read(word).is_none() {
                return Err(TargetError::Word(word.escape_debug().collect()));
            }
        }
        Ok(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_its_text() {
        let odd = Target {
            features: Features::Sse41,
            core: Core::Cove,
            past_from: 7,
            grain: -1,
            ..Target::cramped()
        };
        let other = Target::of(Processor::Riscv64V, Features::Sse2);
        for target in [Target::default(), Target::host(), odd, other] {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        assert_eq!("".parse(), Ok(Target::default()));
        for text in [
            "mmx",
            "l2",
            "l2=",
            "l2=64K",
            "l4=1",
            "=1",
            "l2=9223372036854775808",
        ] {
            let refused = TargetError::Word(text.into());
            assert_eq!(text.parse::<Target>(), Err(refused));
        }
    }
}
