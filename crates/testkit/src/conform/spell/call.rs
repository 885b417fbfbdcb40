//! One call of a framework's operator: its inputs by position and name, its attributes, and the
//! graph that grows from it.

use restride_graph::{ElementType, Graph, Ints, Op, ValueId, oracle::Tensor};
use serde_json::Value;

use super::{SpellError, Spelled, require};
use crate::conform::case::{Array, Case};
use crate::conform::values;

/// The integer types that a framework takes for a parameter.
#[derive(Clone, Copy)]
pub(super) enum Allowed {
    /// Every integer type.
    AnyInteger,
    /// These.
    Only(&'static [ElementType]),
}

/// The ranks that a framework takes for a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// One axis.
    Vector,
    /// No axis or one.
    ScalarOrVector,
    /// One element, whatever the rank up to 1.
    OneElement,
    /// No axis.
    Scalar,
}

/// A call being spelled.
pub(super) struct Call<'a> {
    pub(super) case: &'a Case,
    slots: Vec<(&'static str, Option<&'a Array>)>,
    graph: Graph,
    tensors: Vec<Tensor>,
}

impl<'a> Call<'a> {
    pub(super) fn new(case: &'a Case) -> Call<'a> {
        Call {
            case,
            slots: Vec::new(),
            graph: Graph::new("case"),
            tensors: Vec::new(),
        }
    }

    /// Declares the inputs: each goes to the slot of its name; one whose name is not among them
    /// goes to the slot at its position, as optional inputs before it may not be left out then.
    pub(super) fn slots(&mut self, names: &[&'static str]) -> Result<(), SpellError> {
        self.slots = names.iter().map(|&name| (name, None)).collect();
        let mut unnamed = Vec::new();
        for (position, array) in self.case.inputs.iter().enumerate() {
            match self.slots.iter_mut().find(|(name, _)| *name == array.name) {
                Some((_, slot)) => *slot = Some(array),
                None => unnamed.push((position, array)),
            }
        }
        for (position, array) in unnamed {
            match self.slots.get_mut(position) {
                Some((_, slot @ None)) => *slot = Some(array),
                _ => {
                    return Err(SpellError::Unreadable(format!(
                        "input {position} (`{}`) has no place in {}",
                        array.name, self.case.opset
                    )));
                }
            }
        }
        Ok(())
    }

    /// The input of a slot, if it was given.
    pub(super) fn given(&self, slot: &str) -> Option<&'a Array> {
        self.slots
            .iter()
            .find(|(name, _)| *name == slot)
            .and_then(|(_, array)| *array)
    }

    /// The input of a slot.
    pub(super) fn input(&self, slot: &str) -> Result<&'a Array, SpellError> {
        self.given(slot)
            .ok_or_else(|| SpellError::Unreadable(format!("input `{slot}` is missing")))
    }

    /// The element type of a slot's input.
    pub(super) fn element(&self, slot: &str) -> Result<ElementType, SpellError> {
        values::element(self.input(slot)?).map_err(SpellError::Unreadable)
    }

    /// The rank of a slot's input.
    pub(super) fn rank(&self, slot: &str) -> Result<i64, SpellError> {
        Ok(self.input(slot)?.shape.len() as i64)
    }

    /// Makes an input an operand: run-time data.
    pub(super) fn operand(&mut self, slot: &str) -> Result<ValueId, SpellError> {
        let array = self.input(slot)?;
        self.array_operand(array)
    }

    /// The same for an input that stands in no slot.
    pub(super) fn array_operand(&mut self, array: &Array) -> Result<ValueId, SpellError> {
        let tensor = values::tensor(array).map_err(SpellError::Unreadable)?;
        let name = format!("in{}", self.tensors.len());
        let value = self.graph.typed_input(&name, tensor.ty().clone())?;
        self.tensors.push(tensor);
        Ok(value)
    }

    /// The numbers of a parameter, if it was given.
    pub(super) fn given_ints(
        &self,
        slot: &str,
        form: Form,
        allowed: Allowed,
    ) -> Result<Option<Ints>, SpellError> {
        let Some(array) = self.given(slot) else {
            return Ok(None);
        };
        let element = self.element(slot)?;
        let fits = match allowed {
            Allowed::AnyInteger => element.is_integer(),
            Allowed::Only(elements) => elements.contains(&element),
        };
        require!(
            fits,
            "{slot} is {element}, which {} does not take there",
            self.case.opset
        );
        let integers = values::integers(array).map_err(SpellError::Unreadable)?;
        let (rank, count) = (array.shape.len(), integers.len());
        let shaped = match form {
            Form::Vector => rank == 1,
            Form::ScalarOrVector => rank <= 1,
            Form::OneElement => rank <= 1 && count == 1,
            Form::Scalar => rank == 0,
        };
        require!(
            shaped,
            "{slot} has shape {:?}, which {} does not take there",
            array.shape,
            self.case.opset
        );
        Ok(Some(Ints::from_vec(integers)))
    }

