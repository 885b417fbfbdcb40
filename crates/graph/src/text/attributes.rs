//! A statement's attributes, read by its signature, each with its place in the text.

use restride_text::{Cursor, Diagnostic, Span, Spanned, closest};
use smallvec::SmallVec;

use crate::error::Place;
use crate::op::Operator;
use crate::{GraphError, Ints, MAX_VALUES};

/// What stands after an attribute's name.
#[derive(Clone, Copy)]
pub(crate) enum AttributeKind {
    /// An integer.
    Int,
    /// A list of integers.
    Ints,
    /// An unsigned bit pattern.
    Bits,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Nothing: the name says it all.
    Flag,
}

/// The attributes of one statement.
pub(crate) struct Attributes<'a> {
    /// The operator's name and where it stands.
    pub(super) op: Spanned<&'a str>,
    /// Where the operands stand.
    pub(super) operands: SmallVec<[Span; 4]>,
    entries: SmallVec<[Attribute; 8]>,
}

struct Attribute {
    name: &'static str,
    span: Span,
    value: AttributeValue,
}

enum AttributeValue {
    Int(i64),
    Ints(Ints, SmallVec<[Span; 6]>),
    Bits(u128),
    Word(&'static str),
    Flag,
}

impl<'a> Attributes<'a> {
    /// None yet.
    pub(super) fn new(op: Spanned<&'a str>) -> Attributes<'a> {
        Attributes {
            op,
            operands: SmallVec::new(),
            entries: SmallVec::new(),
        }
    }

    /// Reads attributes up to whatever is no name.
    pub(super) fn read(
        &mut self,
        cursor: &mut Cursor<'a>,
        row: &Operator,
    ) -> Result<(), Diagnostic> {
        while !cursor.at_name("return") && cursor.peek()?.kind == restride_text::TokenKind::Name {
            let word = cursor.name()?;
            let mut known = None;
            row.words(&mut |name, kind, _| {
                if name == word.text {
                    known = Some((name, kind));
                }
            });
            let Some((name, kind)) = known else {
                return Err(unknown_attribute(word, row));
            };
            if self.find(name).is_some() {
                let message = format!("`{name}` is given twice");
                return Err(Diagnostic::new(word.span, message));
            }
            let start = cursor.span();
            let value = read_value(cursor, kind)?;
            let span = match value {
                AttributeValue::Flag => word.span,
                AttributeValue::Int(_)
                | AttributeValue::Ints(..)
                | AttributeValue::Bits(_)
                | AttributeValue::Word(_) => cursor.span_since(start),
            };
            self.entries.push(Attribute { name, span, value });
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&Attribute> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Whether an attribute is given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// An operator that reads something, and got nothing.
    pub(crate) fn without_operands(&self) -> Diagnostic {
        Diagnostic::new(self.op.span, format!("{} reads nothing", self.op.text))
    }

    /// An attribute that must be there, and is not.
    pub(crate) fn without(&self, name: &str) -> Diagnostic {
        Diagnostic::new(self.op.span, format!("{} needs `{name}`", self.op.text))
    }

    /// An integer, if given.
    pub(crate) fn int_if(&self, name: &str) -> Option<i64> {
        match self.find(name)?.value {
            AttributeValue::Int(value) => Some(value),
            AttributeValue::Ints(..)
            | AttributeValue::Bits(_)
            | AttributeValue::Word(_)
            | AttributeValue::Flag => None,
        }
    }

    /// An integer that must be there.
    pub(crate) fn int(&self, name: &str) -> Result<i64, Diagnostic> {
        self.int_if(name).ok_or_else(|| self.without(name))
    }

    /// A list, if given.
    pub(crate) fn ints_if(&self, name: &str) -> Option<Ints> {
        match &self.find(name)?.value {
            AttributeValue::Ints(items, _) => Some(items.clone()),
            AttributeValue::Int(_)
            | AttributeValue::Bits(_)
            | AttributeValue::Word(_)
            | AttributeValue::Flag => None,
        }
    }

    /// A list that must be there.
    pub(crate) fn ints(&self, name: &str) -> Result<Ints, Diagnostic> {
        self.ints_if(name).ok_or_else(|| self.without(name))
    }

    /// A bit pattern, if given.
    pub(crate) fn bits_if(&self, name: &str) -> Option<u128> {
        match self.find(name)?.value {
            AttributeValue::Bits(value) => Some(value),
            AttributeValue::Int(_)
            | AttributeValue::Ints(..)
            | AttributeValue::Word(_)
            | AttributeValue::Flag => None,
        }
    }

    /// A word, if given.
    pub(crate) fn word_if(&self, name: &str) -> Option<&'static str> {
        match self.find(name)?.value {
            AttributeValue::Word(word) => Some(word),
            AttributeValue::Int(_)
            | AttributeValue::Ints(..)
            | AttributeValue::Bits(_)
            | AttributeValue::Flag => None,
        }
    }

    /// A word that must be there.
    pub(crate) fn word(&self, name: &str, words: &[&str]) -> Result<&'static str, Diagnostic> {
        self.word_if(name).ok_or_else(|| {
            let words = words.join("`, `");
            self.without(name).help(format!("one of `{words}`"))
        })
    }

    /// Refuses attributes that only make sense elsewhere.
    pub(crate) fn refuse(&self, names: &[&str], why: &str) -> Result<(), Diagnostic> {
        match self
            .entries
            .iter()
            .find(|entry| names.contains(&entry.name))
        {
            None => Ok(()),
            Some(entry) => {
                let message = format!("`{}` has no place {why}", entry.name);
                Err(Diagnostic::new(entry.span, message))
            }
        }
    }

    /// The place in the text that an error is about.
    pub(crate) fn locate(&self, error: &GraphError) -> Diagnostic {
        let span = match error.at {
            Place::Whole | Place::Result => None,
            Place::Operand(operand) => self.operands.get(operand).copied(),
            Place::Attribute(name) => self.find(name).map(|entry| entry.span),
            Place::Entry(name, position) => self.find(name).map(|entry| match &entry.value {
                AttributeValue::Ints(_, spans) => {
                    spans.get(position).copied().unwrap_or(entry.span)
                }
                AttributeValue::Int(_)
                | AttributeValue::Bits(_)
                | AttributeValue::Word(_)
                | AttributeValue::Flag => entry.span,
            }),
        };
        let diagnostic = Diagnostic::new(span.unwrap_or(self.op.span), error.to_string());
        match error.advice() {
            Some(advice) => diagnostic.help(advice),
            None => diagnostic,
        }
    }
}

fn read_value(cursor: &mut Cursor<'_>, kind: AttributeKind) -> Result<AttributeValue, Diagnostic> {
    Ok(match kind {
        AttributeKind::Int => AttributeValue::Int(cursor.int()?.text),
        AttributeKind::Bits => AttributeValue::Bits(cursor.bits()?.text),
        AttributeKind::Flag => AttributeValue::Flag,
        AttributeKind::Ints => {
            let (mut items, mut spans) = (Ints::new(), SmallVec::new());
            cursor.list("[", "]", MAX_VALUES, |cursor| {
                let item = cursor.int()?;
                items.push(item.text);
                spans.push(item.span);
                Ok(())
            })?;
            AttributeValue::Ints(items, spans)
        }
        AttributeKind::Word(words) => {
            let word = cursor.name()?;
            match words.iter().find(|known| **known == word.text) {
                Some(known) => AttributeValue::Word(known),
                None => return Err(unknown("value", word, words.iter().copied())),
            }
        }
    })
}

fn unknown_attribute(word: Spanned<&str>, row: &Operator) -> Diagnostic {
    let mut names: Vec<&str> = Vec::new();
    row.words(&mut |name, _, _| names.push(name));
    let what = format!("attribute of {}", row.name);
    unknown(&what, word, names.into_iter())
}

/// `slcie` is no operator; did you mean `slice`?
pub(super) fn unknown<'a>(
    what: &str,
    word: Spanned<&str>,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let shown: String = word.text.chars().take(40).collect();
    let error = Diagnostic::new(word.span, format!("unknown {what} `{shown}`"));
    match closest(word.text, known.clone()) {
        Some(name) => error.help(format!("did you mean `{name}`?")),
        None => {
            let all: Vec<&str> = known.collect();
            match all.len() {
                0 => error,
                _ => error.help(format!("it is one of `{}`", all.join("`, `"))),
            }
        }
    }
}
