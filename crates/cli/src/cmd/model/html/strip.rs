//! The model from input to output: a column for each group, and under them a mark for each node.

use std::fmt::Write;

use restride_import::{ModelNode, Role};

use super::super::survey::{FREE, Survey};
use super::super::text::bytes_shown;
use crate::cmd::report::page::escape;

const WIDTH: f64 = 1100.0;
const HEIGHT: f64 = 190.0;

/// The most columns; of more groups, those that move most.
const MOST: usize = 360;

/// A column.
struct Column {
    kind: usize,
    alone: u128,
    moved: u128,
}

/// The picture.
pub(super) fn picture(survey: &Survey) -> String {
    let columns = columns(survey);
    let most = columns
        .iter()
        .map(|c| c.alone.max(c.moved))
        .max()
        .unwrap_or(0)
        .max(1);
    let step = (WIDTH / columns.len().max(1) as f64).min(240.0);
    let gap = (step * 0.25).min(8.0);
    let top = 26.0;
    let base = top + HEIGHT;
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"bytes moved by each group\">\n",
        base + 46.0
    );
    let tall = |bytes: u128| HEIGHT * bytes as f64 / most as f64;
    let labels = labels(&columns, step, base, most);
    for (at, column) in columns.iter().enumerate() {
        let (x, wide) = (at as f64 * step + gap / 2.0, (step - gap).max(1.0));
        let kind = &survey.kinds[column.kind];
        let _ = write!(
            out,
            "<a href=\"#g{}\"><title>{}: {} moved, {} node by node</title>",
            column.kind + 1,
            escape(&kind.what),
            bytes_shown(column.moved),
            bytes_shown(column.alone)
        );
        let mut bar = |class: &str, height: f64| {
            let _ = write!(
                out,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"{height:.1}\"/>",
                base - height
            );
        };
        if column.alone > 0 {
            bar("alone", tall(column.alone).max(1.0));
        }
        match column.moved {
            0 => bar("free", 3.0),
            moved => bar("moved", tall(moved).max(2.0)),
        }
        if let Some((_, text, middle, y)) = labels.iter().find(|label| label.0 == at) {
            let _ = write!(
                out,
                "<text x=\"{middle:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{text}</text>"
            );
        }
        out.push_str("</a>\n");
    }
    let _ = writeln!(
        out,
        "<line class=\"axis\" x1=\"0\" x2=\"{WIDTH}\" y1=\"{base}\" y2=\"{base}\"/>"
    );
    marks(survey, base + 12.0, &mut out);
    let _ = writeln!(
        out,
        "<text x=\"0\" y=\"{:.0}\">every node that runs, in order</text></svg>",
        base + 42.0
    );
    out
}

/// Which columns say how much they move, what they say and where: the largest first, and none over
/// another's.
fn labels(columns: &[Column], step: f64, base: f64, most: u128) -> Vec<(usize, String, f64, f64)> {
    let size = |at: usize| columns[at].alone.max(columns[at].moved);
    let mut order: Vec<usize> = (0..columns.len()).filter(|&at| size(at) > 0).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(size(at)), at));
    let mut labels: Vec<(usize, String, f64, f64)> = Vec::new();
    // Half of a text, with some air.
    let half = |text: &str| text.chars().count() as f64 * 3.2 + 4.0;
    for at in order {
        let column = &columns[at];
        let text = match column.moved == column.alone {
            true => bytes_shown(column.moved),
            false => format!(
                "{} \u{2192} {}",
                bytes_shown(column.alone),
                bytes_shown(column.moved)
            ),
        };
        let wide = half(&text);
        let middle = ((at as f64 + 0.5) * step).clamp(wide, (WIDTH - wide).max(wide));
        let y = base - HEIGHT * size(at) as f64 / most as f64 - 6.0;
        let free = labels.iter().all(|(_, other, x, height)| {
            (middle - x).abs() >= wide + half(other) || (y - height).abs() >= 13.0
        });
        // Nor across a column that is taller.
        let clear = (0..columns.len()).all(|other| {
            let x = (other as f64 + 0.5) * step;
            let top = base - HEIGHT * size(other) as f64 / most as f64;
            other == at || (x - middle).abs() >= wide + step / 2.0 || top > y + 2.0
        });
        if free && clear && labels.len() < 24 {
            labels.push((at, text, middle, y));
        }
    }
    labels
}

/// A column for each group that costs something, in the order of the model.
fn columns(survey: &Survey) -> Vec<Column> {
    let mut all: Vec<(usize, Column)> = Vec::new();
    for (at, kind) in survey.busy() {
        all.extend(kind.members.iter().map(|member| {
            let first = member.group.nodes.first().map_or(0, |id| id.index());
            let column = Column {
                kind: at,
                alone: kind.alone.moved,
                moved: kind.moved(),
            };
            (first, column)
        }));
    }
    if all.len() > MOST {
        all.sort_by_key(|(_, column)| std::cmp::Reverse(column.alone.max(column.moved)));
        all.truncate(MOST);
    }
    all.sort_by_key(|(first, _)| *first);
    all.into_iter().map(|(_, column)| column).collect()
}

/// A mark for each node that runs: what moves, what is free, what computes.
fn marks(survey: &Survey, y: f64, out: &mut String) {
    let class = |node: &ModelNode| match &node.role {
        Role::Fixed | Role::Unused => None,
        Role::Movement(_) if FREE.contains(&node.op.as_str()) => Some("free"),
        Role::Movement(_) | Role::Hidden(_) => Some("moved"),
        Role::Compute => Some("calm"),
    };
    let classes: Vec<&str> = survey.model.nodes.iter().filter_map(class).collect();
    let step = (WIDTH / classes.len().max(1) as f64).min(36.0);
    // Neighbours of one kind are one mark.
    let mut at = 0;
    while at < classes.len() {
        let run = classes[at..]
            .iter()
            .take_while(|class| **class == classes[at])
            .count();
        let gap = if step > 3.0 { 1.0 } else { 0.0 };
        let pieces = if step > 3.0 { run } else { 1 };
        for piece in 0..pieces {
            let x = (at + piece) as f64 * step;
            let wide = if pieces == 1 {
                step * run as f64 - gap
            } else {
                step - gap
            };
            let _ = write!(
                out,
                "<rect class=\"{}\" x=\"{x:.1}\" y=\"{y:.0}\" width=\"{wide:.1}\" height=\"13\"/>",
                classes[at]
            );
        }
        at += run;
    }
    out.push('\n');
}
