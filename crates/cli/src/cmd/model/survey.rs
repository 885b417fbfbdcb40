//! What there is to say about a model's movement, gathered once for whoever says it.

use std::collections::{BTreeMap, HashMap};

use restride_graph::{Graph, TensorType, ViewPolicy};
use restride_import::{
    Bound, Dimension, GroupProgram, Model, ModelNode, NodeGroup, NodeId, Role, Sizes, Unknown,
};
use restride_loops::{Kernel, Stmt};
use restride_lower::Traffic;
use restride_lower::plan::Answer;

use crate::explanation::Explanation;
use crate::failure::Failure;
use crate::say::Progress;
use crate::source::printable;
use crate::stages::AnyProgram;

/// A model with its groups, equal ones together.
pub(super) struct Survey {
    pub(super) model: Model,
    pub(super) kinds: Vec<GroupKind>,
    /// Nodes of movement that cannot be told ahead, each with the reason.
    pub(super) hidden: Vec<(NodeId, Unknown)>,
    pub(super) views: ViewPolicy,
    /// The sizes that the file leaves open.
    pub(super) dimensions: Vec<Dimension>,
}

/// Groups that are one program, but for names.
pub(super) struct GroupKind {
    /// The groups, in the order of the model.
    pub(super) members: Vec<Member>,
    /// The operators in the words of the model.
    pub(super) what: String,
    /// The first of them at every stage, or why it does not compile.
    pub(super) explanation: Result<Explanation, String>,
    /// How many outputs are views of inputs.
    pub(super) views: usize,
    /// What its nodes move when each runs by itself.
    pub(super) alone: Alone,
    /// Nanoseconds, if they were measured.
    pub(super) times: Option<GroupTimes>,
}

/// A group and its program.
pub(super) struct Member {
    pub(super) group: NodeGroup,
    pub(super) program: GroupProgram,
    /// The open sizes that it holds for one of only.
    pub(super) bound: Vec<Bound>,
}

/// What nodes move one by one, each writing what it makes, but for those that change no byte.
#[derive(Clone, Debug, Default)]
pub(super) struct Alone {
    /// Bytes read and written.
    pub(super) moved: u128,
    /// Cache lines read and written.
    pub(super) lines: i128,
    /// The nodes that copy.
    pub(super) copies: Vec<Copied>,
}

/// A node that copies.
#[derive(Clone, Debug)]
pub(super) struct Copied {
    pub(super) node: NodeId,
    /// The node as a graph of its own.
    pub(super) graph: Graph,
    /// The bytes that it moves.
    pub(super) moved: u128,
}

/// Nanoseconds of one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupTimes {
    /// As one program.
    pub(super) together: f64,
    /// Node by node, each compiled by itself.
    pub(super) alone: f64,
    /// A memcpy of as many bytes as the program writes.
    pub(super) memcpy: f64,
}

/// Operators that hand the same bytes on under another shape: no engine copies for them.
pub(super) const FREE: [&str; 6] = [
    "Reshape",
    "Squeeze",
    "Unsqueeze",
    "Flatten",
    "Identity",
    "Dropout",
];

/// How many causes are named: why nodes cannot be told ahead, and why groups are for one size only.
pub(super) const MOST_CAUSES: usize = 8;

/// The bytes of a run that a memcpy moves as fast as anything does.
const LONG_RUN: i64 = 1024;

/// So little is moved in the time of a few calls.
const FEW_BYTES: u128 = 512 << 10;

/// The same of a run that is repeated: shorter ones, such as single elements, runtimes write slowly.
const REPEATED_RUN: i64 = 64;

/// How much of a node's name is shown: its end says more than its beginning.
const MOST_NAME: usize = 44;

