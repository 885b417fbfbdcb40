//! Groups of nodes, in any host's graph, that can run as one.
//!
//! A compiler of data movement gains by seeing whole chains. A host has a graph of which some nodes
//! only move data; what it needs is sets of such nodes that it can replace by one node each. Such a
//! set is connected, and no path leaves it and comes back, also not through another set: otherwise
//! nobody could say what runs first.
//!
//! ```
//! use restride_partition::Partition;
//!
//! // x -> transpose -> a -> reshape -> b -> matmul -> c -> transpose -> d, and concat of b and d.
//! let mut host = Partition::new();
//! let [x, a, b, c, d, e] = [0, 1, 2, 3, 4, 5];
//! host.node(true, &[x], &[a])?; // transpose
//! host.node(true, &[a], &[b])?; // reshape
//! host.node(false, &[b], &[c])?; // matmul
//! host.node(true, &[c], &[d])?; // transpose
//! host.node(true, &[b, d], &[e])?; // concat
//! host.hand_out(e);
//!
//! let groups = host.groups();
//! assert_eq!(groups[0].nodes, [0, 1]);
//! assert_eq!((&groups[0].inputs[..], &groups[0].outputs[..]), (&[x][..], &[b][..]));
//! assert_eq!(groups[1].nodes, [3, 4]);
//! assert_eq!((&groups[1].inputs[..], &groups[1].outputs[..]), (&[c, b][..], &[e][..]));
//! # Ok::<(), restride_partition::Unsorted>(())
//! ```
#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

/// A host's graph, told node by node.
#[derive(Clone, Debug, Default)]
pub struct Partition {
    nodes: Vec<Node>,
    /// The node that makes a value.
    makers: HashMap<usize, usize>,
    /// Values that something has read by now, or that are handed out.
    handed: HashSet<usize>,
    read: HashSet<usize>,
}

#[derive(Clone, Debug)]
struct Node {
    movement: bool,
    reads: Vec<usize>,
    makes: Vec<usize>,
}

/// Nodes that can run as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// By number, in the order in which they were told.
    pub nodes: Vec<usize>,
    /// The values that it reads and does not make, in the order in which they are first read.
    pub inputs: Vec<usize>,
    /// The values that it makes and somebody else reads or the graph hands out.
    pub outputs: Vec<usize>,
}

/// A node makes a value that was read or made before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsorted {
    /// The node, by number.
    pub node: usize,
    /// The value.
    pub value: usize,
}

impl std::fmt::Display for Unsorted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { node, value } = self;
        write!(
            f,
            "node {node} makes value {value}, which is read or made before it"
        )
    }
}

impl std::error::Error for Unsorted {}

/// How many steps a node and an edge pay for, when paths are looked for. What is not found within
/// that is not merged: groups are smaller then, never wrong.
const STEPS: usize = 256;

impl Partition {
    /// A graph without nodes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells of a node: whether it only moves data, the values that it reads and those that it
    /// makes, by whatever numbers the host has for them. Nodes come after those that they read
    /// from. Gives its number.
    pub fn node(
        &mut self,
        movement: bool,
        reads: &[usize],
        makes: &[usize],
    ) -> Result<usize, Unsorted> {
        let node = self.nodes.len();
        self.read.extend(reads);
        for &value in makes {
            if self.read.contains(&value) || self.makers.insert(value, node).is_some() {
                return Err(Unsorted { node, value });
            }
        }
        self.nodes.push(Node {
            movement,
            reads: reads.to_vec(),
            makes: makes.to_vec(),
        });
        Ok(node)
    }

    /// Says that a value is an output of the graph.
    pub fn hand_out(&mut self, value: usize) {
        self.handed.insert(value);
    }

