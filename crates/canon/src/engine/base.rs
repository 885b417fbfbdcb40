//! Bases: what values are views of, each made once.

use super::{Engine, Parts, PendingGather, Result, Value};
use crate::ir::Type;
use restride_graph::{ElementType, Shape, Strided, ValueId};
use restride_layout::Layout;
use std::sync::Arc;

/// The place of a base among those that were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BaseId(u32);

impl BaseId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is no view. Operands are values: bases over views of bases, and no node among them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Base {
    /// The n-th input.
    Input(u32),
    /// Bytes known now.
    Constant(Arc<[u8]>),
    /// A gather to which no rule applies.
    Gather(Box<PendingGather>),
    /// Parts side by side.
    Concat { parts: Parts, axis: usize },
    /// The elements of a value between two parts of a chain that is no single layout.
    Cut(Value),
}

impl std::fmt::Display for Base {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Input(ordinal) => write!(f, "%{ordinal}"),
            Self::Constant(_) => f.write_str("a constant"),
            Self::Gather(_) => f.write_str("a gather"),
            Self::Concat { .. } => f.write_str("a concat"),
            Self::Cut(_) => f.write_str("a value between"),
        }
    }
}

/// A base, its type, and the value of the spelled graph that needed it first.
#[derive(Debug)]
pub(crate) struct Held {
    pub(super) base: Base,
    pub(super) ty: Type,
    pub(super) on: ValueId,
}

impl Engine<'_> {
    /// The type of a base.
    pub(crate) fn ty(&self, base: BaseId) -> &Type {
        &self.bases[base.index()].ty
    }

    /// What a base is.
    pub(crate) fn base(&self, base: BaseId) -> &Base {
        &self.bases[base.index()].base
    }

    /// The next input.
    pub(crate) fn input(
        &mut self,
        element: ElementType,
        shape: &[i64],
        layout: Option<&Strided>,
    ) -> Result<Value> {
        let base = Base::Input(self.inputs.len() as u32);
        let id = self.push(base, element, Shape::from_slice(shape));
        self.inputs.push((id, layout.cloned()));
        self.whole(id)
    }

    /// A constant; one element repeated is a fill.
    pub(crate) fn constant(
        &mut self,
        element: ElementType,
        shape: &[i64],
        bytes: &Arc<[u8]>,
    ) -> Result<Value> {
        if self.rules
            && let Some(bits) = crate::rules::constant_fill::uniform(element, bytes)
        {
            let rule = crate::rules::constant_fill::RULE.name;
            self.note(rule, || format!("every element is {bits:#x}"));
            return Ok(Value::fill(element, shape, bits));
        }
        let base = Base::Constant(Arc::clone(bytes));
        let id = self.made(base, element, Shape::from_slice(shape));
        self.whole(id)
    }

    /// All of a base.
    pub(crate) fn whole(&self, base: BaseId) -> Result<Value> {
        let ty = self.ty(base);
        let layout = Layout::dense(&ty.shape)?;
        Ok(Value::view(ty.element, base, layout))
    }

    /// A base that is new, or the equal one that exists.
    pub(super) fn made(&mut self, base: Base, element: ElementType, shape: Shape) -> BaseId {
        let new = self.push(base, element, shape);
        let bases = &self.bases;
        let what = |place: u32| {
            let Held { base, ty, .. } = &bases[place as usize];
            (base, ty)
        };
        match self.memo.find(new.0, what) {
            Some(known) => {
                self.bases.pop();
                BaseId(known)
            }
            None => new,
        }
    }

    fn push(&mut self, base: Base, element: ElementType, shape: Shape) -> BaseId {
        let id = BaseId(self.bases.len() as u32);
        self.bases.push(Held {
            base,
            ty: Type { element, shape },
            on: self.on,
        });
        id
    }
}
