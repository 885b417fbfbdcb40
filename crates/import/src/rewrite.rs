//! What becomes of the nodes of a file where groups of them become one node each, whatever format the
//! file has.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::hash::Hash;

use crate::error::ImportError;

/// Whose operator stands for a group.
pub(crate) const DOMAIN: &str = "restride";

/// The operator.
pub(crate) const OPERATOR: &str = "Move";

/// Its attribute: a program as text.
pub(crate) const PROGRAM: &str = "program";

/// A file that was rewritten.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The file.
    pub bytes: Vec<u8>,
    /// For each group, why it stays as it is; nothing if it was replaced.
    pub stays: Vec<Option<&'static str>>,
    /// How many nodes are gone besides, since nobody reads any more what they make.
    pub dropped: usize,
}

/// A node of a file. `K` tells its tensors apart.
pub(crate) struct RewriteStep<K> {
    pub(crate) reads: Vec<K>,
    pub(crate) makes: Vec<K>,
    /// What it does not read any more since one of its bodies was rewritten.
    pub(crate) formerly: Vec<K>,
    /// Whether it stays also if nobody reads what it makes: inputs of a model.
    pub(crate) stays: bool,
}

/// What stands for a group.
pub(crate) struct Move<K> {
    /// The number of the group.
    pub(crate) group: usize,
    /// The nodes that it stands for, by number.
    pub(crate) nodes: Vec<usize>,
    pub(crate) inputs: Vec<K>,
    pub(crate) outputs: Vec<K>,
}

/// What becomes of a list of nodes.
pub(crate) struct RewritePlan<K> {
    pub(crate) steps: Vec<RewriteStep<K>>,
    /// The nodes that are gone.
    pub(crate) removed: Vec<bool>,
    /// The groups that are replaced.
    pub(crate) moves: Vec<Move<K>>,
    /// The others, and why they stay.
    pub(crate) stays: Vec<(usize, &'static str)>,
    /// How many nodes are gone besides those of groups.
    pub(crate) dropped: usize,
    /// What somebody has read and nobody reads any more, and no node makes.
    pub(crate) idle: HashSet<K>,
}

/// What stands at a place of the new file.
pub(crate) enum Item {
    /// A node of the file, by number.
    Old(usize),
    /// What stands for a group, by its number among [`RewritePlan::moves`].
    New(usize),
}

impl<K: Copy + Eq + Hash> RewritePlan<K> {
    /// Replaces as many groups as can be.
    pub(crate) fn new(
        steps: Vec<RewriteStep<K>>,
        handed_out: &[K],
        candidates: Vec<Move<K>>,
    ) -> Self {
        let mut plan = RewritePlan {
            removed: vec![false; steps.len()],
            steps,
            moves: Vec::new(),
            stays: Vec::new(),
            dropped: 0,
            idle: HashSet::new(),
        };
        for it in candidates {
            if it.nodes.iter().any(|&at| plan.removed[at]) {
                let why = "it shares a node with another group";
                plan.stays.push((it.group, why));
                continue;
            }
            it.nodes.iter().for_each(|&at| plan.removed[at] = true);
            plan.moves.push(it);
        }
        // A group that has to stay may be what others were dropped for, so all is planned anew then.
        loop {
            plan.removed.fill(false);
            for &at in plan.moves.iter().flat_map(|it| &it.nodes) {
                plan.removed[at] = true;
            }
            plan.drop_unread(handed_out);
            let missed = plan.missed(handed_out);
            if missed.is_empty() {
                return plan;
            }
            plan.moves.retain(|it| !missed.contains(&it.group));
            let why = "something else reads a tensor inside of it";
            let missed = missed.into_iter().map(|group| (group, why));
            plan.stays.extend(missed);
        }
    }

