//! What a runtime has for movement itself, and does better than a node that it does not know.

use restride_graph::{Op, TensorType, ViewPolicy};
use restride_import::spell::Framework;
use restride_import::{Model, ModelNode};
use restride_lower::plan::Answer;

use super::survey::{Copied, FREE, GroupKind};
use crate::explanation::Explanation;
use crate::stages::AnyProgram;

/// Why a runtime is better left with the nodes of a kind.
pub(super) fn has_better(model: &Model, kind: &GroupKind) -> Option<&'static str> {
    if !kind.is_better_together() {
        return Some("nothing would be gained");
    }
    if model.framework == Framework::OpenVino
        && let Some(why) = kept_by_openvino(model, kind)
    {
        return Some(why);
    }
    let least = match kind.first().group.nodes.len() {
        1 => 0,
        _ => SAVED_CALL,
    };
    let is_small = kind.alone.copies.len() == 1 && (least..ONE_CALL).contains(&kind.moved());
    part_of_another(model, kind).or(is_small.then_some("it saves no copy and moves little"))
}

/// The bytes that ONNX Runtime moves in the two microseconds which a call of an operator that is not its own takes
/// longer, where what the operator needs has gone from the caches since its last call.
const ONE_CALL: u128 = 32 << 10;

/// Of several nodes that move less than this, all but the calls is nothing.
const SAVED_CALL: u128 = 8 << 10;

/// The bytes that are moved in the time which OpenVINO takes for a call of an operator that is not its own,
/// some ten microseconds.
const BLACK_BOX: u128 = 192 << 10;

/// Why OpenVINO is better left with the nodes of a kind.
fn kept_by_openvino(model: &Model, kind: &GroupKind) -> Option<&'static str> {
    let copies = kind.alone.copies.iter();
    let copies: Vec<&Copied> = copies.filter(|copy| !is_in_place(model, copy)).collect();
    let alone: u128 = copies.iter().map(|copy| copy.moved).sum();
    if alone.saturating_sub(kind.moved()) < BLACK_BOX {
        return Some("it saves less than a layer costs that OpenVINO does not know");
    }
    // It fuses those that follow each other, and makes those beside matrix products a part of these.
    let turns = |copy: &&Copied| model.node(copy.node).op == "Transpose";
    copies
        .iter()
        .all(turns)
        .then_some("OpenVINO turns tensors as well, and some for nothing")
}

/// Whether OpenVINO copies nothing for a node: a Transpose of what a convolution writes as well in that order, one
/// that moves axes of one element alone, or a Gather of one row, all whose elements lie together in what it reads. Of
/// Slice and Split it copies those as well.
fn is_in_place(model: &Model, copy: &Copied) -> bool {
    if writes_channels_last(model, copy, &FREE) {
        return true;
    }
    if !matches!(model.node(copy.node).op.as_str(), "Transpose" | "Gather") {
        return false;
    }
    let program = AnyProgram::Graph(copy.graph.clone());
    let Ok(explanation) = Explanation::of(&program, ViewPolicy::Any) else {
        return false;
    };
    let mut outputs = copy
        .graph
        .outputs()
        .iter()
        .zip(&explanation.lowered.plan.answers);
    outputs.all(|(output, answer)| match answer {
        Answer::View { layout, .. } => {
            let ty = copy.graph.output_type(output);
            let mut span = 1;
            let mut axes = layout.strides.iter().zip(ty.shape()).rev();
            axes.all(|(&stride, &size)| {
                let follows = size == 1 || stride == span;
                span = size.saturating_mul(span);
                follows
            })
        }
        Answer::Computed { .. } => false,
    })
}

/// What a runtime makes of blocks of channels, and may write in another order for nothing more.
const BLOCKS: &str = "Conv FusedConv Convolution GroupConvolution MaxPool AveragePool AvgPool \
    GlobalAveragePool GlobalMaxPool BatchNormalization";

/// What leaves them blocks.
const KEEP_BLOCKS: &str =
    "Add Clamp Clip Elu HSwish HardSigmoid LeakyRelu Mul Multiply PRelu Relu Sigmoid Tanh";

fn is_in(names: &str, op: &str) -> bool {
    names.split(' ').any(|name| name == op)
}

/// How many of those are looked through.
const MOST_BETWEEN: usize = 4;

/// Of a kind that copies in a Transpose alone, what else the runtime makes that a part of.
fn part_of_another(model: &Model, kind: &GroupKind) -> Option<&'static str> {
    let [copy] = kind.alone.copies.as_slice() else {
        return None;
    };
    let nodes = kind.first().group.nodes.iter().map(|&id| model.node(id));
    if nodes.clone().any(|node| node.op.starts_with("Reorder")) {
        return Some("the runtime has something of its own for its blocks");
    }
    let turned = nodes.clone().find(|node| node.op == "Transpose")?;
    let made = turned.outputs.first().copied().flatten();
    let mut readers = model.nodes.iter();
    let mut readers = readers
        .by_ref()
        .filter(|node| node.inputs.contains(&made))
        .peekable();
    let is_product =
        |node: &ModelNode| matches!(node.op.as_str(), "MatMul" | "Gemm" | "FusedMatMul");
    if readers.peek().is_some() && readers.all(is_product) {
        return Some("the runtime makes it a part of what reads it");
    }
    writes_channels_last(model, copy, &[]).then_some("the runtime makes it a part of what it reads")
}

/// Whether a node is a Transpose that puts channels last which a runtime has in blocks, and writes in that order for
/// nothing more. Operators of this list may be between as well, where they leave the channels alone.
fn writes_channels_last(model: &Model, copy: &Copied, free: &[&str]) -> bool {
    let perm = copy
        .graph
        .values()
        .find_map(|value| match copy.graph.op(value) {
            Op::Transpose { perm, .. } => Some(perm),
            _ => None,
        });
    let last = |perm: &[i64]| {
        (2..perm.len() as i64)
            .chain([1])
            .eq(perm[1..].iter().copied())
    };
    let is_image = |perm: &[i64]| perm.len() == 4 || !free.is_empty();
    if !perm.is_some_and(|perm| perm.len() > 2 && perm[0] == 0 && last(perm) && is_image(perm)) {
        return false;
    }
    let channels = |tensor| {
        let ty: Option<&TensorType> = model.tensor(tensor).ty.as_ref().ok();
        ty.and_then(|ty| ty.shape().get(..2).map(<[i64]>::to_vec))
    };
    let mut from = model.node(copy.node).inputs.first().copied().flatten();
    for _ in 0..=MOST_BETWEEN {
        let Some(tensor) = from else { return false };
        let Some(maker) = model.tensor(tensor).maker else {
            return false;
        };
        let maker = model.node(maker);
        from = maker.inputs.first().copied().flatten();
        match maker.op.as_str() {
            op if is_in(BLOCKS, op) => return true,
            op if is_in(KEEP_BLOCKS, op) => {}
            op if free.contains(&op) && from.is_some_and(|it| channels(it) == channels(tensor)) => {
            }
            _ => return false,
        }
    }
    false
}
