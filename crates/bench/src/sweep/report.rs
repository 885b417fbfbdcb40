//! What a sweep found: the worst of each class, and points that fall below their neighbours.

use crate::clock::{geometric_mean, median};
use crate::table;
use serde_json::json;
use std::fmt::Write;

/// A dip is a point slower than this part of its neighbours.
const DIP: f64 = 0.5;

/// A point is a cliff below this part of what the cache lines that it touches allow.
const CLIFF: f64 = 0.25;

/// So many points on either side count as neighbours.
const REACH: usize = 2;

/// A point that was measured.
pub(super) struct Measured {
    /// Where it stands in its series.
    pub(super) at: String,
    /// Speed relative to memcpy.
    pub(super) ratio: f64,
    /// Speed relative to the limit of the cache lines it touches.
    pub(super) of_limit: f64,
    /// Nanoseconds per call.
    pub(super) time: f64,
    /// The machine forms.
    pub(super) forms: String,
}

impl Measured {
    /// Keeps the better of two measurements.
    pub(super) fn improve(&mut self, again: Self) {
        if again.of_limit > self.of_limit {
            *self = again;
        }
    }
}

/// A series that was measured.
pub(super) struct Series {
    /// The kind of movement.
    pub(super) class: &'static str,
    /// What is held fixed.
    pub(super) name: String,
    /// Whether neighbours are alike.
    pub(super) ordered: bool,
    /// In order.
    pub(super) points: Vec<Measured>,
}

impl Series {
    /// A line for each point.
    pub(super) fn to_json(&self) -> impl Iterator<Item = String> {
        self.points.iter().map(|point| {
            let object = json!({
                "class": self.class,
                "series": self.name,
                "at": point.at,
                "ratio": point.ratio,
                "of_limit": point.of_limit,
                "ns": point.time,
                "forms": point.forms,
            });
            format!("{object}\n")
        })
    }

    fn worst(&self) -> Option<&Measured> {
        self.points
            .iter()
            .min_by(|a, b| a.ratio.total_cmp(&b.ratio))
    }

    /// One line: how many points, their means, the worst.
    pub(super) fn summary(&self) -> String {
        let mut text = format!(
            "{:<15} {:<32} {}",
            self.class,
            self.name,
            means(self.points.iter())
        );
        if let Some(worst) = self.worst() {
            let _ = write!(text, ", worst {}", point(worst));
        }
        text
    }

    /// The middle speed of the neighbours of each point, relative to the limit.
    fn around(&self, here: usize) -> Option<f64> {
        let near = here.saturating_sub(REACH)..(here + REACH + 1).min(self.points.len());
        let others = near.filter(|other| *other != here);
        median(others.map(|other| self.points[other].of_limit))
    }

    /// Points that fall far below their neighbours, and the speed of those.
    fn dips(&self) -> Vec<(usize, f64)> {
        let dip = |here: usize| {
            let around = self.around(here)?;
            (self.points[here].of_limit < DIP * around).then_some((here, around))
        };
        match self.ordered {
            true => (0..self.points.len()).filter_map(dip).collect(),
            false => Vec::new(),
        }
    }

    /// Points that deserve a second look: dips, and what falls far below the series.
    pub(super) fn outstanding(&self) -> Vec<usize> {
        let mean = geometric_mean(self.points.iter().map(|point| point.of_limit)).unwrap_or(0.0);
        let dips = self.dips();
        let low = |here: &usize| {
            self.points[*here].of_limit < DIP * mean || dips.iter().any(|(dip, _)| dip == here)
        };
        (0..self.points.len()).filter(low).collect()
    }
}

/// How many points there are, and how fast they are in the mean.
fn means<'a>(points: impl Iterator<Item = &'a Measured> + Clone) -> String {
    let mean = |of: fn(&Measured) -> f64| {
        let mean = geometric_mean(points.clone().map(of)).unwrap_or(0.0);
        table::number(mean)
    };
    format!(
        "{:>4} points, mean {:>6} ({} of limit)",
        points.clone().count(),
        mean(|point| point.ratio),
        mean(|point| point.of_limit)
    )
}

