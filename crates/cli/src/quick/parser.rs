//! Statements and expressions.

use std::collections::HashMap;

use restride_graph::{ElementType, Graph, GraphError, MAX_RANK, Strided, TensorType, ValueId};
use restride_text::{Cursor, Diagnostic, Span, Token, TokenKind, closest};

use super::arguments::{Argument, Arguments, Integers};
use super::methods;

/// How deep parentheses and calls may nest.
const MAX_DEPTH: usize = 64;

/// The longest list of integers.
pub(super) const MAX_LIST: usize = 1 << 16;

pub(super) type Parsed<T> = Result<T, Diagnostic>;

/// The state of reading a program.
pub(super) struct ExpressionParser<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) graph: Graph,
    names: HashMap<&'a str, ValueId>,
    depth: usize,
}

impl<'a> ExpressionParser<'a> {
    pub(super) fn new(text: &'a str) -> Parsed<Self> {
        Ok(Self {
            cursor: Cursor::new(text)?,
            graph: Graph::new("quick"),
            names: HashMap::new(),
            depth: 0,
        })
    }

    pub(super) fn program(mut self) -> Parsed<Graph> {
        let mut last = None;
        while !self.cursor.at_end() {
            if self.cursor.eat(";") {
                continue;
            }
            last = self.statement()?.or(last);
            if !self.cursor.at_end() && !self.cursor.at_punct(";") {
                return Err(self
                    .no_arithmetic()
                    .unwrap_or_else(|| self.cursor.unexpected("`;` or the end")));
            }
        }
        if self.graph.outputs().is_empty() {
            let Some(value) = last else {
                let wanted = "an expression that is the output, such as `x[::-1]`";
                return Err(self.cursor.unexpected(wanted));
            };
            let span = self.cursor.span();
            let done = self.graph.output(value);
            done.map_err(|error| meaning(span, &error))?;
        }
        Ok(self.graph)
    }

    /// Reads a statement; the value if it names one without handing it out.
    fn statement(&mut self) -> Parsed<Option<ValueId>> {
        let mut ahead = self.cursor.clone();
        if let Ok(name) = ahead.name() {
            if ahead.at_punct(":") {
                self.input()?;
                while self.cursor.eat(",") {
                    self.input()?;
                }
                return Ok(None);
            }
            if ahead.at_punct("=") {
                self.cursor = ahead;
                self.cursor.expect("=")?;
                let value = self.expression()?;
                self.define(name.text, name.span, value)?;
                return Ok(Some(value));
            }
        }
        loop {
            let start = self.cursor.span();
            let value = self.expression()?;
            let span = self.cursor.span_since(start);
            let done = self.graph.output(value);
            done.map_err(|error| meaning(span, &error))?;
            if !self.cursor.eat(",") {
                return Ok(None);
            }
        }
    }

    /// What to say where a sum or a product goes on.
    fn no_arithmetic(&self) -> Option<Diagnostic> {
        let signs = ["+", "*", "/", "<", ">", "|"];
        let negative = self.cursor.at_int()
            && matches!(self.cursor.peek(), Ok(token) if token.text.starts_with('-'));
        let is_sign = negative || signs.iter().any(|sign| self.cursor.at_punct(sign));
        is_sign.then(|| {
            Diagnostic::new(self.cursor.span(), "there is no arithmetic here")
                .help("restride moves elements and never computes with them")
        })
    }

    fn define(&mut self, name: &'a str, span: Span, value: ValueId) -> Parsed<()> {
        if self.names.contains_key(name) {
            return Err(Diagnostic::new(
                span,
                format!("`{name}` has a value already"),
            ));
        }
        if self.graph.value_name(value).is_none() {
            let named = self.graph.set_name(value, name);
            named.map_err(|error| meaning(span, &error))?;
        }
        self.names.insert(name, value);
        Ok(())
    }

