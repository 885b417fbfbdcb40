//! Parsing, see [`crate::text`] for the grammar.

use crate::ir::{
    Builder, Canonical, Coordinate, Index, MAX_AXES, NodeId, Obligation, Policy, Type,
};
use crate::scalar;
use restride_graph::{ElementType, Shape, Strided, ViewPolicy};
use restride_layout::{Axes, Sizes, Span, View};
use restride_text::{Cursor, Diagnostic, closest};
use smallvec::SmallVec;
use std::collections::HashMap;

const OPS: &str =
    "input constant slice permute collapse expand broadcast windows whole gather concat fill";

/// The longest list of parts or constant elements.
const MAX_LIST: usize = 1 << 24;

/// Reads a canonical graph.
pub fn parse(text: &str) -> Result<Canonical, Diagnostic> {
    let mut parser = Parser {
        cursor: Cursor::new(text)?,
        builder: Builder::new(),
        names: HashMap::new(),
    };
    parser.graph()?;
    Ok(parser.builder.finish())
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    builder: Builder,
    names: HashMap<&'a str, NodeId>,
}

/// An operation whose type has not been read yet.
enum Untyped {
    Input(Option<Strided>),
    Constant(Vec<i128>),
    /// The sizes of an expand and of a broadcast are those of the type.
    View(NodeId, View),
    Whole(NodeId),
    Gather(NodeId, Vec<Coordinate>),
    Concat(Vec<NodeId>, u8),
    Fill(u128),
}

impl<'a> Parser<'a> {
    fn graph(&mut self) -> Result<(), Diagnostic> {
        self.cursor.expect_name("canonical")?;
        self.cursor.expect("{")?;
        while !self.cursor.eat("}") {
            if self.cursor.at_name("check") {
                self.check()?;
            } else if self.cursor.at_name("output") {
                self.output()?;
            } else {
                self.node()?;
            }
        }
        if self.cursor.at_end() {
            Ok(())
        } else {
            Err(self.cursor.unexpected("the end of the text"))
        }
    }

    fn node(&mut self) -> Result<(), Diagnostic> {
        let start = self.cursor.span();
        let name = self.cursor.value()?;
        self.cursor.expect("=")?;
        let spelled = self.op()?;
        self.cursor.expect(":")?;
        let ty = self.ty()?;
        let span = self.cursor.span_since(start);
        let id = self
            .build(spelled, &ty)
            .map_err(|message| Diagnostic::new(span, message))?;
        let found = self.builder.graph().ty(id);
        if *found != ty {
            let message = format!("the type is {found}, not {ty}");
            return Err(Diagnostic::new(span, message));
        }
        if self.names.insert(name.text, id).is_some() {
            let message = format!("%{} is defined twice", name.text);
            return Err(Diagnostic::new(name.span, message));
        }
        Ok(())
    }

    fn build(&mut self, spelled: Untyped, ty: &Type) -> Result<NodeId, String> {
        let builder = &mut self.builder;
        match spelled {
            Untyped::Input(layout) => builder.input(ty.element, &ty.shape, layout),
            Untyped::Constant(values) => {
                let bytes = constant_bytes(ty.element, &values)?;
                builder.constant(ty.element, &ty.shape, bytes.into())
            }
            Untyped::View(x, mut view) => {
                if let View::Expand { sizes, .. } | View::Broadcast { sizes } = &mut view {
                    *sizes = Sizes::from_slice(&ty.shape);
                }
                builder.view(x, &view)
            }
            Untyped::Whole(x) => builder.whole(x),
            Untyped::Gather(x, coordinates) => builder.gather(x, &coordinates),
            Untyped::Concat(parts, axis) => builder.concat(&parts, axis),
            Untyped::Fill(bits) => builder.fill(ty.element, &ty.shape, bits),
        }
        .map_err(|error| error.to_string())
    }

