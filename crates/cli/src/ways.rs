//! How the moves of a kernel are made, and what each would cost in the other ways there are for it.

use restride_loops::{Dim, Form, Kernel, Stmt};
use restride_moves::{ByteBox, Planner, Target, cost};
use serde_json::{Value, json};

/// Moves of one box in one form.
struct Group {
    width: usize,
    dims: Vec<Dim>,
    form: Form,
    /// How often a run makes them.
    times: u128,
    bytes: usize,
    /// The way that is taken, and what it costs.
    chosen: (&'static str, usize),
    /// What the others would cost.
    others: Vec<(&'static str, usize)>,
}

/// The ways of all moves of a kernel.
pub(crate) struct Ways(Vec<Group>);

/// A kernel that takes so many times the operations of a copy is slow wherever its data lie: waiting for
/// memory hides half as many.
const MANY: f64 = 12.0;

impl Ways {
    /// Those that precompiled code takes on the machine that this runs on.
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let planner = Planner::new(&Target::default());
        let mut left: Vec<(&Stmt, u128)> = Vec::new();
        left.extend(kernel.phases.iter().flatten().map(|stmt| (stmt, 1)));
        left.reverse();
        while let Some((stmt, times)) = left.pop() {
            match stmt {
                Stmt::For { extent, body, .. } => {
                    let times = times.saturating_mul(extent.unsigned_abs().into());
                    left.extend(body.iter().rev().map(|stmt| (stmt, times)));
                }
                Stmt::Move(it) => {
                    let width = kernel.buffer(it.dst.buffer);
                    let width = width.map_or(1, |buffer| buffer.width.bytes());
                    let same = |group: &&mut Group| {
                        (group.width, &group.dims[..], group.form) == (width, &it.dims[..], it.form)
                    };
                    match groups.iter_mut().find(same) {
                        Some(group) => group.times = group.times.saturating_add(times),
                        None => groups.extend(Group::of(&planner, width, &it.dims, it.form, times)),
                    }
                }
                Stmt::Check { .. } | Stmt::Index { .. } | Stmt::Gather(_) | Stmt::Fill { .. } => {}
            }
        }
        Self(groups)
    }

    /// How many times as many operations they take as a copy of as many bytes.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let sum = |of: fn(&Group) -> f64| self.0.iter().map(of).sum::<f64>();
        let cost = sum(|group| group.times as f64 * group.chosen.1 as f64);
        let copied = sum(|group| group.times as f64 * cost::copy(group.bytes) as f64);
        (copied > 0.0).then(|| cost / copied)
    }

    /// For people.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.0.iter().map(Group::line).collect();
        if let Some(ratio) = self.ratio() {
            lines.push(match ratio >= MANY {
                false => format!("{ratio:.1} times the operations of a copy"),
                true => format!(
                    "slow: {ratio:.1} times the operations of a copy; with its axes in another order it may be faster"
                ),
            });
        }
        lines
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let groups = self.0.iter().map(|group| {
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

impl Group {
    fn of(planner: &Planner, width: usize, dims: &[Dim], form: Form, times: u128) -> Option<Self> {
        let shape = ByteBox::of_move(dims, width).ok()?;
        let bytes = shape.bytes();
        let mut others = planner.candidates(&shape);
        let plan = planner.plan(shape, form);
        let chosen = (plan.way().name(), plan.cost());
        others.retain(|(way, _)| *way != chosen.0);
        others.sort_by_key(|(_, cost)| *cost);
        Some(Self {
            width,
            dims: dims.to_vec(),
            form,
            times,
            bytes,
            chosen,
            others,
        })
    }

    fn shape(&self) -> String {
        let dims = self.dims.iter();
        let dims: Vec<String> = dims
            .map(|dim| format!("({}, {}, {})", dim.extent, dim.dst, dim.src))
            .collect();
        format!("w{} [{}]", self.width, dims.join(", "))
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