impl Survey {
    /// Compiles every group of a model.
    pub(super) fn of(model: Model, sizes: &mut Sizes, views: ViewPolicy) -> Result<Self, Failure> {
        let mut kinds: Vec<GroupKind> = Vec::new();
        let mut known: HashMap<(String, String, Vec<usize>), usize> = HashMap::new();
        let mut progress = Progress::begin();
        let groups = model.groups();
        let count = groups.len();
        for (at, group) in groups.into_iter().enumerate() {
            progress.at("compiling group", at + 1, count);
            let mut program = model
                .program(&group)
                .map_err(|error| Failure::Internal(format!("a group of the model: {error}")))?;
            let reach = sizes.reach(&model, &group, &program);
            program.graph = reach.graph;
            let what = words(&model, &group);
            let spelled = program.graph.without_names().to_string();
            let bound = reach.bound.iter().map(|bound| bound.dimension).collect();
            let key = (what.clone(), spelled, bound);
            let member = Member {
                group,
                program,
                bound: reach.bound,
            };
            if let Some(&at) = known.get(&key) {
                kinds[at].members.push(member);
                continue;
            }
            known.insert(key, kinds.len());
            kinds.push(GroupKind::of(&model, member, what, views));
        }
        let hidden = model.numbered().filter_map(|(id, node)| match &node.role {
            Role::Hidden(why) => Some((id, why.clone())),
            Role::Fixed | Role::Unused | Role::Movement(_) | Role::Compute => None,
        });
        let hidden = hidden.collect();
        Ok(Self {
            model,
            kinds,
            hidden,
            views,
            dimensions: sizes.dimensions().to_vec(),
        })
    }

    /// Puts first what costs most.
    pub(super) fn sort(&mut self) {
        self.kinds.sort_by_key(|kind| {
            let times = kind.members.len() as u128;
            let first = kind
                .members
                .first()
                .map(|member| member.group.nodes.clone());
            std::cmp::Reverse((
                kind.moved() * times,
                kind.alone.moved * times,
                std::cmp::Reverse(first),
            ))
        });
    }

    /// How many groups there are.
    pub(super) fn groups(&self) -> usize {
        self.kinds.iter().map(|kind| kind.members.len()).sum()
    }

    /// The kinds that are worth a line each, by number: the others cost nothing in any engine.
    pub(super) fn busy(&self) -> impl Iterator<Item = (usize, &GroupKind)> {
        let kinds = self.kinds.iter().enumerate();
        kinds.filter(|(_, kind)| !kind.is_idle())
    }

    /// The others together: how many groups, and of which operators.
    pub(super) fn idle(&self) -> Option<(usize, String)> {
        let mut count = 0;
        let mut operators: BTreeMap<&str, usize> = BTreeMap::new();
        for kind in self.kinds.iter().filter(|kind| kind.is_idle()) {
            count += kind.members.len();
            for &id in &kind.first().group.nodes {
                *operators.entry(&self.model.node(id).op).or_default() += kind.members.len();
            }
        }
        let words = operators
            .into_iter()
            .flat_map(|(op, times)| std::iter::repeat_n(op, times));
        (count > 0).then(|| (count, counted(words)))
    }

    /// The names of the open sizes for all of which a kind is one program.
    pub(super) fn any<'a>(&'a self, kind: &'a GroupKind) -> impl Iterator<Item = &'a str> {
        let bound = |at: usize| kind.first().bound.iter().any(|it| it.dimension == at);
        let all = self.dimensions.iter().enumerate();
        all.filter(move |(at, _)| !bound(*at))
            .map(|(_, it)| it.name.as_str())
    }

    /// The groups that hold for one size only of an open one: the number of the kind, how many, and
    /// what spells the size in the first.
    fn bound(&self, dimension: usize) -> Vec<(usize, usize, &Unknown)> {
        let kinds = self.kinds.iter().enumerate();
        let bound = kinds.filter_map(|(at, kind)| {
            let mut bound = kind.first().bound.iter();
            let first = bound.find(|bound| bound.dimension == dimension)?;
            Some((at, kind.members.len(), &first.why))
        });
        bound.collect()
    }

    /// For each size that the file leaves open: how many groups are one program for any, and the
    /// rows of the others with what spells it there.
    pub(super) fn open_sizes(&self) -> Vec<(String, Vec<String>)> {
        let all = self.groups();
        let dimensions = self.dimensions.iter().enumerate();
        let said = dimensions.map(|(at, dimension)| {
            let (name, size) = (&dimension.name, dimension.size);
            let [one, two] = dimension.tried.as_slice() else {
                let said =
                    format!("{name}: the groups are for {size}; no other size of it could be read");
                return (said, Vec::new());
            };
            let bound = self.bound(at);
            let free = all - bound.iter().map(|(_, count, _)| count).sum::<usize>();
            let read = format!("as read at {size}, {one} and {two}");
            let said = match bound.is_empty() {
                true => format!("{name}: every group is one program for any, {read}"),
                false => {
                    format!("{name}: {free} of {all} groups are one program for any, {read}; not")
                }
            };
            let shown = bound.iter().take(MOST_CAUSES);
            let mut rows: Vec<String> = shown
                .map(|(kind, _, why)| format!("{}: {why}", kind + 1))
                .collect();
            if bound.len() > MOST_CAUSES {
                rows.push(format!("and {} more rows", bound.len() - MOST_CAUSES));
            }
            (said, rows)
        });
        said.collect()
    }