    fn op(&mut self) -> Result<Untyped, Diagnostic> {
        let op = self.cursor.name()?;
        Ok(match op.text {
            "input" => Untyped::Input(self.layout()?),
            "constant" => Untyped::Constant(self.numbers()?),
            "slice" => Untyped::View(self.operand()?, View::Slice(self.spans()?)),
            "permute" => Untyped::View(self.operand()?, View::Permute(self.axes()?)),
            "collapse" => {
                let (x, groups) = (self.operand()?, self.groups()?);
                Untyped::View(x, View::Collapse { groups })
            }
            "expand" => {
                let (x, groups, sizes) = (self.operand()?, self.groups()?, Sizes::new());
                Untyped::View(x, View::Expand { groups, sizes })
            }
            "broadcast" => {
                let (x, sizes) = (self.operand()?, Sizes::new());
                Untyped::View(x, View::Broadcast { sizes })
            }
            "windows" => {
                let x = self.operand()?;
                self.cursor.expect_name("axis")?;
                let axis = usize::from(self.axis()?);
                self.cursor.expect_name("size")?;
                let size = self.cursor.int()?.text;
                Untyped::View(x, View::Windows { axis, size })
            }
            "whole" => Untyped::Whole(self.operand()?),
            "gather" => Untyped::Gather(self.operand()?, self.coordinates()?),
            "concat" => {
                let parts = self.parts()?;
                self.cursor.expect_name("axis")?;
                Untyped::Concat(parts, self.axis()?)
            }
            "fill" => Untyped::Fill(self.cursor.bits()?.text),
            other => {
                let error = Diagnostic::new(op.span, format!("no canonical node is `{other}`"));
                return Err(match closest(other, OPS.split(' ')) {
                    Some(name) => error.help(format!("did you mean `{name}`?")),
                    None => error,
                });
            }
        })
    }

    fn operand(&mut self) -> Result<NodeId, Diagnostic> {
        let name = self.cursor.value()?;
        self.names.get(name.text).copied().ok_or_else(|| {
            let message = format!("%{} is not defined above", name.text);
            Diagnostic::new(name.span, message)
        })
    }

    fn axis(&mut self) -> Result<u8, Diagnostic> {
        let last = MAX_AXES as i128 - 1;
        Ok(self.cursor.int_in(0, last)?.text as u8)
    }

    fn output_axis(&mut self) -> Result<u8, Diagnostic> {
        let name = self.cursor.name()?;
        let number = name.text.strip_prefix('o').and_then(|n| n.parse().ok());
        number
            .filter(|&n: &u8| usize::from(n) < MAX_AXES)
            .ok_or_else(|| Diagnostic::new(name.span, "expected an output axis such as o0"))
    }

    fn axes(&mut self) -> Result<Axes, Diagnostic> {
        let list = self.cursor.int_list(MAX_AXES)?;
        // An axis beyond any rank is refused by the constructor.
        Ok(list
            .iter()
            .map(|&a| usize::try_from(a).unwrap_or(usize::MAX))
            .collect())
    }

    fn groups(&mut self) -> Result<Axes, Diagnostic> {
        let mut groups = Axes::new();
        let mut next = 0;
        let mut cursor = self.cursor.clone();
        cursor.list("[", "]", MAX_AXES, |cursor| {
            let span = cursor.span();
            let axes = cursor.int_list(MAX_AXES)?;
            let expected = (next..).take(axes.len());
            if !axes.iter().copied().eq(expected) {
                let message = format!("groups name the axes in order; expected {next} here");
                return Err(Diagnostic::new(span, message));
            }
            next += axes.len() as i64;
            groups.push(axes.len());
            Ok(())
        })?;
        self.cursor = cursor;
        Ok(groups)
    }

    fn spans(&mut self) -> Result<SmallVec<[Span; 6]>, Diagnostic> {
        let mut spans = SmallVec::new();
        self.cursor.list("[", "]", MAX_AXES, |cursor| {
            let start = cursor.int()?.text;
            cursor.expect(":")?;
            let len = cursor.int()?.text;
            cursor.expect(":")?;
            let step = cursor.int()?.text;
            spans.push(Span { start, len, step });
            Ok(())
        })?;
        Ok(spans)
    }

    fn numbers(&mut self) -> Result<Vec<i128>, Diagnostic> {
        let mut values = Vec::new();
        self.cursor.list("[", "]", MAX_LIST, |cursor| {
            let negative = cursor.peek().is_ok_and(|token| token.text.starts_with('-'));
            values.push(if negative {
                cursor.int_in(i128::MIN, -1)?.text
            } else {
                // The upper half of 128 bits is kept as a bit pattern.
                cursor.bits()?.text as i128
            });
            Ok(())
        })?;
        Ok(values)
    }

