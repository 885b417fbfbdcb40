//! The merged results as a picture: one row per workload, speed relative to memcpy on a
//! logarithmic scale, a dot for every system.

use super::compare::Row;
use restride_text::is_seen;
use std::fmt::Write;

/// The scale runs from here...
const LEAST: f64 = 0.01;
/// ...to here; what lies outside is drawn at its end.
const MOST: f64 = 4.0;

const LEFT: f64 = 190.0;
const WIDTH: f64 = 560.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 68.0;
const ROW: f64 = 15.0;
const CLASS_GAP: f64 = 7.0;

const STYLE: &str = "\
text{font:11px system-ui,sans-serif;fill:#24292f}\
.title{font-size:14px;font-weight:600}.dim{fill:#6e7781}.class{fill:#6e7781;font-size:10px}\
.grid{stroke:#d0d7de;stroke-width:1}.one{stroke:#57606a;stroke-width:1.5}\
.peer{fill:#8c959f;fill-opacity:.45}.best{fill:#bc4c00}.ours{fill:#0969da}\
.limit{stroke:#24292f;stroke-width:1.5}.gain,.loss{stroke:#0969da;stroke-width:2;stroke-opacity:.35}.loss{stroke:#bc4c00}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim,.class{fill:#8b949e}.grid{stroke:#30363d}\
.one{stroke:#8b949e}.peer{fill:#6e7681}.best{fill:#f0883e}.ours{fill:#58a6ff}.limit{stroke:#e6edf3}\
.gain{stroke:#58a6ff}.loss{stroke:#f0883e}}";

/// Where a ratio lies on the scale.
fn x(ratio: f64) -> f64 {
    let part = (ratio.clamp(LEAST, MOST) / LEAST).ln() / (MOST / LEAST).ln();
    LEFT + part * WIDTH
}

