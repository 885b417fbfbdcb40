//! How attributes are spelled: each kind of them once, with its reader and its writer.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use restride_text::Diagnostic;

use super::attributes::{AttributeKind, Attributes};
use crate::error::{Place, Problem};
use crate::op::{Number, Spelled};
use crate::types::write_list;
use crate::{
    BroadcastMode, IndexRule, Ints, Op, OutOfRange, PadMode, ReshapeDialect, SliceDialect,
};

/// Is told each name, what stands after it, and whether it must be there.
type SeeWord<'a> = &'a mut dyn FnMut(&'static str, AttributeKind, bool);
type SeeNumber<'a> = &'a mut dyn FnMut(Number<'_>);
type Name = &'static str;

/// How a field of an operator is spelled. The functions are given the name.
pub(crate) struct Spelling<T> {
    name: Name,
    words: fn(Name, SeeWord<'_>),
    read: fn(Name, &Attributes<'_>) -> Result<T, Diagnostic>,
    /// Writes it, after a space; nothing where nothing need be said.
    write: fn(Name, &T, &Op, &mut Formatter<'_>) -> fmt::Result,
    /// Shows the numbers in it.
    change: fn(&mut T, SeeNumber<'_>),
}

/// Which words a spelling takes, whatever the field.
pub(crate) trait Words: Sync {
    fn words(&self, see: SeeWord<'_>);
}

impl<T> Words for Spelling<T> {
    fn words(&self, see: SeeWord<'_>) {
        (self.words)(self.name, see);
    }
}

impl<T> Spelling<T> {
    pub(crate) fn read(&self, from: &Attributes<'_>) -> Result<T, Diagnostic> {
        (self.read)(self.name, from)
    }

    pub(crate) fn write(&self, value: &T, of: &Op, f: &mut Formatter<'_>) -> fmt::Result {
        (self.write)(self.name, value, of, f)
    }

    pub(crate) fn change(&self, value: &mut T, see: SeeNumber<'_>) {
        (self.change)(value, see);
    }
}

fn list(f: &mut Formatter<'_>, name: &str, items: &[i64]) -> fmt::Result {
    write!(f, " {name} ")?;
    write_list(f, items)
}

fn one(value: &mut i64, see: SeeNumber<'_>) {
    see(Number::One(value));
}

fn many(value: &mut Ints, see: SeeNumber<'_>) {
    see(Number::List(value));
}

fn none<T>(_: &mut T, _: SeeNumber<'_>) {}

/// A number.
pub(crate) const fn int(name: Name) -> Spelling<i64> {
    Spelling {
        name,
        words: |name, see| see(name, AttributeKind::Int, true),
        read: |name, from| from.int(name),
        write: |name, value, _, f| write!(f, " {name} {value}"),
        change: one,
    }
}

/// A number that is 0 if it is left out.
pub(crate) const fn int_or_zero(name: Name) -> Spelling<i64> {
    Spelling {
        name,
        words: |name, see| see(name, AttributeKind::Int, false),
        read: |name, from| Ok(from.int_if(name).unwrap_or(0)),
        write: |name, value, _, f| match value {
            0 => Ok(()),
            _ => write!(f, " {name} {value}"),
        },
        change: one,
    }
}

/// Bits, one for each position; none if it is left out.
pub(crate) const fn mask(name: Name) -> Spelling<i64> {
    Spelling {
        write: |name, value, _, f| match value {
            0 => Ok(()),
            ..0 => write!(f, " {name} {value}"),
            _ => write!(f, " {name} {value:#b}"),
        },
        ..int_or_zero(name)
    }
}

/// A list.
pub(crate) const fn ints(name: Name) -> Spelling<Ints> {
    Spelling {
        name,
        words: |name, see| see(name, AttributeKind::Ints, true),
        read: |name, from| from.ints(name),
        write: |name, value, _, f| list(f, name, value),
        change: many,
    }
}

/// A list, or nothing.
pub(crate) const fn ints_if(name: Name) -> Spelling<Option<Ints>> {
    Spelling {
        name,
        words: |name, see| see(name, AttributeKind::Ints, false),
        read: |name, from| Ok(from.ints_if(name)),
        write: |name, value, _, f| value.iter().try_for_each(|items| list(f, name, items)),
        change: |value, see| match value {
            Some(items) => see(Number::List(items)),
            None => {
                let mut items = Ints::new();
                see(Number::List(&mut items));
                *value = Some(items).filter(|items| !items.is_empty());
            }
        },
    }
}

/// A word.
pub(crate) const fn word<T: Spelled>(name: Name) -> Spelling<T> {
    Spelling {
        name,
        words: |name, see| see(name, AttributeKind::Word(T::WORDS), true),
        read: |name, from| {
            let word = from.word(name, T::WORDS)?;
            of_word(word).ok_or_else(|| from.without(name))
        },
        write: |name, value, _, f| write!(f, " {name} {}", word_of(*value)),
        change: none,
    }
}

/// A word that is the first there is if it is left out.
pub(crate) const fn word_or_first<T: Spelled>(name: Name) -> Spelling<T> {
    Spelling {
        name,
        words: |name, see| see(name, AttributeKind::Word(T::WORDS), false),
        read: |name, from| {
            let word = from.word_if(name).and_then(of_word);
            Ok(word.unwrap_or(T::ALL[0].1))
        },
        write: |name, value, _, f| match *value == T::ALL[0].1 {
            true => Ok(()),
            false => write!(f, " {name} {}", word_of(*value)),
        },
        change: none,
    }
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

const POLICY: Spelling<OutOfRange> = word("out_of_range");

/// What an index out of range does, and whether negative ones count from the end.
pub(crate) const RULE: Spelling<IndexRule> = Spelling {
    name: "wrap",
    words: |name, see| {
        POLICY.words(see);
        see(name, AttributeKind::Flag, false);
    },
    read: |name, from| {
        Ok(IndexRule {
            out_of_range: POLICY.read(from)?,
            wrap: from.has(name),
        })
    },
    write: |_, value, of, f| {
        POLICY.write(&value.out_of_range, of, f)?;
        f.write_str(if value.wrap { " wrap" } else { "" })
    },
    change: none,
};

/// The dialect of a `slice`, which its other words tell.
pub(crate) const BY_THE_WORDS: Spelling<SliceDialect> = Spelling {
    name: "slice",
    words: |_, _| {},
    read: |_, from| {
        let (dialect, others) = match from.has(SliceDialect::Onnx.words()[0]) {
            true => (SliceDialect::Onnx, SliceDialect::OpenVino),
            false => (SliceDialect::OpenVino, SliceDialect::Onnx),
        };
        let [start, ..] = dialect.words();
        from.refuse(&others.words(), &format!("beside `{start}`"))?;
        Ok(dialect)
    },
    write: |_, _, _, _| Ok(()),
    change: none,
};

/// A list of a `slice`: by OpenVINO's word, or ONNX's where that is the dialect. ONNX may leave out
/// the steps.
pub(crate) const fn slice_ints(name: Name) -> Spelling<Ints> {
    Spelling {
        name,
        words: |name, see| {
            see(name, AttributeKind::Ints, false);
            see(
                slice_word(SliceDialect::Onnx, name),
                AttributeKind::Ints,
                false,
            );
        },
        read: |name, from| {
            let dialect = BY_THE_WORDS.read(from)?;
            let word = slice_word(dialect, name);
            match from.ints_if(word) {
                Some(items) => Ok(items),
                None if (dialect, name) == (SliceDialect::Onnx, "step") => {
                    let count = from.ints(slice_word(dialect, "start"))?.len();
                    Ok(Ints::from_elem(1, count))
                }
                None => from.ints(word),
            }
        },
        write: |name, value, of, f| {
            let dialect = match of {
                Op::Slice { dialect, .. } => *dialect,
                _ => SliceDialect::OpenVino,
            };
            list(f, slice_word(dialect, name), value)
        },
        change: many,
    }
}

/// What a dialect calls what OpenVINO calls by this name.
fn slice_word(dialect: SliceDialect, name: Name) -> Name {
    let words = SliceDialect::OpenVino.words().into_iter();
    let mut both = words.zip(dialect.words());
    both.find(|(own, _)| *own == name)
        .map_or(name, |(_, word)| word)
}

const ZERO_FLAGS: [Name; 2] = ["special_zero", "allow_zero"];

/// The dialect of a `reshape`, with the flag that says what 0 means in it.
pub(crate) const ZEROS: Spelling<ReshapeDialect> = Spelling {
    name: "dialect",
    words: |name, see| {
        const WORDS: &[&str] = &["plain", "openvino", "onnx", "tensorflow", "mindspore"];
        see(name, AttributeKind::Word(WORDS), false);
        for flag in ZERO_FLAGS {
            see(flag, AttributeKind::Flag, false);
        }
    },
    read: |name, from| {
        let word = from.word_if(name).unwrap_or("plain");
        let given = ZERO_FLAGS.into_iter().find(|flag| from.has(flag));
        let all = ReshapeDialect::ALL.iter();
        for own in all.clone().filter(|own| own.words().0 != word) {
            if let (own, Some(flag)) = own.words() {
                from.refuse(&[flag], &format!("without `dialect {own}`"))?;
            }
        }
        let mut fits = all.filter(|own| own.words() == (word, given));
        fits.next().copied().ok_or_else(|| from.without(name))
    },
    write: |name, value, _, f| match value.words() {
        ("plain", _) => Ok(()),
        (word, None) => write!(f, " {name} {word}"),
        (word, Some(flag)) => write!(f, " {name} {word} {flag}"),
    },
    change: none,
};

/// How a `broadcast` is lined up.
pub(crate) const LINED_UP: Spelling<BroadcastMode> = Spelling {
    name: "mode",
    words: |name, see| {
        see(name, AttributeKind::Word(BroadcastMode::WORDS), false);
        see("axes", AttributeKind::Ints, false);
    },
    read: |name, from| {
        let word = from.word_if(name).unwrap_or(BroadcastMode::Numpy.word());
        if word == BroadcastMode::Explicit(Ints::new()).word() {
            return Ok(BroadcastMode::Explicit(from.ints("axes")?));
        }
        from.refuse(&["axes"], "without `mode explicit`")?;
        Ok(match word == BroadcastMode::Bidirectional.word() {
            true => BroadcastMode::Bidirectional,
            false => BroadcastMode::Numpy,
        })
    },
    write: |name, value, _, f| match value {
        BroadcastMode::Numpy => Ok(()),
        BroadcastMode::Bidirectional => write!(f, " {name} {}", value.word()),
        BroadcastMode::Explicit(axes) => {
            write!(f, " {name} {}", value.word())?;
            list(f, "axes", axes)
        }
    },
    change: |value, see| {
        if let BroadcastMode::Explicit(axes) = value {
            see(Number::List(axes));
        }
    },
};

/// What fills a rim: bits, or a mode.
pub(crate) const RIM: Spelling<PadMode> = Spelling {
    name: "mode",
    words: |name, see| {
        see("constant", AttributeKind::Bits, false);
        see(name, AttributeKind::Word(PadMode::WORDS), false);
    },
    read: |name, from| {
        let Some(word) = from.word_if(name) else {
            return Ok(PadMode::Constant(from.bits_if("constant").unwrap_or(0)));
        };
        from.refuse(&["constant"], "beside `mode`")?;
        let mut all = PadMode::MODES.iter();
        let mode = all.find(|mode| mode.name() == word).copied();
        mode.ok_or_else(|| from.without(name))
    },
    write: |name, value, _, f| match value {
        PadMode::Constant(bits) => write!(f, " constant {bits:#x}"),
        mode => write!(f, " {name} {}", mode.name()),
    },
    change: |value, see| {
        if let PadMode::Constant(bits) = value {
            see(Number::Bits(bits));
        }
    },
};

/// The lengths of the parts of a `split`; left out, they are equal.
pub(crate) const LENGTHS: Spelling<Arc<[i64]>> = Spelling {
    name: "lengths",
    words: |name, see| see(name, AttributeKind::Ints, false),
    read: |name, from| Ok(from.ints(name)?.as_slice().into()),
    write: |name, value, _, f| list(f, name, value),
    change: |value, see| {
        let mut lengths = Ints::from_slice(value);
        see(Number::List(&mut lengths));
        *value = lengths.as_slice().into();
    },
};

/// Which part of a `split`; all of them where it is left out. It is written by who knows that.
pub(crate) const PART: Spelling<u32> = Spelling {
    name: "part",
    words: |name, see| see(name, AttributeKind::Int, false),
    read: |name, from| {
        let got = from.int(name)?;
        let part = u32::try_from(got).ok().filter(|&part| part < u32::MAX);
        part.ok_or_else(|| {
            let lengths = from.ints_if("lengths");
            let high = lengths.map_or(0, |lengths| lengths.len() as i64 - 1);
            let problem = Problem::OutOfRange { got, low: 0, high };
            from.locate(&Place::Attribute(name).refuse(problem).of("split"))
        })
    },
    write: |_, _, _, _| Ok(()),
    change: |value, see| {
        let mut part = i64::from(*value);
        see(Number::One(&mut part));
        *value = part as u32;
    },
};