    /// Removes what only those that are gone have read: the arithmetic on their parameters.
    fn drop_unread(&mut self, handed_out: &[K]) {
        (self.dropped, self.idle) = (0, HashSet::new());
        let mut makers: HashMap<K, usize> = HashMap::new();
        let mut reads: HashMap<K, usize> = HashMap::new();
        let mut was_read: HashSet<K> = HashSet::new();
        for (at, step) in self.steps.iter().enumerate() {
            makers.extend(step.makes.iter().map(|&key| (key, at)));
            was_read.extend(&step.formerly);
            match self.removed[at] {
                true => was_read.extend(&step.reads),
                false => {
                    let all = step.reads.iter();
                    all.for_each(|&key| *reads.entry(key).or_default() += 1);
                }
            }
        }
        let inputs = self.moves.iter().flat_map(|it| &it.inputs);
        let needed: HashSet<K> = handed_out.iter().chain(inputs).copied().collect();
        let mut unread: Vec<K> = was_read.into_iter().collect();
        while let Some(key) = unread.pop() {
            let is_idle =
                |key: &K| !needed.contains(key) && reads.get(key).is_none_or(|&count| count == 0);
            if !is_idle(&key) {
                continue;
            }
            let Some(&at) = makers.get(&key) else {
                self.idle.insert(key);
                continue;
            };
            let step = &self.steps[at];
            if self.removed[at] || step.stays || !step.makes.iter().all(is_idle) {
                continue;
            }
            self.removed[at] = true;
            self.dropped += 1;
            for &key in &step.reads {
                if let Some(count) = reads.get_mut(&key) {
                    *count = count.saturating_sub(1);
                }
                unread.push(key);
            }
        }
    }

    /// The groups of which a tensor is read that is not there any more: such as by a Shape, which asks
    /// for no data.
    fn missed(&self, handed_out: &[K]) -> HashSet<usize> {
        let mut inside: HashMap<K, usize> = HashMap::new();
        for it in &self.moves {
            let made = it.nodes.iter().flat_map(|&at| &self.steps[at].makes);
            let gone = made.filter(|key| !it.outputs.contains(key));
            inside.extend(gone.map(|&key| (key, it.group)));
        }
        let reads = self.reads().chain(handed_out);
        reads.filter_map(|key| inside.get(key).copied()).collect()
    }

    /// What is read by what is left and what is new.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &K> {
        let left = self.steps.iter().zip(&self.removed);
        let left = left.filter(|(_, gone)| !**gone);
        let inputs = self.moves.iter().flat_map(|it| &it.inputs);
        left.flat_map(|(step, _)| &step.reads).chain(inputs)
    }

    /// What is left and what is new, each after what it reads.
    pub(crate) fn order(&self) -> Result<Vec<Item>, ImportError> {
        let mut makers: HashMap<K, usize> = HashMap::new();
        // Each with the place where it would be best, among the nodes.
        let mut items: Vec<(usize, Item, &[K])> = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            if !self.removed[at] {
                makers.extend(step.makes.iter().map(|&key| (key, items.len())));
                items.push((at, Item::Old(at), &step.reads));
            }
        }
        for (at, it) in self.moves.iter().enumerate() {
            makers.extend(it.outputs.iter().map(|&key| (key, items.len())));
            let first = it.nodes.iter().copied().min().unwrap_or_default();
            items.push((first, Item::New(at), &it.inputs));
        }
        let mut waits = vec![0usize; items.len()];
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
        for (at, (_, _, reads)) in items.iter().enumerate() {
            for maker in reads.iter().filter_map(|key| makers.get(key)) {
                readers[*maker].push(at);
                waits[at] += 1;
            }
        }
        let ready = (0..items.len()).filter(|&at| waits[at] == 0);
        let mut ready: BinaryHeap<_> = ready.map(|at| Reverse((items[at].0, at))).collect();
        let mut order = Vec::new();
        while let Some(Reverse((_, at))) = ready.pop() {
            order.push(at);
            for &reader in &readers[at] {
                waits[reader] -= 1;
                if waits[reader] == 0 {
                    ready.push(Reverse((items[reader].0, reader)));
                }
            }
        }
        if order.len() < items.len() {
            return Err(ImportError::new("a group waits for itself"));
        }
        let mut items: Vec<Option<Item>> = items.into_iter().map(|it| Some(it.1)).collect();
        Ok(order
            .into_iter()
            .filter_map(|at| items[at].take())
            .collect())
    }
}
