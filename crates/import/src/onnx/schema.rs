//! The messages of an ONNX file, as far as they say what a model computes: texts and weights are
//! borrowed from the file.

use super::wire::{Fields, ReadBudget, WireValue};
use crate::error::{ImportError, shown};

/// Declares a message: its fields, their numbers and how each is read.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $ty:ty = $number:literal $how:ident,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub(super) struct $name<'a> {
            $(pub(super) $field: $ty,)*
            #[allow(dead_code, reason = "not every message borrows")]
            borrowed: std::marker::PhantomData<&'a ()>,
        }

        impl<'a> $name<'a> {
            pub(super) fn read(bytes: &'a [u8], budget: &mut ReadBudget) -> Result<Self, ImportError> {
                let mut message = Self::default();
                let mut fields = Fields::new(bytes);
                while let Some((number, value)) = fields.next()? {
                    match number {
                        $($number => $how(&mut message.$field, value, budget, stringify!($field))?,)*
                        _ => {}
                    }
                }
                Ok(message)
            }
        }

        impl<'a> Message<'a> for $name<'a> {
            fn read(bytes: &'a [u8], budget: &mut ReadBudget) -> Result<Self, ImportError> {
                Self::read(bytes, budget)
            }
        }
    )*};
}

trait Message<'a>: Sized {
    fn read(bytes: &'a [u8], budget: &mut ReadBudget) -> Result<Self, ImportError>;
}

type Done = Result<(), ImportError>;

fn at<T>(done: Result<T, ImportError>, field: &str) -> Result<T, ImportError> {
    done.map_err(|error| error.inside(field))
}

fn text<'a>(slot: &mut &'a str, value: WireValue<'a>, _: &mut ReadBudget, field: &str) -> Done {
    *slot = at(value.text(), field)?;
    Ok(())
}

fn texts<'a>(
    slot: &mut Vec<&'a str>,
    value: WireValue<'a>,
    _: &mut ReadBudget,
    field: &str,
) -> Done {
    let part = || format!("{field}[{}]", slot.len());
    let text = value.text().map_err(|error| error.inside(part()))?;
    slot.push(text);
    Ok(())
}

fn bytes<'a>(
    slot: &mut Option<&'a [u8]>,
    value: WireValue<'a>,
    _: &mut ReadBudget,
    field: &str,
) -> Done {
    *slot = Some(at(value.bytes(), field)?);
    Ok(())
}

fn byte_lists<'a>(
    slot: &mut Vec<&'a [u8]>,
    value: WireValue<'a>,
    _: &mut ReadBudget,
    field: &str,
) -> Done {
    slot.push(at(value.bytes(), field)?);
    Ok(())
}

fn int(slot: &mut i64, value: WireValue<'_>, _: &mut ReadBudget, field: &str) -> Done {
    *slot = at(value.int(), field)?;
    Ok(())
}

fn maybe_int(
    slot: &mut Option<i64>,
    value: WireValue<'_>,
    _: &mut ReadBudget,
    field: &str,
) -> Done {
    *slot = Some(at(value.int(), field)?);
    Ok(())
}

fn float(slot: &mut f32, value: WireValue<'_>, _: &mut ReadBudget, field: &str) -> Done {
    *slot = at(value.float(), field)?;
    Ok(())
}

fn ints(slot: &mut Vec<i64>, value: WireValue<'_>, _: &mut ReadBudget, field: &str) -> Done {
    at(value.ints_into(slot), field)
}

fn floats(slot: &mut Vec<f32>, value: WireValue<'_>, _: &mut ReadBudget, field: &str) -> Done {
    at(value.floats_into(slot), field)
}

fn doubles(slot: &mut Vec<f64>, value: WireValue<'_>, _: &mut ReadBudget, field: &str) -> Done {
    at(value.doubles_into(slot), field)
}

fn message<'a, T: Message<'a>>(
    slot: &mut Option<Box<T>>,
    value: WireValue<'a>,
    budget: &mut ReadBudget,
    field: &str,
) -> Done {
    let read = |budget: &mut ReadBudget| T::read(value.bytes()?, budget);
    *slot = Some(Box::new(at(budget.nested(read), field)?));
    Ok(())
}

fn messages<'a, T: Message<'a>>(
    slot: &mut Vec<T>,
    value: WireValue<'a>,
    budget: &mut ReadBudget,
    field: &str,
) -> Done {
    let part = || format!("{field}[{}]", slot.len());
    let read = |budget: &mut ReadBudget| T::read(value.bytes()?, budget);
    let read = budget.nested(read).map_err(|error| error.inside(part()))?;
    slot.push(read);
    Ok(())
}

