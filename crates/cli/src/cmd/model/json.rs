//! A model's movement for programs.

use restride_import::{Role, TensorId};
use serde_json::{Value, json};

use super::survey::{GroupKind, Member, Survey};
use super::{File, emit};
use crate::explanation::saturate;

/// The whole of it as one object.
pub(super) fn object(survey: &Survey, file: &File) -> Value {
    let model = &survey.model;
    let tensors = |ids: &[TensorId]| -> Vec<Value> {
        let ids = ids.iter().map(|&id| model.tensor(id));
        ids.map(|tensor| match &tensor.ty {
            Ok(ty) => {
                json!({"name": tensor.name, "element": ty.element().name(), "shape": ty.shape()})
            }
            Err(why) => json!({"name": tensor.name, "unknown": why.to_string()}),
        })
        .collect()
    };
    let kinds = survey.kinds.iter().enumerate();
    let hidden = survey.hidden.iter().map(
        |(id, why)| json!({"node": model.node(*id).name, "op": model.node(*id).op, "why": why.to_string()}),
    );
    json!({
        "file": file.path().display().to_string(),
        "format": model.format,
        "inputs": tensors(&model.inputs),
        "outputs": tensors(&model.outputs),
        "sizes": model.open.iter().map(|open| json!({
            "name": open.symbol, "input": open.input, "axis": open.axis,
            "size": open.size, "given": open.given,
        })).collect::<Vec<_>>(),
        "dimensions": survey.dimensions.iter().map(|dimension| json!({
            "name": dimension.name, "size": dimension.size, "tried": dimension.tried,
        })).collect::<Vec<_>>(),
        "nodes": {
            "all": model.nodes.len(),
            "movement": model.count(|role| matches!(role, Role::Movement(_))),
            "hidden": survey.hidden.len(),
            "compute": model.count(|role| *role == Role::Compute),
            "fixed": model.count(|role| *role == Role::Fixed),
            "unused": model.count(|role| *role == Role::Unused),
        },
        "hidden": hidden.collect::<Vec<_>>(),
        "total": {
            "groups": survey.groups(),
            "moved": saturate(survey.total(GroupKind::moved)),
            "one_by_one": saturate(survey.total(|kind| kind.alone.moved)),
            "least": saturate(survey.total(|kind| kind.traffic().least())),
        },
        "groups": kinds.map(|(at, kind)| group(survey, at, kind)).collect::<Vec<_>>(),
    })
}

fn group(survey: &Survey, at: usize, kind: &GroupKind) -> Value {
    let traffic = kind.traffic();
    let mut object = json!({
        "file": emit::name(at, kind),
        "operators": kind.what,
        "passes": kind.passes(),
        "views": kind.views,
        "outputs": kind.first().program.outputs.len(),
        "bytes": {
            "moved": saturate(kind.moved()),
            "one_by_one": saturate(kind.alone.moved),
            "least": saturate(traffic.least()),
        },
        "lines": {
            "moved": (traffic.lines_read + traffic.lines_written) as i64,
            "one_by_one": kind.alone.lines as i64,
            "least": saturate(traffic.least_lines),
        },
        "members": kind.members.iter().map(|it| member(survey, it)).collect::<Vec<_>>(),
    });
    object["any"] = survey.any(kind).collect();
    object["bound"] = kind
        .first()
        .bound
        .iter()
        .map(|bound| {
            json!({
                "dimension": survey.dimensions[bound.dimension].name, "why": bound.why.to_string(),
            })
        })
        .collect();
    if let Some(times) = kind.times {
        object["nanoseconds"] = json!({
            "together": times.together,
            "one_by_one": times.alone,
            "memcpy": times.memcpy,
        });
    }
    if let Err(why) = &kind.explanation {
        object["refused"] = json!(why);
    }
    object
}

fn member(survey: &Survey, member: &Member) -> Value {
    let model = &survey.model;
    let graph = &member.program.graph;
    let nodes = member.group.nodes.iter().map(|&id| model.node(id));
    let inputs = graph.inputs().iter().zip(&member.program.inputs);
    let outputs = graph.outputs().iter().zip(&member.program.outputs);
    json!({
        "scope": model.scopes[member.group.scope].path,
        "nodes": nodes.map(|node| json!({"name": node.name, "op": node.op})).collect::<Vec<_>>(),
        "inputs": inputs.map(|(&value, &id)| json!({
            "name": graph.value_name(value), "tensor": model.tensor(id).name,
        })).collect::<Vec<_>>(),
        "outputs": outputs.map(|(output, &id)| json!({
            "name": graph.value_name(output.value), "tensor": model.tensor(id).name,
        })).collect::<Vec<_>>(),
    })
}
