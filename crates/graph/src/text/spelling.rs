//! How attributes are spelled: each kind of them once, with its reader and its writer.

use std::fmt::{self, Formatter};
use std::marker::PhantomData;
use std::sync::Arc;

use restride_text::Diagnostic;

use super::attributes::{Attributes, Kind};
use crate::error::{Place, Problem};
use crate::op::{Number, Spelled};
use crate::types::write_list;
use crate::{
    BroadcastMode, IndexRule, Ints, Op, OutOfRange, PadMode, ReshapeDialect, SliceDialect,
};

/// Which words a spelling takes.
pub(crate) trait Words: Sync {
    /// Calls `see` with each name, what stands after it, and whether it must be there.
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool));
}

/// How a field of an operator is spelled.
pub(crate) trait Spelling: Words {
    type Value;

    fn read(&self, from: &Attributes<'_>) -> Result<Self::Value, Diagnostic>;

    /// Writes it, after a space; nothing where nothing need be said.
    fn write(&self, value: &Self::Value, of: &Op, f: &mut Formatter<'_>) -> fmt::Result;

    /// Shows the numbers in it.
    fn change(&self, value: &mut Self::Value, see: &mut dyn FnMut(Number<'_>));
}

/// A number.
pub(crate) struct Int(pub(crate) &'static str);

impl Words for Int {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        see(self.0, Kind::Int, true);
    }
}

impl Spelling for Int {
    type Value = i64;

    fn read(&self, from: &Attributes<'_>) -> Result<i64, Diagnostic> {
        from.int(self.0)
    }

    fn write(&self, value: &i64, _: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, " {} {value}", self.0)
    }

    fn change(&self, value: &mut i64, see: &mut dyn FnMut(Number<'_>)) {
        see(Number::One(value));
    }
}

/// A number that is 0 if it is left out.
pub(crate) struct IntOrZero(pub(crate) &'static str);

impl Words for IntOrZero {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        see(self.0, Kind::Int, false);
    }
}

impl Spelling for IntOrZero {
    type Value = i64;

    fn read(&self, from: &Attributes<'_>) -> Result<i64, Diagnostic> {
        Ok(from.int_if(self.0).unwrap_or(0))
    }

    fn write(&self, value: &i64, _: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        match value {
            0 => Ok(()),
            _ => write!(f, " {} {value}", self.0),
        }
    }

    fn change(&self, value: &mut i64, see: &mut dyn FnMut(Number<'_>)) {
        see(Number::One(value));
    }
}

/// Bits, one for each position; none if it is left out.
pub(crate) struct Mask(pub(crate) &'static str);

impl Words for Mask {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        see(self.0, Kind::Int, false);
    }
}

impl Spelling for Mask {
    type Value = i64;

    fn read(&self, from: &Attributes<'_>) -> Result<i64, Diagnostic> {
        Ok(from.int_if(self.0).unwrap_or(0))
    }

    fn write(&self, value: &i64, _: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        match value {
            0 => Ok(()),
            ..0 => write!(f, " {} {value}", self.0),
            _ => write!(f, " {} {value:#b}", self.0),
        }
    }

    fn change(&self, value: &mut i64, see: &mut dyn FnMut(Number<'_>)) {
        see(Number::One(value));
    }
}

/// A list.
pub(crate) struct List(pub(crate) &'static str);

impl Words for List {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        see(self.0, Kind::Ints, true);
    }
}

impl Spelling for List {
    type Value = Ints;

    fn read(&self, from: &Attributes<'_>) -> Result<Ints, Diagnostic> {
        from.ints(self.0)
    }

    fn write(&self, value: &Ints, _: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        list(f, self.0, value)
    }

    fn change(&self, value: &mut Ints, see: &mut dyn FnMut(Number<'_>)) {
        see(Number::List(value));
    }
}

/// A list, or nothing.
pub(crate) struct ListIf(pub(crate) &'static str);

impl Words for ListIf {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        see(self.0, Kind::Ints, false);
    }
}

impl Spelling for ListIf {
    type Value = Option<Ints>;

    fn read(&self, from: &Attributes<'_>) -> Result<Option<Ints>, Diagnostic> {
        Ok(from.ints_if(self.0))
    }

    fn write(&self, value: &Option<Ints>, _: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        value.iter().try_for_each(|items| list(f, self.0, items))
    }

    fn change(&self, value: &mut Option<Ints>, see: &mut dyn FnMut(Number<'_>)) {
        match value {
            Some(items) => see(Number::List(items)),
            None => {
                let mut items = Ints::new();
                see(Number::List(&mut items));
                *value = Some(items).filter(|items| !items.is_empty());
            }
        }
    }
}

/// A word.
pub(crate) struct Word<T>(pub(crate) &'static str, PhantomData<fn() -> T>);

impl<T> Word<T> {
    pub(crate) const fn new(name: &'static str) -> Word<T> {
        Word(name, PhantomData)
    }
}

impl<T: Spelled> Words for Word<T> {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        see(self.0, Kind::Word(T::WORDS), true);
    }
}

impl<T: Spelled> Spelling for Word<T> {
    type Value = T;

    fn read(&self, from: &Attributes<'_>) -> Result<T, Diagnostic> {
        let word = from.word(self.0, T::WORDS)?;
        of_word(word).ok_or_else(|| from.without(self.0))
    }

    fn write(&self, value: &T, _: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, " {} {}", self.0, word_of(*value))
    }

    fn change(&self, _: &mut T, _: &mut dyn FnMut(Number<'_>)) {}
}

/// A word that is this one if it is left out.
pub(crate) struct WordOr<T>(pub(crate) &'static str, pub(crate) T);

impl<T: Spelled + Sync> Words for WordOr<T> {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        see(self.0, Kind::Word(T::WORDS), false);
    }
}

impl<T: Spelled + Sync> Spelling for WordOr<T> {
    type Value = T;

    fn read(&self, from: &Attributes<'_>) -> Result<T, Diagnostic> {
        Ok(from.word_if(self.0).and_then(of_word).unwrap_or(self.1))
    }

    fn write(&self, value: &T, _: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        match *value == self.1 {
            true => Ok(()),
            false => write!(f, " {} {}", self.0, word_of(*value)),
        }
    }

    fn change(&self, _: &mut T, _: &mut dyn FnMut(Number<'_>)) {}
}

fn of_word<T: Spelled>(word: &str) -> Option<T> {
    let mut all = T::ALL.iter();
    all.find(|(own, _)| *own == word).map(|(_, value)| *value)
}

fn word_of<T: Spelled>(value: T) -> &'static str {
    let mut all = T::ALL.iter();
    all.find(|(_, own)| *own == value)
        .map_or("", |(word, _)| word)
}

fn list(f: &mut Formatter<'_>, name: &str, items: &[i64]) -> fmt::Result {
    write!(f, " {name} ")?;
    write_list(f, items)
}

/// What an index out of range does, and whether negative ones count from the end.
pub(crate) struct Rule;

const POLICY: Word<OutOfRange> = Word::new("out_of_range");

impl Words for Rule {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        POLICY.words(see);
        see("wrap", Kind::Flag, false);
    }
}

impl Spelling for Rule {
    type Value = IndexRule;

    fn read(&self, from: &Attributes<'_>) -> Result<IndexRule, Diagnostic> {
        Ok(IndexRule {
            out_of_range: POLICY.read(from)?,
            wrap: from.has("wrap"),
        })
    }

    fn write(&self, value: &IndexRule, of: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        POLICY.write(&value.out_of_range, of, f)?;
        f.write_str(if value.wrap { " wrap" } else { "" })
    }

    fn change(&self, _: &mut IndexRule, _: &mut dyn FnMut(Number<'_>)) {}
}

/// The dialect of a `slice`, which its other words tell.
pub(crate) struct ByTheWords;

impl Words for ByTheWords {
    fn words(&self, _: &mut dyn FnMut(&'static str, Kind, bool)) {}
}

impl Spelling for ByTheWords {
    type Value = SliceDialect;

    fn read(&self, from: &Attributes<'_>) -> Result<SliceDialect, Diagnostic> {
        let (dialect, others) = match from.has(SliceDialect::Onnx.words()[0]) {
            true => (SliceDialect::Onnx, SliceDialect::OpenVino),
            false => (SliceDialect::OpenVino, SliceDialect::Onnx),
        };
        let [start, ..] = dialect.words();
        from.refuse(&others.words(), &format!("beside `{start}`"))?;
        Ok(dialect)
    }

    fn write(&self, _: &SliceDialect, _: &Op, _: &mut Formatter<'_>) -> fmt::Result {
        Ok(())
    }

    fn change(&self, _: &mut SliceDialect, _: &mut dyn FnMut(Number<'_>)) {}
}

/// The n-th list of a `slice`, called by the word of its dialect. ONNX may leave out the steps.
pub(crate) struct SliceList(pub(crate) usize);

impl Words for SliceList {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        see(SliceDialect::OpenVino.words()[self.0], Kind::Ints, false);
        see(SliceDialect::Onnx.words()[self.0], Kind::Ints, false);
    }
}

impl Spelling for SliceList {
    type Value = Ints;

    fn read(&self, from: &Attributes<'_>) -> Result<Ints, Diagnostic> {
        let dialect = ByTheWords.read(from)?;
        let words = dialect.words();
        let word = words[self.0];
        match (dialect, from.ints_if(word)) {
            (_, Some(items)) => Ok(items),
            (SliceDialect::Onnx, None) if word == words[2] => {
                Ok(Ints::from_elem(1, from.ints(words[0])?.len()))
            }
            (SliceDialect::Onnx | SliceDialect::OpenVino, None) => from.ints(word),
        }
    }

    fn write(&self, value: &Ints, of: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        let dialect = match of {
            Op::Slice { dialect, .. } => *dialect,
            _ => SliceDialect::OpenVino,
        };
        list(f, dialect.words()[self.0], value)
    }

    fn change(&self, value: &mut Ints, see: &mut dyn FnMut(Number<'_>)) {
        see(Number::List(value));
    }
}

/// The dialect of a `reshape`, with the flag that says what 0 means in it.
pub(crate) struct Zeros;

const ZERO_FLAGS: [&str; 2] = ["special_zero", "allow_zero"];

impl Words for Zeros {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        const WORDS: &[&str] = &["plain", "openvino", "onnx", "tensorflow", "mindspore"];
        see("dialect", Kind::Word(WORDS), false);
        for flag in ZERO_FLAGS {
            see(flag, Kind::Flag, false);
        }
    }
}

impl Spelling for Zeros {
    type Value = ReshapeDialect;

    fn read(&self, from: &Attributes<'_>) -> Result<ReshapeDialect, Diagnostic> {
        let word = from.word_if("dialect").unwrap_or("plain");
        let given = ZERO_FLAGS.into_iter().find(|flag| from.has(flag));
        let all = ReshapeDialect::ALL.iter();
        for own in all.clone().filter(|own| own.words().0 != word) {
            if let (own, Some(flag)) = own.words() {
                from.refuse(&[flag], &format!("without `dialect {own}`"))?;
            }
        }
        let mut fits = all.filter(|own| own.words() == (word, given));
        fits.next().copied().ok_or_else(|| from.without("dialect"))
    }

    fn write(&self, value: &ReshapeDialect, _: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        match value.words() {
            ("plain", _) => Ok(()),
            (word, None) => write!(f, " dialect {word}"),
            (word, Some(flag)) => write!(f, " dialect {word} {flag}"),
        }
    }

    fn change(&self, _: &mut ReshapeDialect, _: &mut dyn FnMut(Number<'_>)) {}
}

/// How a `broadcast` is lined up.
pub(crate) struct LinedUp;

impl Words for LinedUp {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        see("mode", Kind::Word(BroadcastMode::WORDS), false);
        see("axes", Kind::Ints, false);
    }
}

impl Spelling for LinedUp {
    type Value = BroadcastMode;

    fn read(&self, from: &Attributes<'_>) -> Result<BroadcastMode, Diagnostic> {
        let explicit = BroadcastMode::Explicit(Ints::new()).word();
        match from.word_if("mode") {
            Some(word) if word == explicit => Ok(BroadcastMode::Explicit(from.ints("axes")?)),
            word => {
                from.refuse(&["axes"], "without `mode explicit`")?;
                let both = BroadcastMode::Bidirectional;
                Ok(match word {
                    Some(word) if word == both.word() => both,
                    Some(_) | None => BroadcastMode::Numpy,
                })
            }
        }
    }

    fn write(&self, value: &BroadcastMode, _: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        match value {
            BroadcastMode::Numpy => Ok(()),
            BroadcastMode::Bidirectional => write!(f, " mode {}", value.word()),
            BroadcastMode::Explicit(axes) => {
                write!(f, " mode {}", value.word())?;
                list(f, "axes", axes)
            }
        }
    }

    fn change(&self, value: &mut BroadcastMode, see: &mut dyn FnMut(Number<'_>)) {
        if let BroadcastMode::Explicit(axes) = value {
            see(Number::List(axes));
        }
    }
}

/// What fills a rim: bits, or a mode.
pub(crate) struct Rim;

impl Words for Rim {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        see("constant", Kind::Bits, false);
        see("mode", Kind::Word(PadMode::WORDS), false);
    }
}

impl Spelling for Rim {
    type Value = PadMode;

    fn read(&self, from: &Attributes<'_>) -> Result<PadMode, Diagnostic> {
        let Some(word) = from.word_if("mode") else {
            return Ok(PadMode::Constant(from.bits_if("constant").unwrap_or(0)));
        };
        from.refuse(&["constant"], "beside `mode`")?;
        let mut all = PadMode::MODES.iter();
        let mode = all.find(|mode| mode.name() == word).copied();
        mode.ok_or_else(|| from.without("mode"))
    }

    fn write(&self, value: &PadMode, _: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        match value {
            PadMode::Constant(bits) => write!(f, " constant {bits:#x}"),
            mode => write!(f, " mode {}", mode.name()),
        }
    }

    fn change(&self, value: &mut PadMode, see: &mut dyn FnMut(Number<'_>)) {
        if let PadMode::Constant(bits) = value {
            see(Number::Bits(bits));
        }
    }
}

/// The lengths of the parts of a `split`; left out, they are equal.
pub(crate) struct Lengths;

impl Words for Lengths {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        see("lengths", Kind::Ints, false);
    }
}

impl Spelling for Lengths {
    type Value = Arc<[i64]>;

    fn read(&self, from: &Attributes<'_>) -> Result<Arc<[i64]>, Diagnostic> {
        Ok(from.ints("lengths")?.as_slice().into())
    }

    fn write(&self, value: &Arc<[i64]>, _: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        list(f, "lengths", value)
    }

    fn change(&self, value: &mut Arc<[i64]>, see: &mut dyn FnMut(Number<'_>)) {
        let mut lengths = Ints::from_slice(value);
        see(Number::List(&mut lengths));
        *value = lengths.as_slice().into();
    }
}

/// Which part of a `split`; all of them where it is left out. It is written by who knows that.
pub(crate) struct Part;

impl Words for Part {
    fn words(&self, see: &mut dyn FnMut(&'static str, Kind, bool)) {
        see("part", Kind::Int, false);
    }
}

impl Spelling for Part {
    type Value = u32;

    fn read(&self, from: &Attributes<'_>) -> Result<u32, Diagnostic> {
        let got = from.int("part")?;
        let part = u32::try_from(got).ok().filter(|&part| part < u32::MAX);
        part.ok_or_else(|| {
            let high = from
                .ints_if("lengths")
                .map_or(0, |lengths| lengths.len() as i64 - 1);
            let problem = Problem::OutOfRange { got, low: 0, high };
            from.locate(&Place::Attribute("part").refuse(problem).of("split"))
        })
    }

    fn write(&self, _: &u32, _: &Op, _: &mut Formatter<'_>) -> fmt::Result {
        Ok(())
    }

    fn change(&self, value: &mut u32, see: &mut dyn FnMut(Number<'_>)) {
        let mut part = i64::from(*value);
        see(Number::One(&mut part));
        *value = part as u32;
    }
}
