//! The search for cliffs: many small variations of each kind of movement, so that a size, a step
//! or a permutation that falls out of the fast paths cannot hide.

mod cases;
mod drawn;
mod report;

use super::outcome::{Effort, Outcome};
use super::subject::Subject;
use cases::Case;
use report::{Measured, Series};
use restride_testkit::workloads::Workload;
use std::io::{self, Write};

/// A point that stands out is measured again with this many times the effort: on a machine that
/// has other things to do, most such points are the machine's.
const SECOND_LOOK: u32 = 4;

/// Measures every case whose class or name contains `filter` and writes what was found.
pub fn sweep(
    subject: &dyn Subject,
    filter: &str,
    effort: &Effort,
    out: &mut impl Write,
) -> io::Result<Swept> {
    let (mut failed, mut points) = (0, 0);
    let mut all: Vec<Series> = Vec::new();
    for line in cases::all() {
        let mut series = Series {
            class: line.class,
            name: line.name,
            ordered: line.ordered,
            points: Vec::new(),
        };
        let mut measured = Vec::new();
        for case in line.cases {
            let name = case.name(series.class, &series.name);
            if !name.contains(filter) {
                continue;
            }
            points += 1;
            let at = case.at.clone();
            match prepare(case, at).and_then(|case| Ok((run(subject, &case, effort)?, case))) {
                Ok((point, case)) => {
                    series.points.push(point);
                    measured.push(case);
                }
                Err(problem) => {
                    failed += 1;
                    writeln!(out, "FAILED {name}: {problem}")?;
                }
            }
        }
        let harder = Effort {
            budget: effort.budget * SECOND_LOOK,
            ..*effort
        };
        for position in series.outstanding() {
            if let Ok(again) = run(subject, &measured[position], &harder) {
                series.points[position].improve(again);
            }
        }
        if !series.points.is_empty() {
            writeln!(out, "{}", series.summary())?;
            all.push(series);
        }
    }
    if points > 0 {
        writeln!(out, "\n{}", report::by_class(&all))?;
        write!(out, "{}{}", report::cliffs(&all), report::dips(&all))?;
    }
    Ok(Swept {
        points,
        failed,
        json: all.iter().flat_map(Series::to_json).collect(),
    })
}

/// All cases whose class or name contains `filter`, each under its name, or what is wrong with it.
#[must_use]
pub fn workloads(filter: &str) -> Vec<Result<Workload, String>> {
    let mut found = Vec::new();
    for line in cases::all() {
        for case in line.cases {
            let name = case.name(line.class, &line.name);
            if name.contains(filter) {
                let workload = prepare(case, name.clone());
                found.push(workload.map_err(|problem| format!("{name}: {problem}")));
            }
        }
    }
    found
}

/// What came of a sweep.
pub struct Swept {
    /// How many points there were.
    pub points: usize,
    /// How many of them failed.
    pub failed: usize,
    /// What was measured, an object a line.
    pub json: String,
}

/// A case whose right result is known from the definition of its operators, under a name.
fn prepare(case: Case, id: String) -> Result<Workload, String> {
    let (graph, values) = case.graph?;
    Workload::of(id, graph, values)
}

fn run(subject: &dyn Subject, case: &Workload, effort: &Effort) -> Result<Measured, String> {
    let outcome = Outcome::measure(subject, case, effort)?;
    Ok(Measured {
        at: case.id.clone(),
        ratio: outcome.ratio(),
        of_limit: outcome.ratio() / case.limit_ratio.unwrap_or(1.0),
        time: outcome.time(),
        forms: outcome.facts.forms.join("+"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::GAP;
    use crate::reference::Reference;
    use std::time::Duration;

    #[test]
    fn a_part_of_the_sweep_runs_and_is_right() {
        let effort = Effort {
            rounds: 1,
            budget: Duration::from_micros(50),
            threads: 1,
            compilations: 1,
            gap: GAP,
        };
        let mut out = Vec::new();
        let swept = sweep(&Reference, "axes of rank 2", &effort, &mut out).expect("no I/O fails");
        let text = String::from_utf8(out).expect("UTF-8");
        assert_eq!(swept.failed, 0, "{text}");
        assert_eq!(swept.json.lines().count(), swept.points);
        assert!(swept.points > 0);
        assert!(text.contains("reverse"), "{text}");
    }
}
