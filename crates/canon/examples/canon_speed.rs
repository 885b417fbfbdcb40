//! How long canonicalising takes for chains of 1, 4 and 8 operators: medians in nanoseconds.

use restride_canon::canonicalise;
use restride_graph::{ElementType, Graph, IndexRule, Op, OutOfRange, ReshapeDialect, SliceDialect};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// A chain as attention code spells it: cut heads, move them, take a window, turn it.
fn chain(ops: usize) -> Result<Graph, Box<dyn Error>> {
    let mut g = Graph::new("chain");
    let mut x = g.input("x", ElementType::F32, [4, 128, 768])?;
    let plain = ReshapeDialect::Plain;
    for op in 0..ops {
        let ints = |list: &[i64]| list.iter().copied().collect();
        x = g.push(match op % 8 {
            0 => Op::Slice {
                x,
                dialect: SliceDialect::OpenVino,
                start: ints(&[0, 8, 0]),
                stop: ints(&[4, 72, 768]),
                step: ints(&[1, 1, 1]),
                axes: None,
            },
            1 => Op::Reshape {
                x,
                dialect: plain,
                pattern: ints(&[4, 64, 12, 64]),
            },
            2 => Op::Transpose {
                x,
                perm: ints(&[0, 2, 1, 3]),
            },
            3 => Op::Slice {
                x,
                dialect: SliceDialect::OpenVino,
                start: ints(&[0, 0, 0, 32]),
                stop: ints(&[4, 12, 64, 64]),
                step: ints(&[1, 1, 2, 1]),
                axes: None,
            },
            4 => Op::Unsqueeze {
                x,
                axes: ints(&[1]),
            },
            5 => Op::Transpose {
                x,
                perm: ints(&[0, 1, 3, 2, 4]),
            },
            6 => Op::Reverse {
                x,
                axes: ints(&[2]),
            },
            _ => Op::Reshape {
                x,
                dialect: plain,
                pattern: ints(&[4, 32, 384]),
            },
        })?;
    }
    g.output(x)?;
    Ok(g)
}

/// Rows by index, reshaped and moved.
fn gather() -> Result<Graph, Box<dyn Error>> {
    let mut g = Graph::new("gather");
    let x = g.input("x", ElementType::F32, [32000, 768])?;
    let indices = g.input("i", ElementType::I64, [4, 128])?;
    let rule = IndexRule {
        out_of_range: OutOfRange::Error,
        wrap: true,
    };
    let x = g.push(Op::Gather {
        x,
        indices,
        axis: 0,
        batch_dims: 0,
        rule,
    })?;
    let x = g.push(Op::Reshape {
        x,
        dialect: ReshapeDialect::Plain,
        pattern: [4, 128, 12, 64].into_iter().collect(),
    })?;
    let x = g.push(Op::Transpose {
        x,
        perm: [0, 2, 1, 3].into_iter().collect(),
    })?;
    g.output(x)?;
    Ok(g)
}

fn median(graph: &Graph) -> Result<f64, Box<dyn Error>> {
    let mut times = Vec::new();
    for _ in 0..400 {
        let start = Instant::now();
        for _ in 0..50 {
            black_box(canonicalise(
                black_box(graph),
                &restride_budget::Meter::unlimited(),
                None,
            )?);
        }
        times.push(start.elapsed().as_nanos() as f64 / 50.0);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn main() -> Result<(), Box<dyn Error>> {
    for ops in [1, 4, 8] {
        println!("chain of {ops}: {:.0} ns", median(&chain(ops)?)?);
    }
    println!("gather, reshape, transpose: {:.0} ns", median(&gather()?)?);
    println!(
        "{}",
        canonicalise(&chain(8)?, &restride_budget::Meter::unlimited(), None)?
    );
    println!(
        "{}",
        canonicalise(&gather()?, &restride_budget::Meter::unlimited(), None)?
    );
    Ok(())
}
