//! Families of texts, doubled and doubled again: what each stage takes, and how that grows.

use restride::Budget;
use restride_tests::structured::FAMILIES;

use crate::child::costs;
use crate::stages::{Costs, How, STAGES, Took};

/// How often a family's first number is taken.
const TIMES: [usize; 5] = [1, 2, 4, 8, 16];

/// As far as it goes.
const WITHOUT: How = How {
    budget: Budget::UNLIMITED,
    again: true,
    exact: false,
};

/// Prints all families: without a budget, to see how the stages grow, and where the budget of a
/// compile ends them.
pub(crate) fn print(seconds: u64) {
    println!(
        "milliseconds of the processor, megabytes at most; the last\n         columns are exponents of what a stage reads and makes, printed: of time, bytes, units of work and allocations\n"
    );
    let with = How {
        budget: Budget::default(),
        again: false,
        exact: false,
    };
    for family in FAMILIES {
        let texts = TIMES.map(|times| (family.text)(family.first * times));
        let mut runs: Vec<Costs> = Vec::new();
        for text in &texts {
            let run = costs(text, WITHOUT, seconds);
            let died = run.died;
            runs.push(run);
            if died {
                break;
            }
        }
        let heads: Vec<String> = (texts.iter())
            .map(|text| format!("{:>16}", format!("{} B", text.len())))
            .collect();
        let name = family.name;
        println!(
            "{name:27}{}{:>8}{:>8}{:>8}",
            heads.concat(),
            "ms",
            "MB",
            "units"
        );
        for (at, name) in STAGES.iter().enumerate() {
            let took: Vec<_> = (runs.iter())
                .map_while(|run| run.stages.get(at).filter(|_| !run.died))
                .collect();
            let cells: Vec<String> = (0..TIMES.len())
                .map(|k| match took.get(k).map(|took| took.spent) {
                    Some(s) => {
                        format!("{:9.2}{:7.2}", s.time as f64 / 1e6, s.bytes as f64 / 1e6)
                    }
                    None => format!("{:>16}", "-"),
                })
                .collect();
            let of = |cost: fn(&Took) -> u64| {
                exponent(took.iter().map(|t| (t.size as f64, cost(t) as f64)))
            };
            println!(
                "  {name:25}{}{:>8}{:>8}{:>8}{:>8}",
                cells.concat(),
                of(|t| t.spent.time),
                of(|t| t.spent.bytes),
                of(|t| t.work),
                of(|t| t.spent.allocations)
            );
        }
        for (run, times) in runs.iter().zip(TIMES) {
            if let Some(end) = &run.end {
                println!("  without a budget, {times}x: {end}");
            }
        }
        for (text, times) in texts.iter().zip(TIMES) {
            if let Some(end) = costs(text, with, seconds).end {
                println!("  with the default budget, {times}x: {end}");
                break;
            }
        }
        println!();
    }
}

/// The slope of the logarithms, by least squares over the larger half: the exponent.
fn exponent(points: impl Iterator<Item = (f64, f64)>) -> String {
    let points: Vec<(f64, f64)> = points
        .filter(|(size, cost)| *size > 0.0 && *cost > 0.0)
        .map(|(size, cost)| (size.ln(), cost.ln()))
        .collect();
    let last = &points[points.len().saturating_sub(3)..];
    if last.len() < 3 {
        return "-".to_owned();
    }
    let count = last.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| last.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let both: f64 = last.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let square: f64 = last.iter().map(|p| (p.0 - x).powi(2)).sum();
    format!("{:.2}", both / square)
}
