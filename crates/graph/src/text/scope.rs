//! What labels stand for.

use std::collections::HashMap;

use restride_text::{Diagnostic, Spanned, closest};

use crate::graph::is_name;
use crate::{Graph, ValueId};

/// How many known names are compared with an unknown one.
const MAX_COMPARED: usize = 4096;

/// A `%label` and where it stands.
pub(super) type Label<'a> = Spanned<&'a str>;

/// The labels so far; one without a value is that of a statement that was wrong.
#[derive(Default)]
pub(super) struct LabelScope<'a> {
    labels: HashMap<&'a str, Option<ValueId>>,
}

impl<'a> LabelScope<'a> {
    /// Says what a label stands for, unless it stands for something already.
    pub(super) fn define(&mut self, label: Label<'a>, value: Option<ValueId>) {
        self.labels.entry(label.text).or_insert(value);
    }

    /// The value of a label, if it has one.
    pub(super) fn get(&self, label: Label<'a>) -> Option<ValueId> {
        self.labels.get(label.text).copied().flatten()
    }

    /// Refuses a label that stands for something already.
    pub(super) fn free(&self, label: Label<'a>) -> Result<(), Diagnostic> {
        match self.labels.contains_key(label.text) {
            true => {
                let message = format!("%{} is already defined", label.text);
                Err(Diagnostic::new(label.span, message))
            }
            false => Ok(()),
        }
    }

    /// The value of a label that must be there; `None` if its statement was wrong.
    pub(super) fn lookup(
        &self,
        label: Label<'a>,
        graph: &Graph,
    ) -> Result<Option<ValueId>, Diagnostic> {
        if let Some(value) = self.labels.get(label.text) {
            return Ok(*value);
        }
        let shown: String = label.text.chars().take(40).collect();
        let error = Diagnostic::new(label.span, format!("%{shown} is not defined"));
        // The nearest definitions first: a bounded number of comparisons.
        let names = graph.values().rev().filter_map(|id| graph.value_name(id));
        Err(match closest(label.text, names.take(MAX_COMPARED)) {
            Some(name) => error.help(format!("did you mean `%{name}`?")),
            None => error,
        })
    }
}

/// The name that a label gives: none if it is a number.
pub(super) fn name_of<'a>(label: Label<'a>) -> Result<&'a str, Diagnostic> {
    if label.text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok("");
    }
    match is_name(label.text) {
        true => Ok(label.text),
        false => {
            let message = "a value is called by a number, or by a name that starts with none";
            Err(Diagnostic::new(label.span, message))
        }
    }
}
