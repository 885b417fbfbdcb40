//! Arguments of methods and functions, and nested lists of integers.

use restride_graph::{MAX_RANK, ValueId};
use restride_text::{Cursor, Diagnostic, Span, Spanned, closest};

use super::parser::{MAX_LIST, Parsed};

/// A rectangular list of lists of integers, row-major.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Integers {
    /// The length at each depth, outermost first.
    pub(super) shape: Vec<i64>,
    /// The integers.
    pub(super) values: Vec<i64>,
}

impl Integers {
    /// Reads `[1, 2]`, `(1, 2)`, `[[1], [2]]`, ... without recursion.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Parsed<Self> {
        let start = cursor.span();
        let mut open: Vec<(&str, i64)> = Vec::new();
        let mut shape: Vec<Option<i64>> = Vec::new();
        let mut leaf_depth = None;
        let mut values = Vec::new();
        loop {
            let brackets = [("[", "]"), ("(", ")")];
            if let Some((_, close)) = brackets.iter().find(|(open, _)| cursor.eat(open)) {
                if open.len() == MAX_RANK {
                    return Err(Diagnostic::new(start, "the list is nested too deep"));
                }
                open.push((close, 0));
                if shape.len() < open.len() {
                    shape.push(None);
                }
                if !cursor.at_punct(close) {
                    continue;
                }
            } else {
                let at = cursor.int()?;
                if values.len() == MAX_LIST {
                    let message = format!("a list of more than {MAX_LIST} entries");
                    return Err(Diagnostic::new(at.span, message));
                }
                if *leaf_depth.get_or_insert(open.len()) != open.len() {
                    return Err(Diagnostic::new(at.span, "the list is not rectangular"));
                }
                values.push(at.text);
                if let Some((_, count)) = open.last_mut() {
                    *count += 1;
                }
                if cursor.eat(",") && !open.last().is_some_and(|(c, _)| cursor.at_punct(c)) {
                    continue;
                }
            }
            // Close as many lists as end here.
            while let Some(&(close, count)) = open.last() {
                if !cursor.at_punct(close) {
                    return Err(cursor.unexpected(&format!("`,` or `{close}`")));
                }
                cursor.expect(close)?;
                open.pop();
                let known = shape[open.len()].get_or_insert(count);
                if *known != count {
                    let span = cursor.span_since(start);
                    return Err(Diagnostic::new(span, "the list is not rectangular"));
                }
                if let Some((_, count)) = open.last_mut() {
                    *count += 1;
                }
                // What follows the whole list is not part of it.
                let more = !open.is_empty() && cursor.eat(",");
                if more && !open.last().is_some_and(|(c, _)| cursor.at_punct(c)) {
                    break;
                }
            }
            if open.is_empty() {
                let rectangular = leaf_depth.is_none_or(|depth| depth == shape.len());
                if !rectangular {
                    let span = cursor.span_since(start);
                    return Err(Diagnostic::new(span, "the list is not rectangular"));
                }
                let shape = shape.into_iter().map(|n| n.unwrap_or(0)).collect();
                return Ok(Self { shape, values });
            }
        }
    }
}

/// One argument.
#[derive(Clone, Debug)]
pub(super) enum Argument<'a> {
    /// An integer.
    Int(i64),
    /// Integers.
    List(Integers),
    /// A tensor.
    Value(ValueId),
    /// Tensors.
    Values(Vec<ValueId>),
    /// A name that is no value: a mode, `None`.
    Word(&'a str),
}

impl Argument<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Int(_) => "an integer",
            Self::List(_) => "a list of integers",
            Self::Value(_) => "a tensor",
            Self::Values(_) => "a list of tensors",
            Self::Word(_) => "a word",
        }
    }
}

/// The arguments of a call. Each is taken once; what is left over is an error.
#[derive(Default)]
pub(super) struct Arguments<'a> {
    /// The whole list with its parentheses.
    pub(super) span: Span,
    plain: std::collections::VecDeque<(Argument<'a>, Span)>,
    named: Vec<(Spanned<&'a str>, Argument<'a>, Span)>,
    asked: Vec<&'static str>,
}

