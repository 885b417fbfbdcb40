//! The merged table: this compiler beside every system that was measured.

use super::clock::geometric_mean;
use super::table;
use super::versus::Scores;
use restride_testkit::workloads::Workload;
use std::fmt::Write;

/// The name under which results of this compiler are stored.
pub const OURS: &str = "restride";

/// Hand-written code for single shapes: a bound on what can be done, no system.
const PROBES: [&str; 2] = ["limits", "sse"];

/// Systems that run whole models, as opposed to array libraries and compilers.
const ENGINES: [&str; 6] = ["ort", "openvino", "tract", "rten", "candle", "burn"];

/// A workload that may be answered by a view counts as one when it beats memcpy by this.
const VIEW_RATIO: f64 = 1.25;

/// A speed relative to memcpy, and whose.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Whose.
    pub peer: String,
    /// Speed relative to memcpy.
    pub ratio: f64,
    /// Seconds from the graph to the first result.
    pub first: Option<f64>,
}

/// One workload, all systems.
pub struct Row<'a> {
    /// The workload.
    pub workload: &'a Workload,
    /// This compiler.
    pub ours: Option<f64>,
    /// Seconds from the graph to this compiler's first result.
    pub first: Option<f64>,
    /// All other systems, fastest first.
    pub peers: Vec<Named>,
}

impl Row<'_> {
    /// The fastest system.
    pub fn best(&self) -> Option<&Named> {
        self.peers.first()
    }

    fn best_engine(&self) -> Option<&Named> {
        let mut peers = self.peers.iter();
        peers.find(|named| ENGINES.contains(&named.peer.as_str()))
    }

    fn of(&self, peer: &str) -> Option<&Named> {
        self.peers.iter().find(|named| named.peer == peer)
    }
}

/// A row for each workload that somebody ran, in the order of the file.
pub fn rows<'a>(workloads: &'a [Workload], scores: &Scores) -> Vec<Row<'a>> {
    let row = |workload: &'a Workload| {
        let of_workload = scores.get(&workload.id)?;
        let others = of_workload
            .iter()
            .filter(|(peer, _)| *peer != OURS && !PROBES.contains(&peer.as_str()));
        let mut peers: Vec<Named> = others
            .map(|(peer, score)| Named {
                peer: peer.clone(),
                ratio: score.ratio,
                first: score.first,
            })
            .collect();
        peers.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
        let ours = of_workload.get(OURS);
        Some(Row {
            workload,
            ours: ours.map(|score| score.ratio),
            first: ours.and_then(|score| score.first),
            peers,
        })
    };
    workloads.iter().filter_map(row).collect()
}

/// The table by workload, in Markdown.
pub fn by_workload(rows: &[Row<'_>]) -> String {
    let mut text = String::from(
        "| workload | class | output | restride | best peer | | restride / best | best engine | | limit |\n\
         |-|-|-:|-:|-:|-|-:|-:|-|-:|\n",
    );
    for row in rows {
        let workload = row.workload;
        let shown = |ratio: Option<f64>| match ratio {
            Some(ratio) if workload.is_view() && ratio > VIEW_RATIO => "view".to_owned(),
            ratio => number(ratio),
        };
        let (best, engine) = (row.best(), row.best_engine());
        let name = |named: Option<&Named>| named.map_or("", |named| named.peer.as_str()).to_owned();
        let gain = row.ours.zip(best).map(|(ours, best)| ours / best.ratio);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            workload.id,
            workload.tags.get("cls").map_or("", String::as_str),
            table::size(workload.output().byte_size()),
            shown(row.ours),
            shown(best.map(|named| named.ratio)),
            name(best),
            if workload.is_view() {
                "·".into()
            } else {
                number(gain)
            },
            shown(engine.map(|named| named.ratio)),
            name(engine),
            number(workload.limit_ratio),
        );
    }
    text
}

