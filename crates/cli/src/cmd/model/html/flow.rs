//! A group as a drawing: its nodes from left to right, those marked that copy when they run alone.

use std::collections::HashMap;
use std::fmt::Write;

use restride_import::{Role, TensorId};

use super::super::survey::{FREE, GroupKind, Survey};
use crate::cmd::report::page::escape;

/// The most nodes that are drawn.
const MOST: usize = 60;

const WIDE: f64 = 132.0;
const TALL: f64 = 36.0;
const ACROSS: f64 = 40.0;
const DOWN: f64 = 14.0;

/// A box of the drawing.
struct FlowBox {
    label: String,
    below: String,
    class: &'static str,
    layer: usize,
    sources: Vec<usize>,
}

/// The drawing; nothing of a group that is too large for one.
pub(super) fn picture(survey: &Survey, kind: &GroupKind) -> String {
    let model = &survey.model;
    let group = &kind.first().group;
    if group.nodes.len() > MOST {
        return String::new();
    }
    let shape = |id: TensorId| match &model.tensor(id).ty {
        Ok(ty) => format!("{:?}", ty.shape()),
        Err(_) => "?".into(),
    };
    let mut places: Vec<FlowBox> = Vec::new();
    let mut made: HashMap<TensorId, usize> = HashMap::new();
    for &id in &group.inputs {
        if model.tensor(id).fixed {
            continue;
        }
        made.insert(id, places.len());
        places.push(FlowBox {
            label: "in".into(),
            below: shape(id),
            class: "box end",
            layer: 0,
            sources: Vec::new(),
        });
    }
    for &id in &group.nodes {
        let node = model.node(id);
        let Role::Movement(operands) = &node.role else {
            continue;
        };
        let mut sources: Vec<usize> = operands
            .iter()
            .filter_map(|id| made.get(id).copied())
            .collect();
        sources.sort_unstable();
        sources.dedup();
        let layer = sources
            .iter()
            .map(|&at| places[at].layer + 1)
            .max()
            .unwrap_or(0);
        let outputs: Vec<TensorId> = node.outputs.iter().flatten().copied().collect();
        made.extend(outputs.iter().map(|&id| (id, places.len())));
        places.push(FlowBox {
            label: node.op.clone(),
            below: outputs.first().map_or_else(String::new, |&id| shape(id)),
            class: if FREE.contains(&node.op.as_str()) {
                "box"
            } else {
                "box copy"
            },
            layer,
            sources,
        });
    }
    for &id in &group.outputs {
        let Some(&source) = made.get(&id) else {
            continue;
        };
        places.push(FlowBox {
            label: "out".into(),
            below: shape(id),
            class: "box end",
            layer: places[source].layer + 1,
            sources: vec![source],
        });
    }
    draw(&places)
}

fn draw(places: &[FlowBox]) -> String {
    let layers = places
        .iter()
        .map(|place| place.layer + 1)
        .max()
        .unwrap_or(0);
    let mut rows = vec![0usize; layers];
    let row: Vec<usize> = places
        .iter()
        .map(|place| {
            rows[place.layer] += 1;
            rows[place.layer] - 1
        })
        .collect();
    let tallest = rows.iter().copied().max().unwrap_or(0);
    // A layer with fewer boxes stands in the middle.
    let position = |at: usize| {
        let layer = places[at].layer;
        let x = 2.0 + layer as f64 * (WIDE + ACROSS);
        let free = (tallest - rows[layer]) as f64 / 2.0;
        (x, 2.0 + (row[at] as f64 + free) * (TALL + DOWN))
    };
    let (wide, tall) = (
        4.0 + layers as f64 * (WIDE + ACROSS) - ACROSS,
        4.0 + tallest as f64 * (TALL + DOWN) - DOWN,
    );
    let mut out = format!(
        "<div class=\"flow\"><svg width=\"{wide:.0}\" height=\"{tall:.0}\" viewBox=\"0 0 {wide:.0} {tall:.0}\" role=\"img\" \
         aria-label=\"the nodes of the group\">\n"
    );
    for (at, place) in places.iter().enumerate() {
        let (x, y) = position(at);
        let end = y + TALL / 2.0;
        for &source in &place.sources {
            let (from, start) = position(source);
            let (from, start) = (from + WIDE, start + TALL / 2.0);
            let middle = ACROSS / 2.0;
            let _ = write!(
                out,
                "<path class=\"edge\" d=\"M{from:.0} {start:.0}C{:.0} {start:.0} {:.0} {end:.0} {x:.0} {end:.0}\"/>",
                from + middle,
                x - middle
            );
        }
    }
    for (at, place) in places.iter().enumerate() {
        let (x, y) = position(at);
        let below: String = place.below.chars().take(24).collect();
        let _ = write!(
            out,
            "<rect class=\"{}\" x=\"{x:.0}\" y=\"{y:.0}\" width=\"{WIDE}\" height=\"{TALL}\" rx=\"5\"/>\
             <text class=\"name\" x=\"{:.0}\" y=\"{:.0}\">{}</text><text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            place.class,
            x + 8.0,
            y + 15.0,
            escape(&place.label),
            x + 8.0,
            y + 29.0,
            escape(&below)
        );
    }
    out.push_str("</svg></div>\n");
    out
}