impl<'a> Arguments<'a> {
    pub(super) fn push(
        &mut self,
        keyword: Option<Spanned<&'a str>>,
        argument: Argument<'a>,
        span: Span,
    ) -> Parsed<()> {
        match keyword {
            Some(name) if self.named.iter().any(|(n, ..)| n.text == name.text) => {
                let message = format!("`{}` is given twice", name.text);
                return Err(Diagnostic::new(name.span, message));
            }
            Some(name) => self.named.push((name, argument, span)),
            None if !self.named.is_empty() => {
                let message = "an argument without a name after one with a name";
                return Err(Diagnostic::new(span, message));
            }
            None => self.plain.push_back((argument, span)),
        }
        Ok(())
    }

    /// The next argument by place, or that of a name.
    pub(super) fn take(&mut self, name: &'static str) -> Option<(Argument<'a>, Span)> {
        self.plain.pop_front().or_else(|| self.take_named(name))
    }

    /// The argument of a name.
    pub(super) fn take_named(&mut self, name: &'static str) -> Option<(Argument<'a>, Span)> {
        self.asked.push(name);
        let at = self.named.iter().position(|(n, ..)| n.text == name)?;
        let (_, argument, span) = self.named.remove(at);
        Some((argument, span))
    }

    fn missing(&self, name: &str, what: &str) -> Diagnostic {
        Diagnostic::new(self.span, format!("`{name}` is missing: {what}"))
    }

    /// An integer.
    pub(super) fn int(&mut self, name: &'static str) -> Parsed<i64> {
        let found = self.optional_int(name)?;
        found.ok_or_else(|| self.missing(name, "an integer"))
    }

    /// An integer, if it is there; `None` counts as absent.
    pub(super) fn optional_int(&mut self, name: &'static str) -> Parsed<Option<i64>> {
        match self.take(name) {
            None | Some((Argument::Word("None"), _)) => Ok(None),
            Some((Argument::Int(value), _)) => Ok(Some(value)),
            Some((other, span)) => Err(wanted(name, "an integer", &other, span)),
        }
    }

    /// Integers: a list, or one.
    pub(super) fn optional_ints(&mut self, name: &'static str) -> Parsed<Option<Vec<i64>>> {
        match self.take(name) {
            None | Some((Argument::Word("None"), _)) => Ok(None),
            Some((Argument::Int(value), _)) => Ok(Some(vec![value])),
            Some((Argument::List(list), _)) if list.shape.len() == 1 => Ok(Some(list.values)),
            Some((other, span)) => Err(wanted(name, "a list of integers", &other, span)),
        }
    }

    /// All integers that are left by place: `(1, 2, 3)`, `([1, 2, 3])` or `name=(1, 2, 3)`.
    pub(super) fn rest_of_ints(&mut self, name: &'static str) -> Parsed<Vec<i64>> {
        if let [(Argument::Int(_), _), ..] = self.plain.make_contiguous() {
            let mut values = Vec::new();
            while let Some((argument, span)) = self.plain.pop_front() {
                match argument {
                    Argument::Int(value) => values.push(value),
                    other => return Err(wanted(name, "an integer", &other, span)),
                }
            }
            return Ok(values);
        }
        let list = self.optional_ints(name)?;
        list.ok_or_else(|| self.missing(name, "integers"))
    }

    /// Whether arguments by place are left.
    pub(super) fn has_more(&self) -> bool {
        !self.plain.is_empty()
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Parsed<()> {
        if let Some((_, span)) = self.plain.front() {
            return Err(Diagnostic::new(*span, "one argument too many"));
        }
        match self.named.first() {
            None => Ok(()),
            Some((name, ..)) => {
                let message = format!("there is no argument `{}`", name.text);
                let wrong = Diagnostic::new(name.span, message);
                Err(match closest(name.text, self.asked.iter().copied()) {
                    Some(known) => wrong.help(format!("did you mean `{known}`?")),
                    None => wrong,
                })
            }
        }
    }
}

/// An argument of another kind was wanted.
pub(super) fn wanted(name: &str, what: &str, got: &Argument<'_>, span: Span) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` is {what}, not {}", got.kind()))
}
