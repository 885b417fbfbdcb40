//! What the rules of the canonical form are for: plans become cheaper by them, not dearer.

use restride_budget::Meter;
use restride_canon::ir::{Canonical, Node, NodeId};
use restride_canon::{canonicalise, spelled_out};
use restride_lower::plan::{PlanOptions, plan};
use restride_lower::{Lines, Traffic};
use restride_testkit::generate::{Kind, case};

const CASES: u64 = 20_000;

/// Cases that may become dearer: a slice that moves below a gather reads less, but where the data
/// needs a temporary, two slices of one gather may need two. The choice that a `dynamic_update_slice`
/// is has many such gathers.
const DEARER: usize = 30;

/// Stages of a plan, and the bytes that they write and read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Cost {
    stages: usize,
    written: u128,
    read: u128,
}

impl Cost {
    fn of(graph: &Canonical) -> Cost {
        let plan = plan(graph, PlanOptions::default(), &Meter::unlimited()).expect("a plan");
        let traffic = Traffic::of(&plan, Lines::default());
        Cost {
            stages: plan.stages.len(),
            written: traffic.written,
            read: traffic.read,
        }
    }

    fn add(&mut self, other: &Cost) {
        self.stages += other.stages;
        self.written += other.written;
        self.read += other.read;
    }
}

/// Whether a node holds what was known when the graph was made. An obligation on it that is left
/// is one that fails, and then nothing moves.
fn is_known(graph: &Canonical, mut node: NodeId) -> bool {
    loop {
        node = match graph.node(node) {
            Node::Constant { .. } | Node::Fill { .. } => return true,
            Node::View { x, .. } => *x,
            Node::Input { .. } | Node::Gather(_) | Node::Concat { .. } => return false,
        };
    }
}

#[test]
fn plans_of_the_canonical_form_are_no_dearer() {
    let (mut refused, mut same, mut cheaper) = (0, 0, 0);
    let mut dearer = Vec::new();
    let (mut before_all, mut after_all) = (Cost::default(), Cost::default());
    for number in 0..CASES {
        let graph = case(4, number, Kind::of_number(number), 8).graph;
        let canonical = canonicalise(&graph, &Meter::unlimited(), None).expect("a canonical form");
        let mut obligations = canonical.checks().iter();
        if obligations.any(|check| is_known(&canonical, check.node)) {
            refused += 1;
            continue;
        }
        let spelled = spelled_out(&graph).expect("a canonical form");
        let (before, after) = (Cost::of(&spelled), Cost::of(&canonical));
        before_all.add(&before);
        after_all.add(&after);
        if after.stages > before.stages || after.written > before.written {
            dearer.push(format!(
                "case {number}: {before:?}, then {after:?}\n{graph}"
            ));
        } else if after == before {
            same += 1;
        } else {
            cheaper += 1;
        }
    }
    let count = dearer.len();
    println!("{refused} known to fail, {same} the same, {cheaper} cheaper, {count} dearer");
    println!("{before_all:?}, then {after_all:?}");
    assert!(count <= DEARER, "{count}\n{}", dearer.join("\n"));
    assert!(after_all.stages < before_all.stages);
    assert!(after_all.written < before_all.written && after_all.read < before_all.read);
    // The cases are worth something.
    assert!(cheaper > 1_000 && refused < 1_000, "{cheaper} {refused}");
}