/// Geometric means over the workloads that move data, by class, in Markdown.
pub fn by_class(rows: &[Row<'_>]) -> String {
    let moving: Vec<&Row<'_>> = rows.iter().filter(|row| !row.workload.is_view()).collect();
    let mut classes: Vec<&str> = Vec::new();
    for row in &moving {
        if let Some(class) = row.workload.tags.get("cls")
            && !classes.contains(&class.as_str())
        {
            classes.push(class);
        }
    }
    let mut text = String::from(
        "| class | n | restride | best peer of each | best engine of each | restride / best peer | restride / best engine |\n\
         |-|-:|-:|-:|-:|-:|-:|\n",
    );
    let mut line = |name: &str, rows: &[&Row<'_>]| {
        let ours = geometric_mean(rows.iter().filter_map(|row| row.ours));
        let best = geometric_mean(rows.iter().filter_map(|row| Some(row.best()?.ratio)));
        let engine = geometric_mean(rows.iter().filter_map(|row| Some(row.best_engine()?.ratio)));
        let gain = |other: fn(&Row<'_>) -> Option<f64>| {
            geometric_mean(rows.iter().filter_map(|row| Some(row.ours? / other(row)?)))
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} |",
            rows.len(),
            number(ours),
            number(best),
            number(engine),
            number(gain(|row| Some(row.best()?.ratio))),
            number(gain(|row| Some(row.best_engine()?.ratio))),
        );
    };
    line("all that move data", &moving);
    for class in classes {
        let of_class = |row: &&&Row<'_>| row.workload.tags.get("cls").is_some_and(|c| c == class);
        line(
            class,
            &moving.iter().filter(of_class).copied().collect::<Vec<_>>(),
        );
    }
    text
}

/// Geometric means by peer, over the workloads that move data and that both ran, in Markdown. The
/// last column is how much sooner this compiler has its first result, building included.
pub fn by_peer(rows: &[Row<'_>]) -> String {
    let moving = || rows.iter().filter(|row| !row.workload.is_view());
    let mut peers: Vec<&str> = Vec::new();
    for named in moving().flat_map(|row| &row.peers) {
        if !peers.contains(&named.peer.as_str()) {
            peers.push(&named.peer);
        }
    }
    peers.sort_unstable();
    let mut text = String::from(
        "| peer | n | peer | restride on the same | restride / peer | restride behind | first result sooner |\n\
         |-|-:|-:|-:|-:|-:|-:|\n",
    );
    for peer in peers {
        let both: Vec<(f64, f64)> = moving()
            .filter_map(|row| Some((row.of(peer)?.ratio, row.ours?)))
            .collect();
        let theirs = geometric_mean(both.iter().map(|pair| pair.0));
        let ours = geometric_mean(both.iter().map(|pair| pair.1));
        let behind = both.iter().filter(|(theirs, ours)| ours < theirs).count();
        let gain = ours.zip(theirs).map(|(ours, theirs)| ours / theirs);
        let sooner =
            geometric_mean(moving().filter_map(|row| Some(row.of(peer)?.first? / row.first?)));
        let _ = writeln!(
            text,
            "| {peer} | {} | {} | {} | {} | {behind} | {} |",
            both.len(),
            number(theirs),
            number(ours),
            number(gain),
            number(sooner)
        );
    }
    text
}

fn number(value: Option<f64>) -> String {
    value.map_or("·".into(), table::number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versus::{Score, add};
    use restride_testkit::workloads::read;

    fn scored(list: &[(&str, &str, f64)]) -> Scores {
        let mut scores = Scores::new();
        for &(workload, peer, ratio) in list {
            let first = (peer != "numba").then_some(1.0 / ratio);
            let score = Score {
                time: 1.0,
                ratio,
                first,
            };
            add(&mut scores, workload, peer, score);
        }
        scores
    }

    fn stored() -> Vec<Workload> {
        let list = read(crate::STORED).expect("the stored file");
        list.into_iter().filter_map(Result::ok).collect()
    }

    #[test]
    fn probes_are_no_peers_and_views_are_no_movement() {
        let scores = scored(&[
            ("tiny_box_swap", OURS, 0.5),
            ("tiny_box_swap", "limits", 2.0),
            ("tiny_box_swap", "numba", 0.25),
            ("tiny_box_swap", "ort", 0.125),
            ("focus_yolov5", OURS, 0.5),
            ("focus_yolov5", "ort", 1.0),
            ("view_flatten", OURS, 1e6),
            ("view_flatten", "ort", 0.9),
        ]);
        let workloads = stored();
        let rows = rows(&workloads, &scores);
        assert_eq!(rows.len(), 3);
        assert_eq!(
            rows[0].best().map(|named| named.peer.as_str()),
            Some("numba")
        );
        let class = by_class(&rows);
        assert!(
            class.contains("| all that move data | 2 | 0.50 | 0.50 | 0.35 | 1.00 | 1.41 |"),
            "{class}"
        );
        let peer = by_peer(&rows);
        assert!(
            peer.contains("| ort | 2 | 0.35 | 0.50 | 1.41 | 1 | 1.41 |"),
            "{peer}"
        );
        assert!(
            peer.contains("| numba | 1 | 0.25 | 0.50 | 2.00 | 0 | · |"),
            "{peer}"
        );
        let table = by_workload(&rows);
        assert!(
            table.contains("| view_flatten | view | 784.0 KB | view | 0.90 | ort | · |"),
            "{table}"
        );
    }
}
