//! Random graphs: groups are connected, can be ordered, and no two neighbours could be one.

use super::{Partition, Unsorted};

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

fn random(random: &mut Random, most: usize) -> Partition {
    let mut graph = Partition::new();
    let mut values = 1 + random.below(2);
    for _ in 0..1 + random.below(most) {
        let reads: Vec<usize> = (0..1 + random.below(3))
            .map(|_| random.below(values))
            .collect();
        let makes: Vec<usize> = (values..values + 1 + random.below(2)).collect();
        values += makes.len();
        graph.node(random.below(3) > 0, &reads, &makes).unwrap();
    }
    for _ in 0..random.below(3) {
        graph.hand_out(random.below(values));
    }
    graph
}

/// Whether the graph has an order after some nodes are made one.
fn can_be_ordered(graph: &Partition, group_of: &[usize]) -> bool {
    let count = graph.nodes.len();
    let mut after = vec![vec![false; count]; count];
    for node in 0..count {
        for source in graph.sources(node) {
            if group_of[source] != group_of[node] {
                after[group_of[source]][group_of[node]] = true;
            }
        }
    }
    for k in 0..count {
        for i in 0..count {
            for j in 0..count {
                after[i][j] |= after[i][k] && after[k][j];
            }
        }
    }
    (0..count).all(|node| !after[node][node])
}

#[test]
fn groups_are_what_they_are_said_to_be() {
    let mut numbers = Random(7);
    let mut merged = 0;
    for _ in 0..3_000 {
        let graph = random(&mut numbers, 14);
        let groups = graph.groups();
        let mut group_of: Vec<usize> = (0..graph.nodes.len()).collect();
        for group in &groups {
            merged += group.nodes.len() - 1;
            group
                .nodes
                .iter()
                .for_each(|&node| group_of[node] = group.nodes[0]);
        }
        let moving = (0..graph.nodes.len()).filter(|&node| graph.nodes[node].movement);
        let mut all: Vec<usize> = groups
            .iter()
            .flat_map(|group| group.nodes.clone())
            .collect();
        all.sort_unstable();
        assert!(moving.eq(all));
        assert!(can_be_ordered(&graph, &group_of), "{graph:?}");
        // Two neighbours that are not one could not be one.
        for node in 0..graph.nodes.len() {
            for source in graph.movers(node).filter(|_| graph.nodes[node].movement) {
                if group_of[source] != group_of[node] {
                    let one = group_of.iter().map(|&g| {
                        if g == group_of[source] {
                            group_of[node]
                        } else {
                            g
                        }
                    });
                    let one: Vec<usize> = one.collect();
                    assert!(!can_be_ordered(&graph, &one), "{graph:?}");
                }
            }
        }
        for group in &groups {
            let inside = |node: usize| group.nodes.contains(&node);
            for &value in &group.inputs {
                assert!(graph.makers.get(&value).is_none_or(|&maker| !inside(maker)));
            }
            for &node in &group.nodes {
                for value in &graph.nodes[node].reads {
                    let own = graph.makers.get(value).is_some_and(|&maker| inside(maker));
                    assert!(own || group.inputs.contains(value));
                }
                for value in &graph.nodes[node].makes {
                    let readers =
                        (0..graph.nodes.len()).filter(|&n| graph.nodes[n].reads.contains(value));
                    let wanted =
                        graph.handed.contains(value) || readers.into_iter().any(|n| !inside(n));
                    assert_eq!(wanted, group.outputs.contains(value), "{graph:?}");
                }
            }
        }
    }
    assert!(merged > 3_000, "{merged}");
}

#[test]
fn a_large_graph_costs_little_more_than_its_size() {
    // Every second node is a compute node that both the one before and all later ones read from.
    let mut graph = Partition::new();
    for node in 0..20_000usize {
        let reads: Vec<usize> = [1, 2, 7, 100]
            .iter()
            .filter_map(|back| node.checked_sub(*back))
            .collect();
        graph.node(node % 2 == 0, &reads, &[node]).unwrap();
    }
    assert!(!graph.groups().is_empty());
}

#[test]
fn order_is_asked_for() {
    let mut graph = Partition::new();
    graph.node(true, &[5], &[6]).unwrap();
    let error = Unsorted { node: 1, value: 5 };
    assert_eq!(graph.node(true, &[], &[5]), Err(error));
    assert_eq!(graph.node(true, &[], &[6]).map_err(|e| e.value), Err(6));
    assert!(error.to_string().contains("value 5"));
}