    fn input(&mut self) -> Parsed<()> {
        let no_input =
            |wrong: Diagnostic| wrong.help("after the last input comes a `;`: `x: f32[2,3]; x.T`");
        let name = self.cursor.name().map_err(no_input)?;
        self.cursor.expect(":").map_err(no_input)?;
        let start = self.cursor.span();
        let word = self.cursor.name()?;
        let element: ElementType = word.text.parse().map_err(|error| {
            let known = ElementType::ALL.map(ElementType::name);
            let wrong = Diagnostic::new(word.span, format!("{error}"));
            let meant = ElementType::called(word.text).map(ElementType::name);
            match meant.or_else(|| closest(word.text, known)) {
                Some(name) => wrong.help(format!("did you mean `{name}`?")),
                None => wrong.help(format!("there are {}", known.join(", "))),
            }
        })?;
        let shape = self.cursor.int_list(MAX_RANK);
        let shape = shape.map_err(|wrong| match self.cursor.name() {
            Ok(_) => {
                wrong.help("sizes have names only where `bench --first --vary` says what they are")
            }
            Err(_) => wrong,
        })?;
        let mut ty = TensorType::dense(element, &shape);
        if self.cursor.eat_name("strides") {
            let strides = self.cursor.int_list(MAX_RANK)?.iter().copied().collect();
            let offset = match self.cursor.eat_name("offset") {
                true => self.cursor.int()?.text,
                false => 0,
            };
            ty = ty.and_then(|ty| ty.with_layout(Strided { offset, strides }));
        }
        let span = self.cursor.span_since(start);
        let ty = ty.map_err(|error| Diagnostic::new(span, error.to_string()))?;
        let input = self.graph.typed_input("", ty);
        let value = input.map_err(|error| meaning(span, &error))?;
        self.define(name.text, name.span, value)
    }