    /// The groups: as large as they get by merging neighbours one after the other, in the order of
    /// their first nodes.
    #[must_use]
    pub fn groups(&self) -> Vec<Group> {
        let mut merger = Merger::of(self);
        for node in 0..self.nodes.len() {
            if self.nodes[node].movement {
                // Merging one neighbour may open the way for another.
                while self.movers(node).any(|from| merger.merge(from, node)) {}
            }
        }
        let mut groups: Vec<Group> = Vec::new();
        let mut known: HashMap<usize, usize> = HashMap::new();
        for node in (0..self.nodes.len()).filter(|&node| self.nodes[node].movement) {
            let at = *known.entry(merger.root(node)).or_insert_with(|| {
                groups.push(Group {
                    nodes: Vec::new(),
                    inputs: Vec::new(),
                    outputs: Vec::new(),
                });
                groups.len() - 1
            });
            groups[at].nodes.push(node);
        }
        let mut group_of = vec![usize::MAX; self.nodes.len()];
        for (at, group) in groups.iter().enumerate() {
            group.nodes.iter().for_each(|&node| group_of[node] = at);
        }
        // Who reads a value that another group, or nobody's, makes.
        let mut wanted: HashSet<usize> = self.handed.clone();
        for (node, &group) in self.nodes.iter().zip(&group_of) {
            for value in &node.reads {
                let from = self.makers.get(value).map(|&maker| group_of[maker]);
                if from.is_some_and(|from| from != group) {
                    wanted.insert(*value);
                }
            }
        }
        for (at, group) in groups.iter_mut().enumerate() {
            let mut seen = HashSet::new();
            for &node in &group.nodes {
                for &value in &self.nodes[node].reads {
                    let own = self.makers.get(&value).is_some_and(|&m| group_of[m] == at);
                    if !own && seen.insert(value) {
                        group.inputs.push(value);
                    }
                }
                let makes = self.nodes[node].makes.iter();
                group
                    .outputs
                    .extend(makes.filter(|value| wanted.contains(value)));
            }
        }
        groups
    }

    /// The nodes that a node reads from.
    fn sources(&self, node: usize) -> impl Iterator<Item = usize> {
        let values = self.nodes[node].reads.iter();
        values.filter_map(|value| self.makers.get(value).copied())
    }

    /// Those of them that move data.
    fn movers(&self, node: usize) -> impl Iterator<Item = usize> {
        self.sources(node).filter(|&from| self.nodes[from].movement)
    }
}

/// Groups that grow: each node belongs to one, compute nodes to one of their own.
struct Merger<'a> {
    graph: &'a Partition,
    /// The group of a node, by its first member, as a forest.
    parent: Vec<usize>,
    members: Vec<Vec<usize>>,
    /// The first and the last member of each group.
    span: Vec<(usize, usize)>,
    /// When a group was last looked at.
    seen: Vec<usize>,
    turn: usize,
    steps: usize,
}

impl<'a> Merger<'a> {
    fn of(graph: &'a Partition) -> Self {
        let count = graph.nodes.len();
        let edges: usize = graph.nodes.iter().map(|node| node.reads.len()).sum();
        Merger {
            graph,
            parent: (0..count).collect(),
            members: (0..count).map(|node| vec![node]).collect(),
            span: (0..count).map(|node| (node, node)).collect(),
            seen: vec![0; count],
            turn: 0,
            steps: STEPS.saturating_mul(count + edges),
        }
    }

    fn root(&mut self, node: usize) -> usize {
        let mut root = node;
        while self.parent[root] != root {
            root = self.parent[root];
        }
        let mut at = node;
        while self.parent[at] != root {
            at = std::mem::replace(&mut self.parent[at], root);
        }
        root
    }

    /// Makes two neighbours one group, unless a third lies between them; whether it did.
    fn merge(&mut self, from: usize, to: usize) -> bool {
        let (from, to) = (self.root(from), self.root(to));
        if from == to || self.lies_between(from, to) {
            return false;
        }
        let (keep, gone) = match self.members[from].len() < self.members[to].len() {
            true => (to, from),
            false => (from, to),
        };
        self.parent[gone] = keep;
        let moved = std::mem::take(&mut self.members[gone]);
        self.members[keep].extend(moved);
        let (a, b) = (self.span[keep], self.span[gone]);
        self.span[keep] = (a.0.min(b.0), a.1.max(b.1));
        true
    }

    /// Whether a path leads from one group to another through a third.
    fn lies_between(&mut self, from: usize, to: usize) -> bool {
        self.turn += 1;
        let first = self.span[from].0;
        let mut open = vec![to];
        self.seen[to] = self.turn;
        while let Some(group) = open.pop() {
            for at in 0..self.members[group].len() {
                let node = self.members[group][at];
                for source in self.graph.sources(node) {
                    if self.steps == 0 {
                        return true;
                    }
                    self.steps -= 1;
                    let source = self.root(source);
                    if source == from && group != to {
                        return true;
                    }
                    // What ends before `from` begins does not come after it.
                    let earlier = self.span[source].1 < first;
                    if source != from && !earlier && self.seen[source] != self.turn {
                        self.seen[source] = self.turn;
                        open.push(source);
                    }
                }
            }
        }
        false
    }
}
