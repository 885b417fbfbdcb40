//! Operators with bodies, and functions that a file brings along.

use restride_graph::{ElementType, TensorType};

use super::graph::{Env, OnnxReader};
use super::schema::{GraphProto, NodeProto};
use crate::builder::{Fact, NodeCall, unknown};
use crate::error::{ImportError, shown};
use crate::model::{BodyPlace, Role, Scope, TensorId};
use crate::spell::Attributes;

/// How deep bodies and functions may be in one another.
const MAX_DEPTH: u32 = 24;

/// What a body that runs again and again is given.
struct Turns<'s> {
    /// The body, without what it will hand out.
    scope: Scope,
    /// What stands before what is carried from turn to turn.
    leading: &'s [Fact],
    states: Vec<Fact>,
    /// What stands after it.
    trailing: &'s [Fact],
    /// How many outputs stand before those that are carried on.
    skipped: usize,
    label: &'s str,
}

type Made = Result<Vec<Option<TensorId>>, ImportError>;

/// A body of a node, by the attribute's name.
fn graph<'a>(node: &'a NodeProto<'a>, name: &str) -> Result<&'a GraphProto<'a>, ImportError> {
    let found = node
        .attribute
        .iter()
        .find(|attribute| attribute.name == name);
    let graph = found.and_then(|attribute| attribute.g.as_deref());
    graph.ok_or_else(|| ImportError::new(format!("it has no {name}")))
}