/// The picture. Rows that move nothing are left out.
pub fn draw(rows: &[Row<'_>], subtitle: &str) -> String {
    let class = |row: &Row<'_>| row.workload.tags.get("cls").cloned().unwrap_or_default();
    let mut moving: Vec<&Row<'_>> = rows.iter().filter(|row| !row.workload.is_view()).collect();
    let order: Vec<String> = moving.iter().map(|row| class(row)).collect();
    moving.sort_by_key(|row| order.iter().position(|name| *name == class(row)));

    let mut body = String::new();
    let mut y = TOP;
    let mut last = None;
    for row in moving {
        let name = class(row);
        if last.as_ref() != Some(&name) {
            y += CLASS_GAP;
            let _ = writeln!(
                body,
                r#"<text class="class" x="{:.0}" y="{:.1}">{}</text>"#,
                LEFT + WIDTH + 12.0,
                y + 4.0,
                escape(&name)
            );
            last = Some(name);
        }
        draw_row(&mut body, row, y);
        y += ROW;
    }
    let bottom = y;
    let mut text = String::new();
    let (width, height) = (LEFT + WIDTH + RIGHT, bottom + 24.0);
    let _ = writeln!(
        text,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img"><style>{STYLE}</style>"#
    );
    let _ = writeln!(
        text,
        r#"<text class="title" x="12" y="20">Speed relative to a memcpy of the output, {}</text>"#,
        escape(subtitle)
    );
    draw_legend(&mut text);
    for tick in [LEAST, 0.03, 0.1, 0.3, 1.0, 3.0, MOST] {
        let (at, kind) = (x(tick), if tick == 1.0 { "one" } else { "grid" });
        let side = match () {
            () if tick <= LEAST => "≤ ",
            () if tick >= MOST => "≥ ",
            () => "",
        };
        let _ = writeln!(
            text,
            r#"<line class="{kind}" x1="{at:.1}" x2="{at:.1}" y1="{:.0}" y2="{bottom:.0}"/><text class="dim" x="{at:.1}" y="{:.0}" text-anchor="middle">{side}{tick}</text>"#,
            TOP - 6.0,
            bottom + 14.0
        );
    }
    text.push_str(&body);
    text.push_str("</svg>\n");
    text
}

fn draw_row(body: &mut String, row: &Row<'_>, y: f64) {
    let _ = writeln!(
        body,
        r#"<text x="{:.0}" y="{:.1}" text-anchor="end">{}</text>"#,
        LEFT - 10.0,
        y + 4.0,
        escape(&row.workload.id)
    );
    if let (Some(ours), Some(best)) = (row.ours, row.best()) {
        let class = if ours < best.ratio { "loss" } else { "gain" };
        let _ = writeln!(
            body,
            r#"<line class="{class}" x1="{:.1}" x2="{:.1}" y1="{y:.1}" y2="{y:.1}"/>"#,
            x(best.ratio),
            x(ours)
        );
    }
    for peer in row.peers.iter().skip(1) {
        dot(body, "peer", 2.5, peer.ratio, y, &peer.peer);
    }
    if let Some(limit) = row.workload.limit_ratio {
        let _ = writeln!(
            body,
            r#"<line class="limit" x1="{0:.1}" x2="{0:.1}" y1="{1:.1}" y2="{2:.1}"/>"#,
            x(limit),
            y - 4.0,
            y + 4.0
        );
    }
    if let Some(best) = row.best() {
        dot(body, "best", 3.5, best.ratio, y, &best.peer);
    }
    if let Some(ours) = row.ours {
        dot(body, "ours", 4.0, ours, y, "restride");
    }
}

fn dot(body: &mut String, class: &str, radius: f64, ratio: f64, y: f64, title: &str) {
    let _ = writeln!(
        body,
        r#"<circle class="{class}" cx="{:.1}" cy="{y:.1}" r="{radius}"><title>{} {ratio:.3}</title></circle>"#,
        x(ratio),
        escape(title)
    );
}

fn draw_legend(text: &mut String) {
    let mut at = LEFT + 4.0;
    for (class, label, room) in [
        ("ours", "restride", 70.0),
        ("best", "best peer", 76.0),
        ("peer", "other peers", 88.0),
    ] {
        let _ = writeln!(
            text,
            r#"<circle class="{class}" cx="{at:.0}" cy="40" r="4"/><text x="{:.0}" y="44">{label}</text>"#,
            at + 8.0
        );
        at += room;
    }
    let _ = writeln!(
        text,
        r#"<line class="limit" x1="{at:.0}" x2="{at:.0}" y1="35" y2="45"/><text x="{:.0}" y="44">limit of cache lines</text>"#,
        at + 8.0
    );
}

/// Text as XML and HTML show it, in attributes too.
pub fn escape(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        c if is_seen(c) => c,
        _ => '\u{fffd}',
    };
    restride_text::escape(&text.chars().map(shown).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::rows;
    use crate::versus::{Score, Scores, add};
    use restride_testkit::workloads::read;

    #[test]
    fn every_moving_workload_has_its_dots() {
        let list = read(crate::STORED).expect("the stored file");
        let mut workloads: Vec<_> = list.into_iter().filter_map(Result::ok).collect();
        workloads[0].tags.insert("cls".into(), "a<b&\"c\"".into());
        let mut scores = Scores::new();
        for workload in &workloads {
            for (peer, ratio) in [("restride", 0.9), ("numba", 0.001), ("ort", 20.0)] {
                add(
                    &mut scores,
                    &workload.id,
                    peer,
                    Score {
                        time: 1.0,
                        ratio,
                        first: None,
                    },
                );
            }
        }
        let rows = rows(&workloads, &scores);
        let moving = workloads
            .iter()
            .filter(|workload| !workload.is_view())
            .count();
        let picture = draw(&rows, "one thread");
        for class in ["ours", "best", "peer"] {
            let dots = picture.matches(&format!("class=\"{class}\" cx")).count();
            assert_eq!(dots, moving + 1, "{class} and its legend");
        }
        assert!(picture.contains("a&lt;b&amp;&quot;c&quot;"));
        assert!(!picture.contains("view_flatten"));
        // What is off the scale is said to be.
        assert!(picture.contains(">≤ 0.01<") && picture.contains(">≥ 4<"));
    }

    #[test]
    fn the_scale_is_logarithmic_and_bounded() {
        let third = |a: f64, b: f64, c: f64| (x(b) - x(a)) - (x(c) - x(b));
        assert!(third(0.02, 0.2, 2.0).abs() < 1e-9);
        assert_eq!(x(1e-9), LEFT);
        assert_eq!(x(1e9), LEFT + WIDTH);
    }
}
