//! Fuses what moves data in a model of tract.
//!
//! In an optimised model most of what a model's author wrote as one transposition or one pixel shuffle is
//! several operators, and each allocates and copies. This transform finds the groups of such operators and
//! replaces each by one node, which moves the data once with restride:
//!
//! ```
//! use tract_core::internal::*;
//!
//! let mut model = TypedModel::default();
//! let x = model.add_source("x", f32::fact([1, 64, 64, 3]))?;
//! let x = model.wire_node("chw", AxisOp::Move(3, 1), &[x])?;
//! let x = model.wire_node("turned", AxisOp::Move(2, 3), &x)?;
//! model.select_output_outlets(&x)?;
//!
//! let mut model = model.into_optimized()?;
//! model.transform(&restride_tract::fuse())?;
//! assert_eq!(model.nodes().len(), 2);
//!
//! let model = model.into_runnable()?;
//! let turned = model.run(tvec!(Tensor::zero::<f32>(&[1, 64, 64, 3])?.into_tvalue()))?;
//! assert_eq!(turned[0].shape(), [1, 3, 64, 64]);
//! # Ok::<(), TractError>(())
//! ```
//!
//! Groups that gain nothing by it are left alone: a single slice, concat or gather of long rows, which tract copies
//! as fast as anybody, and moves of a few bytes.
//!
//! Use it on an optimised model: before that, tract has reasons of its own to move axes, and matrix products
//! that absorb them. Symbolic dimensions are bound when the model runs. What restride refuses runs as it did
//! before, operator by operator.

mod fused;
mod gain;
mod map;

use fused::{Fused, Group, Member, Source};
use map::Kind;
use restride::Engine;
use restride_partition::Partition;
use std::collections::HashSet;
use tract_core::internal::*;
use tract_core::transform::ModelTransform;

/// The transform, with an engine of its own for each model.
pub fn fuse() -> Fuse {
    fuse_with(Engine::default())
}

/// The transform, with an engine of the host's, which may serve several models.
pub fn fuse_with(engine: Engine) -> Fuse {
    let all = false;
    Fuse { engine, all }
}

/// Replaces groups of operators that move data by one: see [`fuse`].
#[derive(Debug)]
pub struct Fuse {
    engine: Engine,
    all: bool,
}

impl Fuse {
    /// Replaces every group, also those that tract is thought to be faster at: to measure them.
    pub fn every_group(self) -> Self {
        Self { all: true, ..self }
    }
}

impl ModelTransform for Fuse {
    fn name(&self) -> StaticName {
        "restride".into()
    }

    fn transform(&self, model: &mut TypedModel) -> TractResult<()> {
        // Where the outputs of nodes that have been replaced are now.
        let mut now: HashMap<OutletId, OutletId> = HashMap::new();
        for (group, inputs, outputs) in groups(model, self.all)? {
            let name = group.name().to_owned();
            let Some(fused) = Fused::new(group, &self.engine, model, &inputs)? else {
                continue;
            };
            let mut patch = TypedModelPatch::default();
            let inputs = inputs
                .iter()
                .map(|outlet| now.get(outlet).unwrap_or(outlet));
            let taps: TVec<_> = inputs
                .map(|outlet| patch.tap_model(model, *outlet))
                .collect::<TractResult<_>>()?;
            let made = patch.wire_node(format!("{name}.restride"), fused, &taps)?;
            for (outlet, made) in outputs.iter().zip(&made) {
                patch.shunt_outside(model, *outlet, *made)?;
            }
            patch.apply(model)?;
            // The node that was added last is the one: what it makes stands for the old outlets.
            let added = model.nodes().len() - 1;
            let made = (0..).map(|slot| OutletId::new(added, slot));
            now.extend(outputs.into_iter().zip(made));
        }
        model.compact()
    }
}

/// A group, the outlets that it reads and those that it makes.
type Found = (Group, TVec<OutletId>, TVec<OutletId>);

/// The groups of a model that gain something, or all that move something.
fn groups(model: &TypedModel, all: bool) -> TractResult<Vec<Found>> {
    let order = model.eval_order()?;
    // What says how far a slice goes has to be known before the slice is planned.
    let mut said = HashSet::new();
    for node in order.iter().map(|id| model.node(*id)) {
        said.extend(
            node.inputs
                .iter()
                .skip(map::numbers_from(&*node.op))
                .map(|from| from.node),
        );
    }
    let mut kinds: Vec<Option<Kind>> = vec![None; model.nodes().len()];
    let mut partition = Partition::new();
    let mut first = vec![0; model.nodes().len()];
    let mut outlets: Vec<OutletId> = Vec::new();
    for &id in &order {
        let node = model.node(id);
        first[id] = outlets.len();
        outlets.extend((0..node.outputs.len()).map(|slot| OutletId::new(id, slot)));
        let value = |outlet: &OutletId| first[outlet.node] + outlet.slot;
        let reads: Vec<usize> = node.inputs.iter().map(value).collect();
        let makes: Vec<usize> = (first[id]..outlets.len()).collect();
        if movable(model, node)? && !said.contains(&id) {
            kinds[id] = map::kind(&*node.op);
        }
        partition.node(kinds[id].is_some(), &reads, &makes)?;
    }
    for outlet in model.output_outlets()? {
        partition.hand_out(first[outlet.node] + outlet.slot);
    }
    let mut found = Vec::new();
    for group in partition.groups() {
        let nodes: Vec<usize> = group.nodes.iter().map(|at| order[*at]).collect();
        if nodes.iter().all(|id| kinds[*id] == Some(Kind::Shape)) {
            continue;
        }
        let inputs: TVec<OutletId> = group.inputs.iter().map(|value| outlets[*value]).collect();
        let outputs: TVec<OutletId> = group.outputs.iter().map(|value| outlets[*value]).collect();
        if !all && !gain::gains(model, &nodes, &inputs, &outputs)? {
            continue;
        }
        let source = |outlet: &OutletId| match nodes.iter().position(|id| *id == outlet.node) {
            Some(member) => Some(Source::Member(member)),
            None => inputs
                .iter()
                .position(|input| input == outlet)
                .map(Source::Input),
        };
        let members = nodes.iter().map(|id| {
            let node = model.node(*id);
            let inputs = node.inputs.iter().map(source).collect::<Option<_>>();
            Ok(Member {
                name: node.name.clone(),
                op: node.op.clone(),
                dt: model.outlet_fact(node.inputs[0])?.datum_type,
                indices: map::indices(model, node)?,
                inputs: inputs.context("an input that comes from nowhere")?,
            })
        });
        let members = members.collect::<TractResult<_>>()?;
        let made = outputs.iter().map(source).collect::<Option<_>>();
        let made = made.context("an output that comes from nowhere")?;
        found.push((Group::new(members, made), inputs, outputs));
    }
    Ok(found)
}

/// Whether a node has one output, and that and all it reads for it are plain tensors of bits.
fn movable(model: &TypedModel, node: &TypedNode) -> TractResult<bool> {
    let plain = |fact: &TypedFact| fact.is_plain() && map::element(fact.datum_type).is_some();
    let mut data = node.inputs.iter().take(map::numbers_from(&*node.op));
    let [made] = &node.outputs[..] else {
        return Ok(false);
    };
    let read = data.try_fold(true, |all, from| {
        TractResult::Ok(all && plain(model.outlet_fact(*from)?))
    })?;
    Ok(read && !node.inputs.is_empty() && plain(&made.fact))
}