impl<'a> OnnxReader<'a> {
    /// Reads something that is inside of something.
    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ImportError>,
    ) -> Result<T, ImportError> {
        if self.depth == MAX_DEPTH {
            let what = format!("bodies and functions are in one another deeper than {MAX_DEPTH}");
            return Err(ImportError::new(what));
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }

    /// A call of a function of the file: its nodes, in place of the call.
    pub(super) fn function(&mut self, at: usize, call: NodeCall) -> Made {
        let function = &self.file.functions[at];
        let mut attributes: Attributes = call
            .attributes
            .iter()
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        for default in &function.attribute_proto {
            attributes.push(default.name, self.attribute(default)?);
        }
        let opsets = match function.opsets.is_empty() {
            true => &self.file.opsets,
            false => &function.opsets,
        };
        let mut env = Env::new(call.scope, opsets);
        env.attributes = Some(&attributes);
        // Names would double with every call of a call.
        let short: String = call.name.chars().take(200).collect();
        env.prefix = match short.is_empty() {
            true => format!(
                "{}#{}.",
                shown(function.name),
                self.builder.model.nodes.len()
            ),
            false => format!("{short}."),
        };
        for (at, name) in function.input.iter().enumerate() {
            let given = call.inputs.get(at).copied().flatten();
            env.names.insert(name, given);
        }
        self.record(&mut env, &function.value_info, &[]);
        let inside =
            |error: ImportError| error.inside(format!("(in function {})", shown(function.name)));
        self.deeper(|reader| reader.nodes(&mut env, &function.node))
            .map_err(inside)?;
        let outputs = function.output.iter().map(|name| {
            let found = env.resolve(name);
            found
                .ok_or_else(|| inside(ImportError::new(format!("nothing makes `{}`", shown(name)))))
        });
        outputs.collect()
    }

    /// A body whose inputs are these, as a list of nodes of its own or as a part of this one.
    fn body(
        &mut self,
        env: &Env<'a, '_>,
        graph: &'a GraphProto<'a>,
        scope: Option<Scope>,
        inputs: Vec<Fact>,
    ) -> Result<(Vec<TensorId>, Vec<TensorId>), ImportError> {
        self.deeper(|reader| {
            let own = scope.is_some();
            let scope = match scope {
                None => env.scope,
                Some(scope) => {
                    reader.builder.model.scopes.push(scope);
                    reader.builder.model.scopes.len() - 1
                }
            };
            let mut inner = env.body(scope);
            for (info, fact) in graph.input.iter().zip(inputs) {
                let id = reader.builder.tensor(&inner.full(info.name), fact, None);
                inner.names.insert(info.name, Some(id));
            }
            reader.weights(&mut inner, graph)?;
            reader.record(&mut inner, &graph.value_info, &graph.output);
            reader.nodes(&mut inner, &graph.node)?;
            let mut outputs = Vec::new();
            for (at, info) in graph.output.iter().enumerate() {
                let id = inner.resolve(info.name).flatten().ok_or_else(|| {
                    let what = format!("nothing makes `{}`", shown(info.name));
                    ImportError::new(what).inside(format!("output[{at}]"))
                })?;
                outputs.push(id);
            }
            if own {
                reader.builder.model.scopes[scope].outputs = outputs.clone();
            }
            let mut captured = inner.captured.into_inner();
            captured.sort_unstable();
            captured.dedup();
            Ok((outputs, captured))
        })
    }

    /// The branch that is taken, if that is known; else both.
    pub(super) fn branches(
        &mut self,
        env: &Env<'a, '_>,
        node: &'a NodeProto<'a>,
        call: NodeCall,
    ) -> Made {
        let condition = call.inputs.first().copied().flatten();
        let condition = condition.map(|id| self.builder.model.tensor(id));
        let taken = condition.filter(|t| t.fixed || t.value.is_some());
        let taken = taken.and_then(|t| Some(t.value.as_ref()?.bits(0)? != 0));
        if let Some(taken) = taken {
            let name = if taken { "then_branch" } else { "else_branch" };
            let graph = graph(node, name)?;
            let body = self.body(env, graph, None, Vec::new());
            let (outputs, _) = body.map_err(|error| error.inside(name))?;
            return Ok(outputs.into_iter().map(Some).collect());
        }
        let mut both = Vec::new();
        let mut captured = Vec::new();
        for name in ["then_branch", "else_branch"] {
            let scope = self.scope(&call, name);
            let body = self.body(env, graph(node, name)?, Some(scope), Vec::new());
            let (outputs, more) = body.map_err(|error| error.inside(name))?;
            both.push(outputs);
            captured.extend(more);
        }
        let label = format!("If \"{}\"", shown(&call.name));
        let facts = (0..call.outputs.len()).map(|at| {
            let types = both.iter().map(|outputs| {
                let id = *outputs.get(at)?;
                Some(self.builder.model.tensor(id).ty.clone())
            });
            let types: Option<Vec<_>> = types.collect();
            let ty = match types.as_deref() {
                Some([Ok(a), Ok(b)]) if a == b => Ok(a.clone()),
                Some([Err(why), _] | [_, Err(why)]) => Err(why.clone()),
                Some(_) => Err(unknown(
                    &label,
                    "its branches make tensors of different types",
                )),
                None => Err(unknown(&label, "a branch makes fewer tensors")),
            };
            Fact::of(ty)
        });
        let facts = facts.collect();
        self.builder.add(call, captured, Role::Compute, facts)
    }

    /// The list of nodes that a body is.
    fn scope(&self, call: &NodeCall, name: &'static str) -> Scope {
        let outer = &self.builder.model.scopes[call.scope].path;
        let dot = if outer.is_empty() { "" } else { "." };
        let node = match call.name.as_str() {
            "" => format!("{}#{}", call.op, self.builder.model.nodes.len()),
            name => shown(name),
        };
        let first = call.outputs.iter().flatten().next();
        Scope {
            path: format!("{outer}{dot}{node}.{name}"),
            outputs: Vec::new(),
            place: first.map(|(output, _)| BodyPlace {
                outer: call.scope,
                output: output.clone(),
                attribute: name,
            }),
        }
    }

    /// What is carried from turn to turn has to keep its type for it to be known.
    fn carried(
        &mut self,
        env: &Env<'a, '_>,
        body: &'a GraphProto<'a>,
        mut turns: Turns<'_>,
    ) -> Result<(Vec<TensorId>, Vec<TensorId>), ImportError> {
        loop {
            let model = &self.builder.model;
            let mark = (model.tensors.len(), model.nodes.len(), model.scopes.len());
            let inputs = turns
                .leading
                .iter()
                .chain(&turns.states)
                .chain(turns.trailing);
            let inputs = inputs.cloned().collect();
            let (outputs, captured) = self.body(env, body, Some(turns.scope.clone()), inputs)?;
            let mut again = false;
            for (state, made) in turns
                .states
                .iter_mut()
                .zip(outputs.iter().skip(turns.skipped))
            {
                let made = &self.builder.model.tensor(*made).ty;
                if state.ty.is_ok() && *made != state.ty {
                    state.ty = Err(unknown(turns.label, "it changes from turn to turn"));
                    again = true;
                }
            }
            if !again {
                return Ok((outputs, captured));
            }
            let model = &mut self.builder.model;
            model.tensors.truncate(mark.0);
            model.nodes.truncate(mark.1);
            model.scopes.truncate(mark.2);
        }
    }

    pub(super) fn repeated(
        &mut self,
        env: &Env<'a, '_>,
        node: &'a NodeProto<'a>,
        call: NodeCall,
    ) -> Made {
        let body = graph(node, "body")?;
        let label = format!("Loop \"{}\"", shown(&call.name));
        let states = call.inputs.get(2..).unwrap_or_default();
        let states: Vec<Fact> = states
            .iter()
            .map(|id| self.at_run_time(*id, &label))
            .collect();
        let scalar = |element| {
            Fact::of(TensorType::dense(element, []).map_err(|e| unknown(&label, &e.to_string())))
        };
        let leading = [scalar(ElementType::I64), scalar(ElementType::Bool)];
        let turns = Turns {
            scope: self.scope(&call, "body"),
            leading: &leading,
            states,
            trailing: &[],
            skipped: 1,
            label: &label,
        };
        let (outputs, captured) = self
            .carried(env, body, turns)
            .map_err(|error| error.inside("body"))?;
        let states = call.inputs.len().saturating_sub(2);
        let facts = (0..call.outputs.len()).map(|at| {
            let made = outputs
                .get(at + 1)
                .map(|&id| &self.builder.model.tensor(id).ty);
            let ty = match made {
                Some(ty) if at < states => ty.clone(),
                Some(_) => Err(unknown(
                    &label,
                    "how often it turns is known only when it runs",
                )),
                None => Err(unknown(&label, "its body makes fewer tensors")),
            };
            Fact::of(ty)
        });
        let facts = facts.collect();
        self.builder.add(call, captured, Role::Compute, facts)
    }

    /// From version 9 on: states, then inputs of which each turn sees a part along an axis.
    pub(super) fn scanned(
        &mut self,
        env: &Env<'a, '_>,
        node: &'a NodeProto<'a>,
        call: NodeCall,
    ) -> Made {
        let body = graph(node, "body")?;
        let label = format!("Scan \"{}\"", shown(&call.name));
        let ints = |name: &str| match call.attributes.get(name) {
            Some(crate::spell::Attribute::Ints(list)) => list.clone(),
            _ => Vec::new(),
        };
        let count = match call.attributes.get("num_scan_inputs") {
            Some(crate::spell::Attribute::Int(count)) => usize::try_from(*count).unwrap_or(0),
            _ => 0,
        };
        let states = call.inputs.len().saturating_sub(count);
        let (state, scanned) = call.inputs.split_at(states);
        let axes = ints("scan_input_axes");
        let mut length = None;
        let mut parts = Vec::new();
        for (at, id) in scanned.iter().enumerate() {
            let mut fact = self.at_run_time(*id, &label);
            if let Ok(ty) = &fact.ty {
                let axis = axes.get(at).copied().unwrap_or(0);
                let rank = ty.rank() as i64;
                let position = if axis < 0 { axis + rank } else { axis };
                fact.ty = match usize::try_from(position).ok().filter(|&p| p < ty.rank()) {
                    None => Err(unknown(&label, "it scans an axis that is not there")),
                    Some(position) => {
                        let mut shape = ty.shape().to_vec();
                        length = Some(shape.remove(position));
                        TensorType::dense(ty.element(), shape)
                            .map_err(|error| unknown(&label, &error.to_string()))
                    }
                };
            }
            parts.push(fact);
        }
        let mut state: Vec<Fact> = state
            .iter()
            .map(|id| self.at_run_time(*id, &label))
            .collect();
        if call.version < 9 {
            // The first is a list of lengths, and all others have a batch that the body does not see.
            for fact in state.iter_mut().chain(&mut parts) {
                fact.ty = Err(unknown(&label, "version 8 is not known here"));
            }
        }
        let turns = Turns {
            scope: self.scope(&call, "body"),
            leading: &[],
            states: state,
            trailing: &parts,
            skipped: 0,
            label: &label,
        };
        let (outputs, captured) = self
            .carried(env, body, turns)
            .map_err(|error| error.inside("body"))?;
        let axes = ints("scan_output_axes");
        let facts = (0..call.outputs.len()).map(|at| {
            let made = outputs.get(at).map(|&id| &self.builder.model.tensor(id).ty);
            let ty = match (made, length) {
                // With a batch, and lengths before it.
                _ if call.version < 9 => Err(unknown(&label, "version 8 is not known here")),
                (Some(ty), _) if at < states => ty.clone(),
                (Some(Ok(ty)), Some(length)) => {
                    let axis = axes.get(at - states).copied().unwrap_or(0);
                    let rank = ty.rank() as i64 + 1;
                    let position = if axis < 0 { axis + rank } else { axis };
                    let mut shape = ty.shape().to_vec();
                    shape.insert((position.clamp(0, rank - 1)) as usize, length);
                    TensorType::dense(ty.element(), shape)
                        .map_err(|error| unknown(&label, &error.to_string()))
                }
                (Some(Err(why)), _) => Err(why.clone()),
                (Some(Ok(_)), None) => Err(unknown(&label, "how long it scans is not known")),
                (None, _) => Err(unknown(&label, "its body makes fewer tensors")),
            };
            Fact::of(ty)
        });
        let facts = facts.collect();
        self.builder.add(call, captured, Role::Compute, facts)
    }

    /// A tensor as a body sees it that runs several times: only its type is known.
    fn at_run_time(&self, id: Option<TensorId>, label: &str) -> Fact {
        let missing = || Err(unknown(label, "an input is left out"));
        Fact::of(id.map_or_else(missing, |id| self.builder.model.tensor(id).ty.clone()))
    }
}
