//! How the moves of a kernel are made, and what each would cost in the other ways there are for it.

use restride_leaves::Weave;
use restride_loops::{Buffer, Dim, Form, Gather, IndexType, Kernel, Move, NamedRows, Place, Stmt};
use restride_moves::{ByteBox, Planner, Target, cost};
use serde_json::{Value, json};

use crate::listing::shape;

/// What statements that are alike move.
#[derive(PartialEq)]
enum Moved {
    /// A box in a form.
    Box(Vec<Dim>, Form),
    /// Boxes that are woven.
    Boxes(Vec<Vec<Dim>>),
    /// Rows that so many indices of a type name, of so many, which are so far apart on both sides.
    Rows(i64, IndexType, i64, [i64; 2], Vec<Dim>),
}

/// Moves that are alike.
struct Alike {
    width: usize,
    moved: Moved,
    /// How often a run makes them.
    times: u128,
    bytes: usize,
    /// The way that is taken, and what it costs.
    chosen: (&'static str, usize),
    /// What the others would cost.
    others: Vec<(&'static str, usize)>,
}

/// The ways of all moves of a kernel.
pub(crate) struct Ways {
    groups: Vec<Alike>,
    /// About how many instructions the kernel executes and how many bytes it writes, where its code is not
    /// precompiled; what that costs is said in micro-operations.
    instructions: Option<(usize, usize)>,
}

/// A kernel that takes so many times the operations of a copy is slow wherever its data lie: waiting for
/// memory hides half as many.
const MANY: f64 = 12.0;

/// What moves less is fast enough whichever way.
const LITTLE: f64 = 65536.0;

impl Ways {
    /// Those that precompiled code takes on the machine that this runs on, or those that code of its own
    /// takes on another.
    pub(crate) fn of(kernel: &Kernel, target: &Target) -> Self {
        let mut groups: Vec<Alike> = Vec::new();
        let planner = Planner::new(target);
        let width = |place: &Place| {
            let buffer = kernel.buffer(place.buffer);
            buffer.map_or(1, |buffer| buffer.width.bytes())
        };
        let phases = kernel.phases.iter().rev();
        let mut left: Vec<(&[Stmt], u128)> = phases.map(|phase| (&phase[..], 1)).collect();
        let mut indices = Vec::new();
        while let Some((stmts, times)) = left.pop() {
            let Some((stmt, rest)) = stmts.split_first() else {
                continue;
            };
            let steady = |it: &Move| !indices.iter().any(|var| it.src.addr.coeff(*var) != 0);
            if let Some(woven) = Weave::of(stmts, steady, kernel, &planner) {
                let group = Alike::of_weave(width(&woven.moves[0].dst), &woven);
                add(&mut groups, Some(group), times);
                left.push((&stmts[woven.moves.len()..], times));
                continue;
            }
            left.push((rest, times));
            match stmt {
                Stmt::For { extent, body, .. } => {
                    left.push((body, times.saturating_mul(extent.unsigned_abs().into())));
                }
                Stmt::Move(it) => {
                    let group = Alike::of_move(&planner, width(&it.dst), it);
                    add(&mut groups, group, times);
                }
                Stmt::Gather(it) if target.precompiled => {
                    let group =
                        Alike::of_gather(&planner, kernel.named_rows(it), width(&it.dst), it);
                    add(&mut groups, group, times);
                }
                Stmt::Index { var, .. } => indices.push(*var),
                Stmt::Check { .. } | Stmt::Gather(_) | Stmt::Fill { .. } => {}
            }
        }
        let buffers = kernel.buffers.iter();
        let outputs = buffers.filter(|buffer| buffer.role.output().is_some());
        let written = outputs.filter_map(Buffer::bytes).sum();
        Self {
            groups,
            instructions: (!target.precompiled).then(|| (planner.instructions(kernel), written)),
        }
    }

    /// How many times as many operations the moves of boxes take as a copy of as many bytes. Indices are read as well, so
    /// that rows that they name are nothing to hold a copy against.
    fn ratio(&self) -> Option<f64> {
        let copied = self.sum(|group| cost::copy(group.bytes));
        (copied > 0.0).then(|| self.sum(|group| group.chosen.1) / copied)
    }

    fn sum(&self, of: fn(&Alike) -> usize) -> f64 {
        let boxes = self.groups.iter();
        let boxes = boxes.filter(|group| !matches!(group.moved, Moved::Rows(..)));
        boxes
            .map(|group| group.times as f64 * of(group) as f64)
            .sum()
    }

    /// A remark on what is slow.
    pub(crate) fn warning(&self) -> Option<String> {
        let ratio = self.ratio().filter(|_| self.instructions.is_none());
        let ratio = ratio.filter(|ratio| *ratio >= MANY)?;
        (self.sum(|group| group.bytes) >= LITTLE).then(|| {
            format!(
                "{ratio:.0} times the operations of a copy: with its axes in another order it may be faster \
                 (`--ways` says more)"
            )
        })
    }

    /// About how many instructions the kernel executes, where its code is not precompiled.
    pub(crate) fn instructions(&self) -> Option<usize> {
        self.instructions.map(|(count, _)| count)
    }

    /// For people.
    pub(crate) fn lines(&self) -> Vec<String> {
        let all = match self.instructions {
            None => self
                .ratio()
                .map(|ratio| format!("{ratio:.1} times the operations of a copy")),
            Some((count, bytes)) => {
                let each = count as f64 / bytes.max(1) as f64;
                Some(format!(
                    "about {count} instructions in all, {each:.2} for each byte of output"
                ))
            }
        };
        self.groups.iter().map(Alike::line).chain(all).collect()
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let groups = self.groups.iter().map(|group| {
            let costs = |all: &[(&'static str, usize)]| {
                let all = all
                    .iter()
                    .map(|(way, cost)| ((*way).to_owned(), json!(cost)));
                Value::Object(all.collect())
            };
            json!({
                "box": group.shape(),
                "times": u64::try_from(group.times).unwrap_or(u64::MAX),
                "bytes": group.bytes,
                "chosen": costs(&[group.chosen]),
                "others": costs(&group.others),
            })
        });
        json!(groups.collect::<Vec<_>>())
    }
}

/// Adds a group, or counts it to those that are alike.
fn add(groups: &mut Vec<Alike>, group: Option<Alike>, times: u128) {
    let Some(mut group) = group else { return };
    let same = |known: &&mut Alike| (known.width, &known.moved) == (group.width, &group.moved);
    match groups.iter_mut().find(same) {
        Some(known) => known.times = known.times.saturating_add(times),
        None => {
            group.times = times;
            groups.push(group);
        }
    }
}

impl Alike {
    fn of_move(planner: &Planner, width: usize, it: &Move) -> Option<Self> {
        let shape = ByteBox::of_move(&it.dims, width).ok()?;
        let bytes = shape.bytes();
        let (chosen, others) = match planner.target().precompiled {
            true => {
                let others = planner.candidates(&shape);
                let plan = planner.plan(shape, it.form);
                ((plan.way().name(), plan.cost()), others)
            }
            false => {
                let mut ways = planner.own(&shape, it.form);
                (ways.remove(0), ways)
            }
        };
        let moved = Moved::Box(it.dims.to_vec(), it.form);
        Some(Self::new((width, moved, bytes), chosen, others))
    }

    fn of_weave(width: usize, weave: &Weave<'_>) -> Self {
        let boxes = weave.moves.iter().map(|it| it.dims.to_vec());
        let boxes: Vec<Vec<Dim>> = boxes.collect();
        let bytes = |dims: &Vec<Dim>| dims.iter().fold(width, |n, dim| n * dim.extent as usize);
        let bytes = boxes.iter().map(bytes).sum();
        let moved = Moved::Boxes(boxes);
        Self::new((width, moved, bytes), ("woven", weave.cost), Vec::new())
    }

    fn of_gather(
        planner: &Planner,
        named: Option<NamedRows>,
        width: usize,
        it: &Gather,
    ) -> Option<Self> {
        let plan = planner.gather(it, width, named.clone()).ok()?;
        let others = planner.gather_candidates(it, width, named).ok()?;
        let bytes = plan.row().bytes().saturating_mul(plan.indices().extent);
        let (norm, apart) = (it.norm, [it.dst_stride, it.coeff]);
        let moved = Moved::Rows(it.extent, norm.ty, norm.limit, apart, it.dims.to_vec());
        let chosen = (plan.way().name(), plan.cost());
        Some(Self::new((width, moved, bytes), chosen, others))
    }

    fn new(
        (width, moved, bytes): (usize, Moved, usize),
        chosen: (&'static str, usize),
        mut others: Vec<(&'static str, usize)>,
    ) -> Self {
        others.retain(|(way, _)| *way != chosen.0);
        others.sort_by_key(|(_, cost)| *cost);
        Self {
            width,
            moved,
            times: 1,
            bytes,
            chosen,
            others,
        }
    }

    fn shape(&self) -> String {
        let (rows, dims) = match &self.moved {
            Moved::Box(dims, _) => (String::new(), shape(dims)),
            Moved::Boxes(boxes) => {
                let boxes: Vec<String> = boxes.iter().map(|dims| shape(dims)).collect();
                (String::new(), boxes.join(" and "))
            }
            Moved::Rows(extent, ty, limit, _, dims) => {
                let rows = format!("gather {extent} {} of {limit} ", ty.name());
                (rows, shape(dims))
            }
        };
        format!("{rows}w{} {dims}", self.width)
    }

    fn line(&self) -> String {
        let times = match self.times {
            1 => String::new(),
            times => format!("{times} times "),
        };
        let (way, cost) = self.chosen;
        let mut line = format!("{times}{}: {way} for {cost}", self.shape());
        for (at, (way, cost)) in self.others.iter().enumerate() {
            line += if at == 0 { ", not " } else { " or " };
            line += &format!("{way} for {cost}");
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use restride_moves::Features;

    #[test]
    fn moves_of_one_box_are_one_line() {
        let text = "kernel \"k\" {\n  b0 = out 0 w1 [90]\n  b1 = in 0 w1 [90]\n\n  for v0 in 0..4 {\n    \
                    move b0[20*v0] <- b1[20*v0] box [(20, 1, 1)] as rows\n  }\n  \
                    move b0[80] <- b1[80] box [(10, 1, 1)] as rows\n}\n";
        let kernel: Kernel = text.parse().expect("a kernel");
        let ways = Ways::of(&kernel, &Target::default());
        let lines = ways.lines();
        assert_eq!(lines[0], "4 times w1 [(20, 1, 1)]: rows for 8");
        assert_eq!(lines.len(), 3);
        assert_eq!(
            ways.ratio().map(|ratio| ratio > 1.0 && ratio < 2.0),
            Some(true),
            "{lines:?}"
        );
        assert_eq!(ways.warning(), None);
        assert_eq!(ways.json()[0]["times"], 4);
    }

    #[test]
    fn code_that_calls_nothing_weaves_nothing() {
        let text = "kernel \"k\" {\n  b0 = out 0 w1 [800]\n  b1 = in 0 w1 [600]\n  b2 = in 1 w1 [200]\n\n  \
                    move b0[0] <- b1[0] box [(200, 4, 3), (3, 1, 1)] as rows\n  \
                    move b0[3] <- b2[0] box [(200, 4, 1)]\n}\n";
        let kernel: Kernel = text.parse().expect("a kernel");
        let target = Target {
            precompiled: false,
            ..Target::with(Features::Avx2)
        };
        let lines = Ways::of(&kernel, &target).lines();
        assert!(
            !lines.iter().any(|line| line.contains("woven")),
            "{lines:?}"
        );
        assert_eq!(lines.len(), 3);
    }
}
