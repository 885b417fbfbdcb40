//! Reading a function.
//!
//! A statement that is wrong is reported and skipped; the values it would have made are remembered
//! as broken, so that one mistake gives one report. Nothing recurses, and what is kept is bounded
//! by a small multiple of the text.

use std::sync::Arc;

use restride_text::{Cursor, Diagnostic, Diagnostics, Span, TokenKind};
use smallvec::SmallVec;

use super::attributes::{Attributes, unknown};
use super::data::{self, Said};
use super::scope::{Label, LabelScope, name_of};
use super::spelling::PART;
use crate::{
    ElementType, Graph, GraphError, MAX_VALUES, OPERATORS, Op, Operands, TensorType, ValueId,
    ViewPolicy, resolve,
};

impl Graph {
    /// Reads the text form. Everything that is wrong is reported, up to a bound.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::Graph;
    /// use restride::Source;
    ///
    /// let g = Graph::parse("func @f(%x: f32[4, 6]) { %y = transpose %x perm [1, 0] return %y }")?;
    /// assert_eq!(g.ty(g.named("y").unwrap()).to_string(), "f32[6, 4]");
    ///
    /// let text = "func @f(%x: f32[4, 6]) {\n  %y = reverse %x axes [0, 2]\n  return %y\n}\n";
    /// let errors = Graph::parse(text).unwrap_err().render(&Source::new("f.mv", text));
    /// assert_eq!(errors, "\
    /// error: reverse: axes[1]: 2 is no axis of rank 2 (-2..=1)
    ///  --> f.mv:2:28
    ///   |
    /// 2 |   %y = reverse %x axes [0, 2]
    ///   |                            ^
    /// ");
    /// # Ok::<(), restride_text::Diagnostics>(())
    /// ```
    pub fn parse(text: &str) -> Result<Graph, Diagnostics> {
        let mut parser = Parser {
            text,
            cursor: Cursor::new(text)?,
            graph: Graph::new("main"),
            scope: LabelScope::default(),
            errors: Diagnostics::default(),
        };
        if let Err(error) = parser.function() {
            parser.errors.push(error);
        }
        match parser.errors.is_empty() {
            true => Ok(parser.graph),
            false => Err(parser.errors),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    cursor: Cursor<'a>,
    graph: Graph,
    scope: LabelScope<'a>,
    errors: Diagnostics,
}

/// A statement is either read to its end and wrong in itself, or not readable to its end.
enum StatementError {
    Meaning(Diagnostic),
    Syntax(Diagnostic),
    /// An operand is broken; that has been reported.
    Broken,
}

impl From<Diagnostic> for StatementError {
    fn from(error: Diagnostic) -> StatementError {
        StatementError::Syntax(error)
    }
}

type Labels<'a> = SmallVec<[Label<'a>; 2]>;

impl<'a> Parser<'a> {
    fn function(&mut self) -> Result<(), Diagnostic> {
        self.cursor.expect_name("func")?;
        let name = self.cursor.symbol()?;
        if !crate::graph::is_name(name.text) {
            return Err(Diagnostic::new(
                name.span,
                "this is not a valid name for a function",
            ));
        }
        self.graph = Graph::new(name.text);
        self.cursor.expect("(")?;
        while !self.cursor.at_punct(")") {
            self.input()?;
            if self.errors.is_full() {
                return Ok(());
            }
            if !self.cursor.eat(",") && !self.cursor.at_punct(")") {
                return Err(self.cursor.unexpected("`,` or `)`"));
            }
        }
        self.cursor.expect(")")?;
        self.cursor.expect("{")?;
        while !self.cursor.at_name("return") {
            if self.cursor.at_end() || self.cursor.at_punct("}") {
                return Err(self.cursor.unexpected("a statement or `return`"));
            }
            self.statement();
            if self.errors.is_full() {
                return Ok(());
            }
        }
        self.cursor.expect_name("return")?;
        while self.cursor.at_value() {
            self.output()?;
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.eat(";");
        self.cursor.expect("}")?;
        match self.cursor.at_end() {
            true => Ok(()),
            false => Err(self.cursor.unexpected("the end of the text")),
        }
    }

    fn input(&mut self) -> Result<(), Diagnostic> {
        let label = self.cursor.value()?;
        self.cursor.expect(":")?;
        let start = self.cursor.span();
        // The brackets of a type are balanced whatever it says, so the next input can be read.
        let ty = data::ty(&mut self.cursor)?;
        let span = self.cursor.span_since(start);
        let element = ty.as_ref().map_or(ElementType::I128, TensorType::element);
        let sample = match self.cursor.eat("=") {
            true => Some(data::sample(&mut self.cursor, element)?),
            false => None,
        };
        let id = ty.and_then(|ty| {
            let name = name_of(label)?;
            self.scope.free(label)?;
            let input = self.graph.typed_input(name, ty);
            let id = input.map_err(|error| Diagnostic::new(span, error.to_string()))?;
            if let Some(sample) = sample {
                self.graph.set_sample(id, sample?);
            }
            Ok(id)
        });
        let id = match id {
            Ok(id) => {
                self.graph.set_span(id, label.span.to(span));
                Some(id)
            }
            Err(error) => {
                self.errors.push(error);
                None
            }
        };
        self.scope.define(label, id);
        Ok(())
    }

    fn output(&mut self) -> Result<(), Diagnostic> {
        let label = self.cursor.value()?;
        let layout = data::layout(&mut self.cursor)?;
        let views = match layout {
            Some(_) => ViewPolicy::Any,
            None => ViewPolicy::read(|word| self.cursor.eat_name(word)),
        };
        let span = self.cursor.span_since(label.span);
        let value = match self.scope.lookup(label, &self.graph) {
            Ok(Some(value)) => value,
            Ok(None) => return Ok(()),
            Err(error) => {
                self.errors.push(error);
                return Ok(());
            }
        };
        let added = match layout {
            Some(layout) => self.graph.strided_output(value, layout),
            None => self.graph.output_as(value, views),
        };
        if let Err(error) = added {
            self.errors.push(Diagnostic::new(span, error.to_string()));
        }
        Ok(())
    }

    /// Reads one statement, or reports it and goes on after it.
    fn statement(&mut self) {
        let start = self.cursor.span();
        let mut labels = Labels::new();
        let failure = match self.labelled(&mut labels) {
            Ok(()) => return,
            Err(failure) => failure,
        };
        match failure {
            StatementError::Broken => {}
            StatementError::Meaning(error) => self.errors.push(error),
            StatementError::Syntax(error) => {
                self.errors.push(error);
                self.recover(start);
            }
        }
        for label in labels {
            self.scope.define(label, None);
        }
    }

    /// Goes to the next line that looks like the start of a statement, or of the end.
    fn recover(&mut self, start: Span) {
        if self.cursor.span() == start {
            self.cursor.skip_line();
        }
        loop {
            let at = self.cursor.span().start as usize;
            let line = self.text.get(..at).unwrap_or("").rsplit('\n').next();
            let first = line.is_none_or(|before| before.trim().is_empty());
            let likely = self.cursor.at_value()
                || self.cursor.at_name("return")
                || self.cursor.at_punct("}");
            if self.cursor.at_end() || first && likely {
                return;
            }
            self.cursor.skip_line();
        }
    }

    fn labelled(&mut self, labels: &mut Labels<'a>) -> Result<(), StatementError> {
        let start = self.cursor.span();
        self.values(labels, resolve::MAX_PARTS)?;
        self.cursor.expect("=")?;
        let op = self.cursor.name()?;
        let mut attributes = Attributes::new(op);
        let made = match op.text {
            "constant" => data::constant(&mut self.cursor)
                .map_err(StatementError::Syntax)
                .and_then(|said| said.map_err(StatementError::Meaning))
                .map(|constant| SmallVec::from_iter([Op::Constant(constant)])),
            _ => self.operator(&mut attributes, labels.len()),
        };
        // The rest of the statement is read even if the operator is wrong in itself.
        let ops = match made {
            Ok(ops) => Ok(ops),
            Err(StatementError::Syntax(error)) => return Err(StatementError::Syntax(error)),
            Err(failure @ (StatementError::Meaning(_) | StatementError::Broken)) => Err(failure),
        };
        let annotated = match self.cursor.eat(":") {
            true => {
                let start = self.cursor.span();
                let ty = data::ty(&mut self.cursor)?;
                Some((ty, self.cursor.span_since(start)))
            }
            false => None,
        };
        self.cursor.eat(";");
        let ops = ops?;
        if ops.len() != labels.len() {
            let (values, names) = (ops.len(), labels.len());
            let s = if values == 1 { "" } else { "s" };
            let message = format!("{} makes {values} value{s}, not {names}", op.text);
            return Err(StatementError::Meaning(Diagnostic::new(op.span, message)));
        }
        let span = self.cursor.span_since(start);
        for (label, op) in labels.iter().zip(ops) {
            self.define(*label, op, &attributes, span)?;
        }
        match annotated {
            None => Ok(()),
            Some((ty, span)) => self
                .check_type(labels, ty, span)
                .map_err(StatementError::Meaning),
        }
    }

    /// `%a, %b, ...`, at most so many.
    fn values(&mut self, values: &mut Labels<'a>, limit: usize) -> Result<(), Diagnostic> {
        loop {
            let value = self.cursor.value()?;
            if values.len() == limit {
                let message = format!("more than {limit} values");
                return Err(Diagnostic::new(value.span, message));
            }
            values.push(value);
            if !self.cursor.eat(",") {
                // Another value begins the next statement, or lacks a comma before it.
                let mut ahead = self.cursor.clone();
                let another = self.cursor.peek()?.kind == TokenKind::Value;
                if another && ahead.bump().is_ok() && !matches!(ahead.peek()?.text, "=" | ",") {
                    return Err(self.cursor.unexpected("`,`"));
                }
                return Ok(());
            }
        }
    }

    /// Operands and attributes; the operators of the values to be made.
    fn operator(
        &mut self,
        attributes: &mut Attributes<'a>,
        results: usize,
    ) -> Result<SmallVec<[Op; 1]>, StatementError> {
        let op = attributes.op;
        let Some(row) = OPERATORS.iter().find(|row| row.name == op.text) else {
            let names = OPERATORS.iter().map(|row| row.name).chain(["constant"]);
            return Err(unknown("operator", op, names).into());
        };
        let mut values = Labels::new();
        self.values(&mut values, MAX_VALUES)?;
        attributes.operands = values.iter().map(|value| value.span).collect();
        attributes.read(&mut self.cursor, row)?;
        let expected = row.operands.len();
        if values.len() != expected && !row.many {
            let s = if expected == 1 { "" } else { "s" };
            let message = format!(
                "{} reads {expected} value{s}, not {}",
                op.text,
                values.len()
            );
            return Err(StatementError::Meaning(Diagnostic::new(op.span, message)));
        }
        let mut operands = Operands::new();
        for value in values {
            match self
                .scope
                .lookup(value, &self.graph)
                .map_err(StatementError::Meaning)?
            {
                Some(id) => operands.push(id),
                None => return Err(StatementError::Broken),
            }
        }
        if let ("split", [x]) = (op.text, &operands[..]) {
            return self.split(attributes, *x, results);
        }
        let op = (row.read)(attributes, &operands).map_err(StatementError::Meaning)?;
        Ok(SmallVec::from_iter([op]))
    }

    /// `split`: one operator per part, or the one that `part` names.
    fn split(
        &self,
        attributes: &Attributes<'_>,
        x: ValueId,
        results: usize,
    ) -> Result<SmallVec<[Op; 1]>, StatementError> {
        let axis = attributes.int("axis").map_err(StatementError::Meaning)?;
        let lengths: Arc<[i64]> = match attributes.ints_if("lengths") {
            Some(lengths) => lengths.as_slice().into(),
            None => resolve::equal_parts(self.graph.ty(x).shape(), axis, results, false)
                .map_err(|error| StatementError::Meaning(attributes.locate(&error.of("split"))))?
                .as_slice()
                .into(),
        };
        let parts = match attributes.has("part") {
            true => {
                let part = PART.read(attributes).map_err(StatementError::Meaning)?;
                part..part + 1
            }
            false => 0..u32::try_from(lengths.len().min(resolve::MAX_PARTS)).unwrap_or(0),
        };
        let part = |part| Op::Split {
            x,
            axis,
            lengths: Arc::clone(&lengths),
            part,
        };
        Ok(parts.map(part).collect())
    }

    fn define(
        &mut self,
        label: Label<'a>,
        op: Op,
        attributes: &Attributes<'_>,
        span: Span,
    ) -> Result<(), StatementError> {
        let name = name_of(label).map_err(StatementError::Meaning)?;
        self.scope.free(label).map_err(StatementError::Meaning)?;
        let located = |error: GraphError| StatementError::Meaning(attributes.locate(&error));
        let id = self.graph.push(op).map_err(located)?;
        if !name.is_empty() {
            self.graph.set_name(id, name).map_err(located)?;
        }
        self.graph.set_span(id, span);
        self.scope.define(label, Some(id));
        Ok(())
    }

    /// The type written after a statement is the type it has.
    fn check_type(
        &self,
        labels: &Labels<'a>,
        ty: Said<TensorType>,
        span: Span,
    ) -> Result<(), Diagnostic> {
        let expected = ty?;
        let Some(id) = labels.first().and_then(|label| self.scope.get(*label)) else {
            return Ok(());
        };
        let got = self.graph.ty(id);
        if *got == expected && labels.len() == 1 {
            return Ok(());
        }
        let message = match labels.len() {
            1 => format!("%{} has type {got}, not {expected}", labels[0].text),
            _ => "a type is written after one value only".to_owned(),
        };
        Err(Diagnostic::new(span, message))
    }
}