    /// What hides nodes, in the order of the model: the cause, and what of it is hidden.
    pub(super) fn causes(&self) -> Vec<String> {
        let mut causes: Vec<(&Unknown, NodeId, usize)> = Vec::new();
        let mut known: HashMap<&Unknown, usize> = HashMap::new();
        for (id, why) in &self.hidden {
            let at = *known.entry(why).or_insert(causes.len());
            match causes.get_mut(at) {
                Some((_, _, count)) => *count += 1,
                None => causes.push((why, *id, 1)),
            }
        }
        let said = causes.into_iter().map(|(why, first, count)| {
            let first = self.model.node(first).label();
            match count {
                1 if *first == *why.node => why.to_string(),
                1 => format!("{why}; this hides {first}"),
                count => format!("{why}; this hides {count} nodes, the first {first}"),
            }
        });
        said.collect()
    }

    /// What somebody can do about causes.
    pub(super) fn remedy(&self) -> &'static str {
        match self.model.open.iter().any(|open| !open.given) {
            true => {
                "--shape tells the shape of any tensor by its name. Sizes that nobody gave may be wrong, too."
            }
            false => "--shape tells the shape of any tensor by its name.",
        }
    }

    /// A sum over all groups.
    pub(super) fn total<T: std::iter::Sum + std::ops::Mul<T, Output = T> + From<u32>>(
        &self,
        of: impl Fn(&GroupKind) -> T,
    ) -> T {
        let kinds = self.kinds.iter();
        kinds
            .map(|kind| of(kind) * T::from(kind.members.len() as u32))
            .sum()
    }
}

impl GroupKind {
    fn of(model: &Model, member: Member, what: String, views: ViewPolicy) -> Self {
        let alone = Alone::of(model, &member.group);
        let program = AnyProgram::Graph(member.program.graph.clone());
        let explanation =
            Explanation::of(&program, views).map_err(|error| error.message().to_owned());
        let answers = explanation
            .as_ref()
            .map(|it| it.lowered.plan.answers.as_slice());
        let views = answers.unwrap_or_default().iter();
        Self {
            views: views
                .filter(|answer| matches!(answer, Answer::View { .. }))
                .count(),
            members: vec![member],
            what,
            explanation,
            alone,
            times: None,
        }
    }

    /// What the program moves; nothing is known of one that does not compile.
    pub(super) fn traffic(&self) -> Traffic {
        self.explanation
            .as_ref()
            .map_or_else(|_| Traffic::default(), |it| it.traffic)
    }

    /// Bytes that the program moves.
    pub(super) fn moved(&self) -> u128 {
        match &self.explanation {
            Ok(it) => it.traffic.moved(),
            Err(_) => self.alone.moved,
        }
    }

    /// How many passes over memory are left.
    pub(super) fn passes(&self) -> usize {
        self.explanation
            .as_ref()
            .map_or(0, |it| it.lowered.plan.stages.len())
    }

    /// The first of its groups.
    pub(super) fn first(&self) -> &Member {
        &self.members[0]
    }

    /// Whether one program is better than what a runtime has for its nodes: it touches no more
    /// memory, and takes the place of several copies or of one. Where it has nothing but long runs to
    /// copy, which a runtime's memcpy moves as well, it has to save memory traffic or, where little is
    /// moved, calls.
    pub(super) fn is_better_together(&self) -> bool {
        let (moved, alone) = (self.moved(), self.alone.moved);
        let saves = moved < FEW_BYTES || alone - moved.min(alone) >= moved / 8;
        match self.alone.copies.len() {
            _ if moved > alone => false,
            0 => false,
            1 => !self.has_long_runs(),
            _ => saves || !self.has_long_runs(),
        }
    }

    /// Whether almost all that it moves are runs that a memcpy moves as well, or repeats of them.
    fn has_long_runs(&self) -> bool {
        let Ok(explanation) = &self.explanation else {
            return true;
        };
        let kernel = &explanation.lowered.kernel;
        let [mut long, mut short] = [0, 0];
        for phase in &kernel.phases {
            runs(kernel, phase, 1, &mut long, &mut short);
        }
        short <= long / 16
    }