    /// Reads an expression.
    pub(super) fn expression(&mut self) -> Parsed<ValueId> {
        if self.depth == MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH}");
            return Err(Diagnostic::new(self.cursor.span(), message));
        }
        self.depth += 1;
        let start = self.cursor.span();
        let mut value = self.atom()?;
        loop {
            if self.cursor.at_punct("[") {
                value = self.subscript(value, start)?;
            } else if self.cursor.eat(".") {
                value = self.method(value, start)?;
            } else {
                self.depth -= 1;
                return Ok(value);
            }
        }
    }

    fn atom(&mut self) -> Parsed<ValueId> {
        if self.cursor.at_punct("[") {
            let start = self.cursor.span();
            let list = Integers::read(&mut self.cursor)?;
            return self.table(&list, self.cursor.span_since(start));
        }
        if self.cursor.eat("(") {
            let value = self.expression()?;
            self.cursor.expect(")")?;
            return Ok(value);
        }
        let wanted = "a name, such as that of an input";
        if !matches!(
            self.cursor.peek()?,
            Token {
                kind: TokenKind::Name,
                ..
            }
        ) {
            return Err(self.cursor.unexpected(wanted));
        }
        let mut name = self.cursor.name()?;
        // `np.roll(x, 1)`, unless that is what somebody calls a tensor.
        let is_numpy = ["np", "numpy"].contains(&name.text) && !self.names.contains_key(name.text);
        if is_numpy && self.cursor.eat(".") {
            name = self.cursor.name()?;
            if !self.cursor.at_punct("(") {
                return Err(methods::no_function(name));
            }
        }
        if self.cursor.at_punct("(") {
            let arguments = self.arguments()?;
            let span = self.cursor.span_since(name.span);
            return methods::function(self, name, arguments, span);
        }
        match self.names.get(name.text) {
            Some(value) => Ok(*value),
            None => {
                let message = format!("there is no value `{}`", name.text);
                let wrong = Diagnostic::new(name.span, message);
                Err(wrong.help(self.which_names(name.text)))
            }
        }
    }

    /// What could have been meant by a name that stands for nothing.
    fn which_names(&self, name: &str) -> String {
        let mut known: Vec<&str> = self.names.keys().copied().collect();
        known.sort_unstable();
        // Any letter is close to any other.
        let near = closest(name, known.iter().copied()).filter(|_| name.chars().count() > 1);
        if name.parse::<ElementType>().is_ok() {
            return format!(
                "`{name}` is an element type: an input is declared as `x: {name}[4, 6]`"
            );
        }
        match (near, known.as_slice()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => format!("inputs are declared first: `{name}: f32[4, 6]; ...`"),
            (None, [one]) => format!("there is `{one}`"),
            (None, all) => format!("there are `{}`", all.join("`, `")),
        }
    }

    fn method(&mut self, x: ValueId, start: Span) -> Parsed<ValueId> {
        let name = self.cursor.name()?;
        let arguments = match self.cursor.at_punct("(") {
            true => Some(self.arguments()?),
            false => None,
        };
        let span = self.cursor.span_since(start);
        methods::method(self, x, name, arguments, span)
    }

    /// A constant index tensor.
    pub(super) fn table(&mut self, list: &Integers, span: Span) -> Parsed<ValueId> {
        let table = self.graph.index_table(&list.shape, &list.values);
        table.map_err(|error| meaning(span, &error))
    }

    fn arguments(&mut self) -> Parsed<Arguments<'a>> {
        let mut arguments = Arguments::default();
        let mut ahead = self.cursor.clone();
        let start = ahead.expect("(")?;
        self.cursor = ahead;
        while !self.cursor.at_punct(")") {
            let mut ahead = self.cursor.clone();
            let keyword = match ahead.name() {
                Ok(name) if ahead.eat("=") => {
                    self.cursor = ahead;
                    Some(name)
                }
                Ok(_) | Err(_) => None,
            };
            let start = self.cursor.span();
            let argument = self.argument()?;
            let span = self.cursor.span_since(start);
            arguments.push(keyword, argument, span)?;
            if !self.cursor.eat(",") && !self.cursor.at_punct(")") {
                return Err(self.cursor.unexpected("`,` or `)`"));
            }
        }
        let end = self.cursor.expect(")")?;
        arguments.span = start.to(end);
        Ok(arguments)
    }

    fn argument(&mut self) -> Parsed<Argument<'a>> {
        if self.cursor.at_int() {
            return Ok(Argument::Int(self.cursor.int()?.text));
        }
        if let Ok(Token {
            kind: TokenKind::String,
            text,
            ..
        }) = self.cursor.peek()
        {
            self.cursor.bump()?;
            return Ok(Argument::Word(text));
        }
        if self.cursor.at_punct("[") || self.cursor.at_punct("(") {
            // A list of integers, or one of expressions.
            let mut ahead = self.cursor.clone();
            if let Ok(list) = Integers::read(&mut ahead) {
                self.cursor = ahead;
                return Ok(Argument::List(list));
            }
            return self.values();
        }
        let mut ahead = self.cursor.clone();
        let name = ahead.name()?;
        let is_word =
            !self.names.contains_key(name.text) && (ahead.at_punct(",") || ahead.at_punct(")"));
        if is_word {
            self.cursor = ahead;
            return Ok(Argument::Word(name.text));
        }
        Ok(Argument::Value(self.expression()?))
    }

    /// A list of expressions, or one in parentheses.
    fn values(&mut self) -> Parsed<Argument<'a>> {
        let mut ahead = self.cursor.clone();
        let close = if ahead.eat("[") { "]" } else { ")" };
        if close == ")" {
            ahead.expect("(")?;
        }
        self.cursor = ahead;
        let mut values = vec![self.expression()?];
        while self.cursor.eat(",") && !self.cursor.at_punct(close) {
            values.push(self.expression()?);
        }
        self.cursor.expect(close)?;
        Ok(match values.as_slice() {
            [one] if close == ")" => Argument::Value(*one),
            _ => Argument::Values(values),
        })
    }
}

/// What the graph refused, at the place it was asked for.
pub(super) fn meaning(span: Span, error: &GraphError) -> Diagnostic {
    Diagnostic::new(span, error.to_string())
}