    /// The numbers of a parameter.
    pub(super) fn ints(
        &self,
        slot: &str,
        form: Form,
        allowed: Allowed,
    ) -> Result<Ints, SpellError> {
        self.input(slot)?;
        Ok(self.given_ints(slot, form, allowed)?.unwrap_or_default())
    }

    /// The only number of a parameter.
    pub(super) fn int(&self, slot: &str, form: Form, allowed: Allowed) -> Result<i64, SpellError> {
        let ints = self.ints(slot, form, allowed)?;
        match ints.as_slice() {
            [value] => Ok(*value),
            _ => Err(SpellError::Refused(format!(
                "{slot} has {} elements",
                ints.len()
            ))),
        }
    }

    /// An attribute, if it was given.
    pub(super) fn attr(&self, name: &str) -> Option<&'a Value> {
        self.case.attrs.get(name).filter(|value| !value.is_null())
    }

    /// A whole-number attribute (booleans are 0 and 1), if it was given.
    pub(super) fn given_attr_int(&self, name: &str) -> Result<Option<i64>, SpellError> {
        let Some(value) = self.attr(name) else {
            return Ok(None);
        };
        let number = value.as_i64().or_else(|| value.as_bool().map(i64::from));
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(self.bad_attr(name, value)),
        }
    }

    /// A whole-number attribute.
    pub(super) fn attr_int(&self, name: &str, default: Option<i64>) -> Result<i64, SpellError> {
        (self.given_attr_int(name)?.or(default))
            .ok_or_else(|| SpellError::Unreadable(format!("attribute `{name}` is missing")))
    }

    /// A list attribute (one number is a list of one), if it was given.
    pub(super) fn given_attr_ints(&self, name: &str) -> Result<Option<Ints>, SpellError> {
        let Some(value) = self.attr(name) else {
            return Ok(None);
        };
        let list = match value {
            Value::Array(list) => list.iter().map(Value::as_i64).collect::<Option<Ints>>(),
            other => other.as_i64().map(|number| Ints::from_slice(&[number])),
        };
        list.map(Some).ok_or_else(|| self.bad_attr(name, value))
    }

    /// A word attribute.
    pub(super) fn attr_word(
        &self,
        name: &str,
        default: &'static str,
    ) -> Result<&'a str, SpellError> {
        match self.attr(name) {
            None => Ok(default),
            Some(value) => value.as_str().ok_or_else(|| self.bad_attr(name, value)),
        }
    }

    fn bad_attr(&self, name: &str, value: &Value) -> SpellError {
        SpellError::Unreadable(format!("attribute `{name}` is {value}"))
    }

    /// Adds an operator.
    pub(super) fn push(&mut self, op: Op) -> Result<ValueId, SpellError> {
        Ok(self.graph.push(op)?)
    }

    /// The sizes of a value so far.
    pub(super) fn shape(&self, value: ValueId) -> &[i64] {
        self.graph.ty(value).shape()
    }

    /// Hands a value out.
    pub(super) fn output(&mut self, value: ValueId) -> Result<(), SpellError> {
        Ok(self.graph.output(value)?)
    }

    /// Adds an operator and hands its value out.
    pub(super) fn result(&mut self, op: Op) -> Result<(), SpellError> {
        let value = self.push(op)?;
        self.output(value)
    }

    /// Spells a concatenation of every input.
    pub(super) fn concat(&mut self) -> Result<(), SpellError> {
        let arrays = &self.case.inputs;
        let parts = arrays
            .iter()
            .map(|array| self.array_operand(array))
            .collect::<Result<_, _>>()?;
        let axis = self.attr_int("axis", None)?;
        self.result(Op::Concat { parts, axis })
    }

    /// Adds a split into these lengths and hands all parts out.
    pub(super) fn split(&mut self, x: ValueId, axis: i64, lengths: Ints) -> Result<(), SpellError> {
        let lengths: std::sync::Arc<[i64]> = lengths.as_slice().into();
        for part in 0..lengths.len() as u32 {
            self.result(Op::Split {
                x,
                axis,
                lengths: std::sync::Arc::clone(&lengths),
                part,
            })?;
        }
        Ok(())
    }

    /// The size of `x`'s axis that a split names.
    pub(super) fn split_size(&self, x: ValueId, axis: i64) -> Result<i64, SpellError> {
        let shape = self.shape(x);
        let rank = shape.len() as i64;
        require!(
            -rank <= axis && axis < rank,
            "axis {axis} is not in {}..{rank}",
            -rank
        );
        Ok(shape[if axis < 0 { axis + rank } else { axis } as usize])
    }

    /// The operator is not one that this peer has here.
    pub(super) fn unknown(&self) -> SpellError {
        SpellError::Unreadable(format!(
            "{} of {} is not known",
            self.case.op, self.case.peer
        ))
    }

    /// The graph and its inputs.
    pub(super) fn finish(self) -> Spelled {
        Spelled {
            graph: self.graph,
            inputs: self.tensors,
        }
    }
}