    /// Whether nothing is moved, neither as a program nor node by node.
    fn is_idle(&self) -> bool {
        self.explanation.is_ok() && self.moved() == 0 && self.alone.moved == 0
    }

    /// Where the first of its groups begins, by the model's own name; the end of a long one.
    pub(super) fn place(&self, model: &Model) -> String {
        let node = self.first().group.nodes.first().map(|&id| model.node(id));
        let output = |node: &ModelNode| {
            let id = node.outputs.iter().flatten().next();
            id.map_or_else(String::new, |&id| model.tensor(id).name.clone())
        };
        let name = node.map_or_else(String::new, |node| match node.name.is_empty() {
            true => output(node),
            false => node.name.clone(),
        });
        let from = name.char_indices().rev().nth(MOST_NAME - 1);
        let place = match from {
            Some((at, _)) if at > 0 => format!("..{}", &name[at..]),
            _ => name,
        };
        match self.members.len() {
            1 => format!("at {}", printable(&place)),
            _ => format!("first at {}", printable(&place)),
        }
    }

    /// What comes in and goes out.
    pub(super) fn types(&self) -> String {
        let graph = &self.first().program.graph;
        let list = |types: Vec<TensorType>| {
            let shown: Vec<String> = types.iter().map(ToString::to_string).collect();
            counted(shown.iter().map(String::as_str))
        };
        let inputs = graph.inputs().iter().map(|&value| graph.ty(value).clone());
        let outputs = graph
            .outputs()
            .iter()
            .map(|output| graph.output_type(output));
        format!("{} -> {}", list(inputs.collect()), list(outputs.collect()))
    }
}

/// Counts the elements that statements move in long runs and in others, if they run so many times.
fn runs(kernel: &Kernel, body: &[Stmt], times: i128, long: &mut i128, short: &mut i128) {
    for stmt in body {
        match stmt {
            Stmt::For { extent, body, .. } => {
                runs(
                    kernel,
                    body,
                    times.saturating_mul((*extent).into()),
                    long,
                    short,
                );
            }
            Stmt::Move(it) => {
                let run = match it.dims.last() {
                    Some(dim) if (dim.dst, dim.src) == (1, 1) => dim.extent,
                    _ => 1,
                };
                let repeats = it.dims.iter().any(|dim| dim.src == 0 && dim.extent > 1);
                let width = kernel.buffers[it.dst.buffer.0 as usize].width.bytes() as i64;
                let enough = if repeats { REPEATED_RUN } else { LONG_RUN };
                let moved = it.dims.iter().map(|dim| i128::from(dim.extent));
                let moved = moved.fold(times, i128::saturating_mul);
                let kind = if run.saturating_mul(width) >= enough {
                    &mut *long
                } else {
                    &mut *short
                };
                *kind = kind.saturating_add(moved);
            }
            _ => {}
        }
    }
}

impl Alone {
    fn of(model: &Model, group: &NodeGroup) -> Self {
        let mut alone = Self::default();
        for &id in &group.nodes {
            if FREE.contains(&model.node(id).op.as_str()) {
                continue;
            }
            let Ok(program) = model.node_program(id) else {
                continue;
            };
            let stages = AnyProgram::Graph(program.graph.clone());
            if let Ok(explanation) = Explanation::of(&stages, ViewPolicy::Copy) {
                let moved = explanation.traffic.moved();
                alone.moved += moved;
                alone.lines += explanation.traffic.lines_read + explanation.traffic.lines_written;
                alone.copies.push(Copied {
                    node: id,
                    graph: program.graph,
                    moved,
                });
            }
        }
        alone
    }
}

/// The operators of a group in order, each run of one counted.
fn words(model: &Model, group: &NodeGroup) -> String {
    counted(group.nodes.iter().map(|&id| model.node(id).op.as_str()))
}

/// Words, with those counted that follow their like.
fn counted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut runs: Vec<(&str, usize)> = Vec::new();
    for word in words {
        match runs.last_mut() {
            Some((last, count)) if *last == word => *count += 1,
            _ => runs.push((word, 1)),
        }
    }
    let shown = runs.iter().map(|(word, count)| match count {
        1 => (*word).to_owned(),
        count => format!("{word} x{count}"),
    });
    let shown: Vec<String> = shown.collect();
    match shown.len() {
        0 => "nothing".into(),
        1..=8 => shown.join(", "),
        more => format!("{}, .. ({more} altogether)", shown[..7].join(", ")),
    }
}