messages! {
    /// A file.
    ModelProto {
        producer: &'a str = 2 text,
        graph: Option<Box<GraphProto<'a>>> = 7 message,
        opsets: Vec<OpsetProto<'a>> = 8 messages,
        functions: Vec<FunctionProto<'a>> = 25 messages,
    }

    /// Whose operators a model uses, and in which version.
    OpsetProto {
        domain: &'a str = 1 text,
        version: i64 = 2 int,
    }

    /// Nodes, weights, inputs and outputs.
    GraphProto {
        node: Vec<NodeProto<'a>> = 1 messages,
        name: &'a str = 2 text,
        initializer: Vec<TensorProto<'a>> = 5 messages,
        input: Vec<ValueInfoProto<'a>> = 11 messages,
        output: Vec<ValueInfoProto<'a>> = 12 messages,
        value_info: Vec<ValueInfoProto<'a>> = 13 messages,
        sparse_initializer: Vec<SparseProto<'a>> = 15 messages,
    }

    /// A call of an operator.
    NodeProto {
        input: Vec<&'a str> = 1 texts,
        output: Vec<&'a str> = 2 texts,
        name: &'a str = 3 text,
        op_type: &'a str = 4 text,
        attribute: Vec<AttributeProto<'a>> = 5 messages,
        domain: &'a str = 7 text,
    }

    /// An operator that the model brings along.
    FunctionProto {
        name: &'a str = 1 text,
        input: Vec<&'a str> = 4 texts,
        output: Vec<&'a str> = 5 texts,
        node: Vec<NodeProto<'a>> = 7 messages,
        opsets: Vec<OpsetProto<'a>> = 9 messages,
        domain: &'a str = 10 text,
        attribute_proto: Vec<AttributeProto<'a>> = 11 messages,
        value_info: Vec<ValueInfoProto<'a>> = 12 messages,
    }

    /// An attribute: the type says which of the fields counts.
    AttributeProto {
        name: &'a str = 1 text,
        f: f32 = 2 float,
        i: i64 = 3 int,
        s: Option<&'a [u8]> = 4 bytes,
        t: Option<Box<TensorProto<'a>>> = 5 message,
        g: Option<Box<GraphProto<'a>>> = 6 message,
        floats: Vec<f32> = 7 floats,
        ints: Vec<i64> = 8 ints,
        strings: Vec<&'a [u8]> = 9 byte_lists,
        kind: i64 = 20 int,
        reference: &'a str = 21 text,
    }

    /// A tensor: in one of several fields, or in another file.
    TensorProto {
        dims: Vec<i64> = 1 ints,
        data_type: i64 = 2 int,
        float_data: Vec<f32> = 4 floats,
        int32_data: Vec<i64> = 5 ints,
        int64_data: Vec<i64> = 7 ints,
        name: &'a str = 8 text,
        raw_data: Option<&'a [u8]> = 9 bytes,
        double_data: Vec<f64> = 10 doubles,
        uint64_data: Vec<i64> = 11 ints,
        external_data: Vec<EntryProto<'a>> = 13 messages,
        data_location: i64 = 14 int,
    }

    /// A sparse tensor, of which only the type matters here.
    SparseProto {
        values: Option<Box<TensorProto<'a>>> = 1 message,
        dims: Vec<i64> = 3 ints,
    }

    /// A key and its value.
    EntryProto {
        key: &'a str = 1 text,
        value: &'a str = 2 text,
    }

    /// A name and its type.
    ValueInfoProto {
        name: &'a str = 1 text,
        ty: Option<Box<TypeProto<'a>>> = 2 message,
    }

    /// The type of a value, as far as it is a tensor.
    TypeProto {
        tensor: Option<Box<TensorTypeProto<'a>>> = 1 message,
    }

    /// An element and a shape.
    TensorTypeProto {
        element: i64 = 1 int,
        shape: Option<Box<ShapeProto<'a>>> = 2 message,
    }

    /// The sizes.
    ShapeProto {
        dim: Vec<DimProto<'a>> = 1 messages,
    }

    /// A size, or the name of one.
    DimProto {
        value: Option<i64> = 1 maybe_int,
        name: &'a str = 2 text,
    }
}

impl NodeProto<'_> {
    /// How a message names it.
    pub(super) fn shown(&self) -> String {
        match self.name {
            "" => format!(" ({})", shown(self.op_type)),
            name => format!(" ({} \"{}\")", shown(self.op_type), shown(name)),
        }
    }
}