fn point(measured: &Measured) -> String {
    format!(
        "{} ({} of limit) at {} ({}, {})",
        table::number(measured.ratio),
        table::number(measured.of_limit),
        measured.at,
        table::duration(measured.time),
        measured.forms
    )
}

/// The mean and the worst point of each class.
pub(super) fn by_class(all: &[Series]) -> String {
    let mut classes: Vec<&str> = all.iter().map(|series| series.class).collect();
    classes.dedup();
    classes.sort_unstable();
    classes.dedup();
    let mut text = String::from("speed relative to memcpy, by class\n");
    for class in classes {
        let of_class = || all.iter().filter(|series| series.class == class);
        let points = || of_class().flat_map(|series| &series.points);
        let _ = write!(text, "{class:<15} {}", means(points()));
        let worst = of_class().filter_map(|series| Some((series, series.worst()?)));
        let worst = worst.min_by(|(_, a), (_, b)| a.ratio.total_cmp(&b.ratio));
        if let Some((series, worst)) = worst {
            let _ = write!(text, ", worst {}: {}", series.name, point(worst));
        }
        text.push('\n');
    }
    text
}

/// Every point that is a cliff, a line for each series.
pub(super) fn cliffs(all: &[Series]) -> String {
    let mut text = String::new();
    let mut count = 0;
    for series in all {
        let points = series.points.iter();
        let below = points.filter(|point| point.of_limit < CLIFF);
        let below: Vec<_> = below
            .map(|point| format!("{} at {}", table::number(point.of_limit), point.at))
            .collect();
        count += below.len();
        if !below.is_empty() {
            let (class, name) = (series.class, &series.name);
            let _ = writeln!(text, "cliffs: {class} {name}: {}", below.join(", "));
        }
    }
    let _ = writeln!(text, "{count} points below {CLIFF} of their limit");
    text
}

/// Every point that falls below its neighbours.
pub(super) fn dips(all: &[Series]) -> String {
    let mut text = String::new();
    let mut count = 0;
    for series in all {
        for (here, around) in series.dips() {
            count += 1;
            let _ = writeln!(
                text,
                "dip: {} {}: {}, neighbours {} of limit",
                series.class,
                series.name,
                point(&series.points[here]),
                table::number(around)
            );
        }
    }
    let _ = writeln!(text, "{count} dips below {DIP} of the neighbours");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(ordered: bool, ratios: &[f64]) -> Series {
        let measured = |(at, &ratio): (usize, &f64)| Measured {
            at: at.to_string(),
            ratio,
            of_limit: ratio,
            time: 100.0,
            forms: "rows".into(),
        };
        Series {
            class: "run",
            name: "f32 elements".into(),
            ordered,
            points: ratios.iter().enumerate().map(measured).collect(),
        }
    }

    #[test]
    fn dips_are_found_in_ordered_series_only() {
        let ratios = [0.9, 0.9, 0.4, 0.9, 0.9, 0.5, 0.5, 0.9, 0.3];
        let dips = |ordered| -> Vec<usize> {
            let dips = series(ordered, &ratios).dips();
            dips.iter().map(|(here, _)| *here).collect()
        };
        assert_eq!(dips(true), [2, 8]);
        assert!(dips(false).is_empty());
        assert_eq!(series(true, &ratios).outstanding(), [2, 8]);
        assert_eq!(series(false, &[0.9, 0.9, 0.1]).outstanding(), [2]);
        assert!(series(true, &[0.1]).dips().is_empty());
    }

    #[test]
    fn the_worst_of_a_class_is_named() {
        let all = [series(true, &[0.9, 0.2, 0.8]), series(false, &[0.9, 0.5])];
        let text = by_class(&all);
        assert!(
            text.contains("5 points, mean   0.58 (0.58 of limit), worst f32 elements: 0.20 (0.20 of limit) at 1"),
            "{text}"
        );
        assert_eq!(
            cliffs(&all),
            "cliffs: run f32 elements: 0.20 at 1\n1 points below 0.25 of their limit\n"
        );
        assert!(dips(&all).ends_with("1 dips below 0.5 of the neighbours\n"));
    }
}
