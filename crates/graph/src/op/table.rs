//! What the table of operators is turned into: the enum, names, operands, and both ways of text.

use std::fmt::{self, Formatter};

use restride_text::Diagnostic;

use super::{Ints, Operands};
use crate::ValueId;
use crate::text::{AttributeKind, Attributes, Spelling, Words};

/// A row of the table of operators: what a statement of it may say.
pub struct Operator {
    /// The name in the text form.
    pub name: &'static str,
    /// What it does, in a few lines.
    pub summary: &'static str,
    /// What its operands are called.
    pub operands: &'static [&'static str],
    /// Whether the last of them stands for one or more.
    pub many: bool,
    pub(crate) attributes: &'static [&'static dyn Words],
    pub(crate) read: fn(&Attributes<'_>, &[ValueId]) -> Result<super::Op, Diagnostic>,
}

impl Operator {
    /// Calls `see` with every attribute's name, what stands after it, and whether it must be there.
    pub(crate) fn words(&self, see: &mut dyn FnMut(&'static str, AttributeKind, bool)) {
        self.attributes
            .iter()
            .for_each(|attribute| attribute.words(see));
    }

    /// The form of its statements, what may be left out in brackets.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// let mut gathers = restride::OPERATORS.iter().filter(|op| op.name == "gather");
    /// let form = "gather %x, %indices axis N [batch_dims N] out_of_range zero|clamp|error [wrap]";
    /// assert_eq!(gathers.next().unwrap().form(), form);
    /// ```
    pub fn form(&self) -> String {
        let mut form = self.name.to_owned();
        for (k, operand) in self.operands.iter().enumerate() {
            form.push_str(if k == 0 { " %" } else { ", %" });
            form.push_str(operand);
        }
        if self.many {
            form.push_str(", ..");
        }
        self.words(&mut |name, kind, needed| {
            let word = match kind {
                AttributeKind::Int => format!("{name} N"),
                AttributeKind::Ints => format!("{name} [N, ..]"),
                AttributeKind::Bits => format!("{name} BITS"),
                AttributeKind::Word(words) => format!("{name} {}", words.join("|")),
                AttributeKind::Flag => name.to_owned(),
            };
            let word = if needed { word } else { format!("[{word}]") };
            form.push(' ');
            form.push_str(&word);
        });
        form
    }
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.form())
    }
}

/// A number among the attributes of an operator.
#[derive(Debug)]
pub enum Number<'a> {
    /// One number.
    One(&'a mut i64),
    /// A list of any length.
    List(&'a mut Ints),
    /// Bits of an element.
    Bits(&'a mut u128),
}

/// What an operator reads: one value, or several.
pub(crate) trait Reads: Sized {
    const MANY: bool;
    /// Takes its values off the front of the operands.
    fn take(from: &mut &[ValueId]) -> Option<Self>;
    fn values(&self, into: &mut Operands);
    fn change(&mut self, see: &mut dyn FnMut(&mut ValueId));
}

impl Reads for ValueId {
    const MANY: bool = false;

    fn take(from: &mut &[ValueId]) -> Option<ValueId> {
        let (first, rest) = from.split_first()?;
        *from = rest;
        Some(*first)
    }

    fn values(&self, into: &mut Operands) {
        into.push(*self);
    }

    fn change(&mut self, see: &mut dyn FnMut(&mut ValueId)) {
        see(self);
    }
}

impl Reads for Operands {
    const MANY: bool = true;

    fn take(from: &mut &[ValueId]) -> Option<Operands> {
        let all = std::mem::take(from);
        (!all.is_empty()).then(|| Operands::from_slice(all))
    }

    fn values(&self, into: &mut Operands) {
        into.extend_from_slice(self);
    }

    fn change(&mut self, see: &mut dyn FnMut(&mut ValueId)) {
        self.iter_mut().for_each(see);
    }
}

/// How a field of this type is spelled.
pub(super) const fn of<T>(spelling: Spelling<T>) -> Spelling<T> {
    spelling
}

/// Rows are `Variant "name" (operand: type, ..) { field: type = how it is spelled, .. }`.
macro_rules! operators {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident $name:literal
        ($($operand:ident: $reads:ty),+)
        { $($field:ident: $ty:ty = $spelling:expr),* $(,)? }
    )+) => {
        /// One operator with its attributes. Operands come first in each variant.
        #[allow(missing_docs, reason = "the fields carry the frameworks' own names")]
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            /// A graph input; its type stands with its value.
            Input,
            /// A dense constant, such as an index table.
            Constant(Constant),
            $($(#[doc = $doc])+ $variant { $($operand: $reads,)+ $($field: $ty,)* },)+
        }

        /// All operators but `input` and `constant`, which have statements of their own.
        pub const OPERATORS: &[Operator] = &[$(Operator {
            name: $name,
            summary: concat!($($doc, "\n"),+),
            operands: &[$(stringify!($operand)),+],
            many: $(<$reads as Reads>::MANY)||+,
            attributes: &[$(&of::<$ty>($spelling)),*],
            #[allow(unused_variables, reason = "some have no attributes")]
            read: |attributes, mut operands| Ok(Op::$variant {
                $($operand: Reads::take(&mut operands)
                    .ok_or_else(|| attributes.without_operands())?,)+
                $($field: of::<$ty>($spelling).read(attributes)?,)*
            }),
        }),+];

        impl Op {
            /// The name of the operator in the text form.
            pub fn name(&self) -> &'static str {
                match self {
                    Op::Input => "input",
                    Op::Constant(_) => "constant",
                    $(Op::$variant { .. } => $name,)+
                }
            }

            /// The values it reads, in order.
            pub fn operands(&self) -> Operands {
                let mut all = Operands::new();
                match self {
                    Op::Input | Op::Constant(_) => {}
                    $(Op::$variant { $($operand,)+ .. } => {
                        $($operand.values(&mut all);)+
                    })+
                }
                all
            }

            /// Calls `see` with every value it reads, in order.
            pub fn change_operands(&mut self, mut see: impl FnMut(&mut ValueId)) {
                match self {
                    Op::Input | Op::Constant(_) => {}
                    $(Op::$variant { $($operand,)+ .. } => {
                        $($operand.change(&mut see);)+
                    })+
                }
            }

            /// Calls `see` with every number and list of numbers among its attributes, in order.
            pub fn change_numbers(&mut self, mut see: impl FnMut(Number<'_>)) {
                match self {
                    Op::Input | Op::Constant(_) => {}
                    $(Op::$variant { $($field,)* .. } => {
                        $(of::<$ty>($spelling).change($field, &mut see);)*
                    })+
                }
            }

            /// Writes its attributes, each after a space.
            pub(crate) fn write_attributes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Op::Input | Op::Constant(_) => {}
                    $(Op::$variant { $($field,)* .. } => {
                        $(of::<$ty>($spelling).write($field, self, f)?;)*
                    })+
                }
                Ok(())
            }
        }
    };
}

pub(super) use operators;
