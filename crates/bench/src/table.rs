//! The printed table, and geometric means by tag.

use super::clock::geometric_mean;
use super::outcome::Outcome;
use restride_testkit::workloads::Workload;
use std::collections::BTreeMap;
use std::time::Duration;

/// The heading of the table.
pub fn heading() -> String {
    format!(
        "{:<24} {:>9} {:>9} {:>7} {:>9} {:>7} {:>8} {:>9} {:>6}  forms",
        "workload",
        "output",
        "time",
        "GB/s",
        "vs memcpy",
        "median",
        "of limit",
        "compile",
        "stages"
    )
}

/// What is moved, as the table has it.
pub struct Moved<'a> {
    /// Its name.
    pub id: &'a str,
    /// Bytes of the outputs.
    pub bytes: usize,
    /// Bytes that a perfect pass reads and writes.
    pub useful: u64,
    /// Speed of a perfect pass relative to memcpy.
    pub limit: Option<f64>,
}

impl<'a> Moved<'a> {
    /// What a workload moves.
    pub fn by(workload: &'a Workload) -> Self {
        let bytes = workload.output().byte_size();
        Self {
            id: &workload.id,
            bytes,
            useful: workload.useful_bytes.unwrap_or(2 * bytes as u64),
            limit: workload.limit_ratio,
        }
    }
}

/// One line of the table.
pub fn line(moved: &Moved<'_>, outcome: &Outcome) -> String {
    let facts = &outcome.facts;
    let compile = duration(facts.compile_ns as f64);
    let start = format!(
        "{:<24} {:>9} {:>9}",
        moved.id,
        size(moved.bytes),
        duration(outcome.time())
    );
    if let Some((input, at)) = &facts.view {
        let place = format!("view of input {input} at {} {:?}", at.offset, at.strides);
        return format!(
            "{start} {:>7} {:>9} {:>7} {:>8} {compile:>9} {:>6}  {place}",
            "-", "-", "-", "-", facts.stages
        );
    }
    let of_limit = match moved.limit {
        Some(limit) => number(outcome.ratio() / limit),
        None => "-".into(),
    };
    format!(
        "{start} {:>7.1} {:>9} {:>7} {of_limit:>8} {compile:>9} {:>6}  {}",
        moved.useful as f64 / outcome.time(),
        number(outcome.ratio()),
        number(outcome.usual_ratio()),
        facts.stages,
        facts.forms.join("+")
    )
}

/// A rank, so that groups print in a sensible order, and a name.
type Group = (usize, String);

type RatioAndOfLimit = (f64, Option<f64>);

/// A geometric mean over the workloads of a group.
pub struct Mean {
    /// The group: a tag and its value.
    pub group: String,
    /// How many workloads it has.
    pub count: usize,
    /// Speed relative to memcpy.
    pub ratio: f64,
    /// Speed relative to the limit of cache lines, over those that state one.
    pub of_limit: Option<f64>,
}

/// Means over all workloads that move data, then by tag. Views move nothing and are left out.
pub fn means(measured: &[(&Workload, &Outcome)]) -> Vec<Mean> {
    let moving = measured
        .iter()
        .filter(|(workload, outcome)| !workload.is_view() && outcome.facts.view.is_none());
    let mut groups: BTreeMap<Group, Vec<RatioAndOfLimit>> = BTreeMap::new();
    for (workload, outcome) in moving {
        let ratio = outcome.ratio();
        let score = (ratio, workload.limit_ratio.map(|limit| ratio / limit));
        groups
            .entry((0, "all that move data".into()))
            .or_default()
            .push(score);
        for (tag, value) in &workload.tags {
            let rank = match tag.as_str() {
                "cls" => 1,
                "tier" => 2,
                "kind" => 3,
                _ => 4,
            };
            groups
                .entry((rank, format!("{tag} {value}")))
                .or_default()
                .push(score);
        }
    }
    let mean = |((_, group), scores): (Group, Vec<RatioAndOfLimit>)| {
        Some(Mean {
            group,
            count: scores.len(),
            ratio: geometric_mean(scores.iter().map(|score| score.0))?,
            of_limit: geometric_mean(scores.iter().filter_map(|score| score.1)),
        })
    };
    groups.into_iter().filter_map(mean).collect()
}

/// The means as lines.
pub fn means_table(means: &[Mean]) -> String {
    let mut lines = vec![format!(
        "{:<28} {:>4} {:>9} {:>9}",
        "geometric mean", "n", "vs memcpy", "of limit"
    )];
    for mean in means {
        let of_limit = match mean.of_limit {
            Some(value) => number(value),
            None => "-".into(),
        };
        lines.push(format!(
            "{:<28} {:>4} {:>9} {of_limit:>9}",
            mean.group,
            mean.count,
            number(mean.ratio)
        ));
    }
    lines.join("\n")
}

/// A ratio, with three digits where it has them.
pub fn number(value: f64) -> String {
    match value {
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value if value >= 0.0995 => format!("{value:.2}"),
        value if value >= 0.00995 => format!("{value:.3}"),
        value => format!("{value:.4}"),
    }
}

/// Nanoseconds for people.
pub fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.1} s", Duration::from_nanos(ns as u64).as_secs_f64()),
    }
}

/// Bytes for people.
pub fn size(bytes: usize) -> String {
    match bytes {
        b if b < 10_000 => format!("{b} B"),
        b if b < 10_000_000 => format!("{:.1} KB", b as f64 / 1024.0),
        b => format!("{:.1} MB", b as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let shown = [0.001234, 0.05, 0.5, 9.994, 12.34, 123.4].map(number);
        assert_eq!(shown, ["0.0012", "0.050", "0.50", "9.99", "12.3", "123"]);
    }

    #[test]
    fn times_and_sizes_have_units() {
        let shown = [1.25, 45_600.0, 7.5e6, 2e9].map(duration);
        assert_eq!(shown, ["1.2 ns", "45.60 us", "7.50 ms", "2.0 s"]);
        let shown = [16, 802_816, 67_108_864].map(size);
        assert_eq!(shown, ["16 B", "784.0 KB", "64.0 MB"]);
    }
}
