//! One call of a framework's operator: its inputs by position or name, its attributes, and the
//! operators that it becomes.

use restride_graph::{Constant, ElementType, Graph, Ints, Op, ValueId};

use super::{Attribute, Inputs, SpellError, Spelling, require};

/// The most parts of a split, and the most integers of a parameter.
const MOST: usize = 1 << 16;

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
pub(super) enum ListForm {
    /// One axis.
    Vector,
    /// No axis or one.
    ScalarOrVector,
    /// One element, whatever the rank up to 1.
    OneElement,
    /// No axis.
    Scalar,
}

/// What spells the calls of an operator.
#[derive(Clone, Copy)]
pub(super) enum Speller {
    /// By one operator, which is the result.
    One(fn(&mut SpelledCall<'_>) -> Result<Op, SpellError>),
    /// By several, or with several results.
    Several(fn(&mut SpelledCall<'_>) -> Result<(), SpellError>),
}

/// An operator of a framework: its name, the names of its inputs (`*` for any number of them), and
/// what spells its calls.
pub(super) type Row = (&'static str, &'static str, Speller);

/// A call being spelled.
pub(super) struct SpelledCall<'a> {
    pub(super) spelling: Spelling<'a>,
    inputs: &'a mut dyn Inputs,
    /// The position of each named input, if it was given.
    slots: Vec<(&'static str, Option<usize>)>,
    graph: &'a mut Graph,
    results: Vec<ValueId>,
}

impl<'a> SpelledCall<'a> {
    pub(super) fn new(
        spelling: Spelling<'a>,
        inputs: &'a mut dyn Inputs,
        graph: &'a mut Graph,
    ) -> SpelledCall<'a> {
        SpelledCall {
            spelling,
            inputs,
            slots: Vec::new(),
            graph,
            results: Vec::new(),
        }
    }

    /// The operator with its version, for messages.
    pub(super) fn named(&self) -> String {
        match self.spelling.version {
            0 => self.spelling.op.to_owned(),
            version => format!("{}-{version}", self.spelling.op),
        }
    }

    /// Spells it by its row.
    pub(super) fn spell(&mut self, &(_, slots, speller): &Row) -> Result<(), SpellError> {
        if slots != "*" {
            self.slots(slots)?;
        }
        match speller {
            Speller::One(spell) => {
                let op = spell(self)?;
                self.result(op)
            }
            Speller::Several(spell) => spell(self),
        }
    }

    /// Declares the inputs: each goes to the slot of its name; one whose name is not among them
    /// goes to the slot at its position.
    fn slots(&mut self, names: &'static str) -> Result<(), SpellError> {
        self.slots = names.split(' ').map(|name| (name, None)).collect();
        let mut unnamed = Vec::new();
        for position in 0..self.inputs.count() {
            if self.inputs.ty(position).is_none() {
                continue;
            }
            let given = self.inputs.name(position);
            match self.slots.iter_mut().find(|(name, _)| *name == given) {
                Some((_, slot)) => *slot = Some(position),
                None => unnamed.push(position),
            }
        }
        for position in unnamed {
            match self.slots.get_mut(position) {
                Some((_, slot @ None)) => *slot = Some(position),
                Some(_) | None => {
                    return Err(SpellError::Unreadable(format!(
                        "input {position} (`{}`) has no place in {}",
                        self.inputs.name(position),
                        self.named()
                    )));
                }
            }
        }
        Ok(())
    }

    /// The position of a slot's input, if it was given.
    pub(super) fn given(&self, slot: &str) -> Option<usize> {
        self.slots
            .iter()
            .find(|(name, _)| *name == slot)
            .and_then(|(_, position)| *position)
    }

    /// The position of a slot's input.
    fn input(&self, slot: &str) -> Result<usize, SpellError> {
        self.given(slot)
            .ok_or_else(|| SpellError::Unreadable(format!("input `{slot}` is missing")))
    }

    fn ty(&self, slot: &str) -> Result<&restride_graph::TensorType, SpellError> {
        let position = self.input(slot)?;
        self.inputs
            .ty(position)
            .ok_or_else(|| SpellError::Unreadable(format!("input `{slot}` is missing")))
    }

    /// The element type of a slot's input.
    pub(super) fn element(&self, slot: &str) -> Result<ElementType, SpellError> {
        Ok(self.ty(slot)?.element())
    }

    /// The rank of a slot's input.
    pub(super) fn rank(&self, slot: &str) -> Result<i64, SpellError> {
        Ok(self.ty(slot)?.rank() as i64)
    }

    /// Makes an input an operand: run-time data.
    pub(super) fn operand(&mut self, slot: &str) -> Result<ValueId, SpellError> {
        let position = self.input(slot)?;
        self.inputs.operand(position, self.graph)
    }

    /// What a slot's input holds, which has to be known by now.
    pub(super) fn value(&self, slot: &'static str) -> Result<&Constant, SpellError> {
        let position = self.input(slot)?;
        self.inputs
            .value(position)
            .ok_or(SpellError::AtRunTime(slot))
    }

    /// The numbers of a parameter, if it was given.
    pub(super) fn given_ints(
        &self,
        slot: &'static str,
        form: ListForm,
        allowed: Allowed,
    ) -> Result<Option<Ints>, SpellError> {
        if self.given(slot).is_none() {
            return Ok(None);
        }
        let element = self.element(slot)?;
        let fits = match allowed {
            Allowed::AnyInteger => element.is_integer(),
            Allowed::Only(elements) => elements.contains(&element),
        };
        require!(
            fits,
            "{slot} is {element}, which {} does not take there",
            self.named()
        );
        let value = self.value(slot)?;
        let shape = value.ty().shape();
        let (rank, count) = (shape.len(), value.ty().numel());
        let shaped = match form {
            ListForm::Vector => rank == 1,
            ListForm::ScalarOrVector => rank <= 1,
            ListForm::OneElement => rank <= 1 && count == 1,
            ListForm::Scalar => rank == 0,
        };
        require!(
            shaped && count <= MOST,
            "{slot} has shape {shape:?}, which {} does not take there",
            self.named()
        );
        integers(value)
            .map(|list| Some(Ints::from_vec(list)))
            .ok_or_else(|| SpellError::Unreadable(format!("input {slot}: {element} is too wide")))
    }

    /// The numbers of a parameter.
    pub(super) fn ints(
        &self,
        slot: &'static str,
        form: ListForm,
        allowed: Allowed,
    ) -> Result<Ints, SpellError> {
        self.input(slot)?;
        Ok(self.given_ints(slot, form, allowed)?.unwrap_or_default())
    }

    /// The only number of a parameter.
    pub(super) fn int(
        &self,
        slot: &'static str,
        form: ListForm,
        allowed: Allowed,
    ) -> Result<i64, SpellError> {
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
    pub(super) fn attr(&self, name: &str) -> Option<&'a Attribute> {
        self.spelling.attributes.get(name)
    }

    /// A whole-number attribute (booleans are 0 and 1), if it was given.
    pub(super) fn given_attr_int(&self, name: &str) -> Result<Option<i64>, SpellError> {
        match self.attr(name) {
            None => Ok(None),
            Some(Attribute::Int(number)) => Ok(Some(*number)),
            Some(value) => Err(bad_attr(name, value)),
        }
    }

    /// A whole-number attribute.
    pub(super) fn attr_int(&self, name: &str, default: Option<i64>) -> Result<i64, SpellError> {
        (self.given_attr_int(name)?.or(default))
            .ok_or_else(|| SpellError::Unreadable(format!("attribute `{name}` is missing")))
    }

    /// A list attribute (one number is a list of one), if it was given.
    pub(super) fn given_attr_ints(&self, name: &str) -> Result<Option<Ints>, SpellError> {
        match self.attr(name) {
            None => Ok(None),
            Some(Attribute::Int(number)) => Ok(Some(Ints::from_slice(&[*number]))),
            Some(Attribute::Ints(list)) => Ok(Some(Ints::from_slice(list))),
            Some(value) => Err(bad_attr(name, value)),
        }
    }

    /// A word attribute.
    pub(super) fn attr_word(
        &self,
        name: &str,
        default: &'static str,
    ) -> Result<&'a str, SpellError> {
        match self.attr(name) {
            None => Ok(default),
            Some(Attribute::Word(word)) => Ok(word),
            Some(value) => Err(bad_attr(name, value)),
        }
    }

    /// Adds an operator.
    pub(super) fn push(&mut self, op: Op) -> Result<ValueId, SpellError> {
        Ok(self.graph.push(op)?)
    }

    /// Adds a table of indices.
    pub(super) fn table(&mut self, shape: &[i64], values: &[i64]) -> Result<ValueId, SpellError> {
        Ok(self.graph.index_table(shape, values)?)
    }

    /// The sizes of a value so far.
    pub(super) fn shape(&self, value: ValueId) -> &[i64] {
        self.graph.ty(value).shape()
    }

    /// Hands a value out.
    pub(super) fn output(&mut self, value: ValueId) {
        self.results.push(value);
    }

    /// Adds an operator and hands its value out.
    pub(super) fn result(&mut self, op: Op) -> Result<(), SpellError> {
        let value = self.push(op)?;
        self.output(value);
        Ok(())
    }

    /// Spells a concatenation of every input.
    pub(super) fn concat(&mut self, axis: Option<i64>) -> Result<(), SpellError> {
        let parts = (0..self.inputs.count())
            .map(|position| self.inputs.operand(position, self.graph))
            .collect::<Result<_, _>>()?;
        let axis = self.attr_int("axis", axis)?;
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
        Ok(shape[self.axis(axis, shape.len())?])
    }

    /// An axis as a position.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> Result<usize, SpellError> {
        let rank = rank as i64;
        require!(
            -rank <= axis && axis < rank,
            "axis {axis} is not in {}..{rank}",
            -rank
        );
        Ok(if axis < 0 { axis + rank } else { axis } as usize)
    }

    /// The operator is not one that this framework has here.
    pub(super) fn unknown(&self) -> SpellError {
        SpellError::Unreadable(format!("{} is not known", self.named()))
    }

    /// What comes out.
    pub(super) fn finish(self) -> Vec<ValueId> {
        self.results
    }
}

fn bad_attr(name: &str, value: &Attribute) -> SpellError {
    SpellError::Unreadable(format!("attribute `{name}` is {value}"))
}

/// The elements of an integer tensor as numbers; nothing if they are no integers of 64 bits.
///
/// Numbers of 2^63 and more read as negative ones, as OpenVINO does; no other framework takes u64.
pub(crate) fn integers(value: &Constant) -> Option<Vec<i64>> {
    let element = value.ty().element();
    let read = |at| match element {
        ElementType::Bool => value.bits(at).map(|bits| bits as i64),
        _ => value.integer(at).map(|number| number as i64),
    };
    if !element.is_index() && element != ElementType::Bool {
        return None;
    }
    (0..value.ty().numel()).map(read).collect()
}