    fn parts(&mut self) -> Result<Vec<NodeId>, Diagnostic> {
        self.cursor.expect("[")?;
        let mut parts = Vec::new();
        while !self.cursor.eat("]") {
            parts.push(self.operand()?);
            if !self.cursor.eat(",") && !self.cursor.at_punct("]") {
                return Err(self.cursor.unexpected("`,` or `]`"));
            }
        }
        Ok(parts)
    }

    fn coordinates(&mut self) -> Result<Vec<Coordinate>, Diagnostic> {
        self.cursor.expect("[")?;
        let mut coordinates = Vec::new();
        while !self.cursor.eat("]") {
            coordinates.push(if self.cursor.at_value() {
                Coordinate::Index(self.index()?)
            } else {
                Coordinate::Output(self.output_axis()?)
            });
            if !self.cursor.eat(",") && !self.cursor.at_punct("]") {
                return Err(self.cursor.unexpected("`,` or `]`"));
            }
        }
        Ok(coordinates)
    }

    fn index(&mut self) -> Result<Index, Diagnostic> {
        let node = self.operand()?;
        self.cursor.expect("(")?;
        let mut outputs = SmallVec::new();
        while !self.cursor.eat(")") {
            outputs.push(self.output_axis()?);
            if !self.cursor.eat(",") && !self.cursor.at_punct(")") {
                return Err(self.cursor.unexpected("`,` or `)`"));
            }
        }
        let wrap = self.cursor.eat_name("wrap");
        let policy = if self.cursor.eat_name("clamp") {
            Policy::Clamp
        } else {
            Policy::Zero
        };
        Ok(Index {
            node,
            outputs,
            wrap,
            policy,
        })
    }

    fn layout(&mut self) -> Result<Option<Strided>, Diagnostic> {
        if !self.cursor.eat_name("strides") {
            return Ok(None);
        }
        let strides = self.cursor.int_list(MAX_AXES)?;
        let offset = match self.cursor.eat_name("offset") {
            true => self.cursor.int()?.text,
            false => 0,
        };
        Ok(Some(Strided { offset, strides }))
    }

    fn ty(&mut self) -> Result<Type, Diagnostic> {
        let name = self.cursor.name()?;
        let element: ElementType = name
            .text
            .parse()
            .map_err(|error| Diagnostic::new(name.span, format!("{error}")))?;
        let shape: Shape = self.cursor.int_list(MAX_AXES)?;
        Ok(Type { element, shape })
    }

    fn check(&mut self) -> Result<(), Diagnostic> {
        let start = self.cursor.expect_name("check")?;
        let node = self.operand()?;
        self.cursor.expect_name("limit")?;
        let limit = self.cursor.int()?.text;
        let wrap = self.cursor.eat_name("wrap");
        self.cursor.expect_name("op")?;
        let number = |cursor: &mut Cursor<'_>| cursor.int_in(0, i128::from(u32::MAX));
        let op = number(&mut self.cursor)?.text as u32;
        let (mut column, mut columns) = (0, 1);
        if self.cursor.eat_name("column") {
            column = number(&mut self.cursor)?.text as u32;
            self.cursor.expect_name("of")?;
            columns = number(&mut self.cursor)?.text as u32;
        }
        let span = self.cursor.span_since(start);
        let check = Obligation {
            node,
            limit,
            wrap,
            op,
            column,
            columns,
        };
        let made = self.builder.check(check);
        made.map_err(|error| Diagnostic::new(span, error.to_string()))
    }

    fn output(&mut self) -> Result<(), Diagnostic> {
        let start = self.cursor.expect_name("output")?;
        let node = self.operand()?;
        let layout = self.layout()?;
        let views = match layout {
            Some(_) => ViewPolicy::Any,
            None => ViewPolicy::read(|word| self.cursor.eat_name(word)),
        };
        let span = self.cursor.span_since(start);
        let made = self.builder.output_as(node, layout, views);
        made.map_err(|error| Diagnostic::new(span, error.to_string()))
    }
}

fn constant_bytes(element: ElementType, values: &[i128]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(values.len() * element.width());
    for (position, &value) in values.iter().enumerate() {
        let bits = scalar::encode(element, value)
            .ok_or_else(|| format!("element {position} is {value}, which is no {element}"))?;
        scalar::push(&mut bytes, element.width(), bits);
    }
    Ok(bytes)
}
