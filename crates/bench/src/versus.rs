//! Results of other systems, as files hold them.
//!
//! Two forms are read: one JSON object a line (peer, workload, times of the slices), and a table
//! of comma-separated values with a line per workload and peer. Speeds are compared as ratios to
//! the memcpy that was measured in the same file, so files of different machines can be merged.

use serde_json::Value;
use std::collections::BTreeMap;

/// How fast a system ran a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Nanoseconds per call, at best.
    pub time: f64,
    /// Speed relative to memcpy.
    pub ratio: f64,
    /// Seconds from the graph to the first result, where the file tells.
    pub first: Option<f64>,
}

/// Scores by workload, then by system.
pub type Scores = BTreeMap<String, BTreeMap<String, Score>>;

/// Adds the results in `text` to `scores`; the better of two scores stays.
pub fn merge(scores: &mut Scores, text: &str, threads: usize) -> Result<(), String> {
    let found = if text.trim_start().starts_with('{') {
        json_lines(text, threads)?
    } else {
        table(text)?
    };
    for (workload, peer, score) in found {
        add(scores, &workload, &peer, score);
    }
    Ok(())
}

/// Adds one score; the better of two stays, and the sooner of two first results.
pub fn add(scores: &mut Scores, workload: &str, peer: &str, score: Score) {
    let of_workload = scores.entry(workload.to_owned()).or_default();
    let kept = of_workload.entry(peer.to_owned()).or_insert(score);
    let sooner = match (kept.first, score.first) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    if score.ratio > kept.ratio {
        *kept = score;
    }
    kept.first = sooner;
}

type Found = Vec<(String, String, Score)>;

fn json_lines(text: &str, threads: usize) -> Result<Found, String> {
    let mut memcpy: BTreeMap<String, f64> = BTreeMap::new();
    let mut times = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let at = |problem: String| format!("line {}: {problem}", number + 1);
        let value: Value = serde_json::from_str(line).map_err(|e| at(e.to_string()))?;
        let word = |key: &str| value.get(key).and_then(Value::as_str);
        let (Some(id), Some(peer)) = (word("id"), word("peer")) else {
            return Err(at("no id or no peer".into()));
        };
        if value.get("threads").and_then(Value::as_u64) != Some(threads as u64) {
            continue;
        }
        if let Some(copied) = fastest(&value, "m") {
            let least = memcpy.entry(id.to_owned()).or_insert(copied);
            *least = least.min(copied);
        }
        let right = value.pointer("/prep/crc_ok").and_then(Value::as_bool) == Some(true);
        let seconds = |key: &str| value.pointer(key).and_then(Value::as_f64);
        let first = seconds("/prep/build_s").zip(seconds("/prep/first_s"));
        if let (true, Some(time)) = (right, fastest(&value, "t")) {
            let first = first.map(|(build, call)| build + call);
            times.push((id.to_owned(), peer.to_owned(), time, first));
        }
    }
    let scored = |(id, peer, time, first): (String, String, f64, Option<f64>)| {
        let ratio = memcpy.get(&id)? / time;
        Some((id, peer, Score { time, ratio, first }))
    };
    Ok(times.into_iter().filter_map(scored).collect())
}

/// The smallest minimum among the slices of a line.
fn fastest(line: &Value, key: &str) -> Option<f64> {
    let slices = line.get(key)?.as_array()?.iter();
    let minima = slices.filter_map(|slice| slice.get(0)?.as_f64());
    minima.filter(|time| *time > 0.0).min_by(f64::total_cmp)
}

fn table(text: &str) -> Result<Found, String> {
    let mut lines = text.lines();
    let heading = cells(lines.next().unwrap_or_default());
    let column = |name: &str| match heading.iter().position(|cell| cell == name) {
        Some(position) => Ok(position),
        None => Err(format!(
            "neither JSON lines nor a table with a column {name}"
        )),
    };
    let [id, peer, time, ratio, right] = [
        column("id")?,
        column("peer")?,
        column("t_min_ns")?,
        column("speed_vs_memcpy")?,
        column("crc_ok")?,
    ];
    let mut found = Vec::new();
    for (number, line) in lines.enumerate() {
        let cells = cells(line);
        let cell = |position: usize| cells.get(position).map(String::as_str);
        if line.is_empty() || cell(right) != Some("True") {
            continue;
        }
        let number_at = |position: usize| {
            let parsed = cell(position).and_then(|text| text.parse::<f64>().ok());
            let usable = parsed.filter(|value| value.is_finite() && *value > 0.0);
            usable.ok_or(format!("line {}: a time or a ratio is missing", number + 2))
        };
        let score = Score {
            time: number_at(time)?,
            ratio: match number_at(ratio) {
                Ok(ratio) => ratio,
                // The table rounds to four digits; what rounds to nothing is slower than that.
                Err(_) if cell(ratio).is_some_and(|text| text.parse() == Ok(0.0)) => 5e-5,
                Err(problem) => return Err(problem),
            },
            first: None,
        };
        if let (Some(id), Some(peer)) = (cell(id), cell(peer)) {
            found.push((id.to_owned(), peer.to_owned(), score));
        }
    }
    Ok(found)
}

/// The cells of a line; quotes protect commas and are doubled to stand for themselves.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                push(&mut cells, '"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            other => push(&mut cells, other),
        }
    }
    cells
}

fn push(cells: &mut [String], letter: char) {
    if let Some(last) = cells.last_mut() {
        last.push(letter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_lines_share_the_fastest_memcpy_of_a_workload() {
        let text = r#"
{"peer":"a","id":"w","threads":1,"prep":{"crc_ok":true},"t":[[20.0,30.0],[10.0,40.0]],"m":[[8.0,9.0]]}
{"peer":"b","id":"w","threads":1,"prep":{"crc_ok":true,"build_s":0.25,"first_s":0.5},"t":[[4.0,5.0]],"m":[[5.0,9.0]]}
{"peer":"c","id":"w","threads":1,"prep":{"crc_ok":false},"t":[[1.0,1.0]],"m":[[6.0,9.0]]}
{"peer":"d","id":"w","threads":1,"prep":{"ok":false},"t":[],"m":[]}
{"peer":"a","id":"w","threads":2,"prep":{"crc_ok":true},"t":[[1.0,1.0]],"m":[[1.0,1.0]]}
"#;
        let mut scores = Scores::new();
        merge(&mut scores, text, 1).expect("sound lines");
        let w = &scores["w"];
        assert_eq!(w.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(
            w["a"],
            Score {
                time: 10.0,
                ratio: 0.5,
                first: None
            }
        );
        assert_eq!(
            w["b"],
            Score {
                time: 4.0,
                ratio: 1.25,
                first: Some(0.75)
            }
        );
    }

    #[test]
    fn tables_are_read_and_the_better_score_stays() {
        let text = "id,peer,t_min_ns,speed_vs_memcpy,crc_ok,variant\n\
                    w,a,10.0,0.5,True,\"f(x, \"\"y\"\")\"\n\
                    w,b,10.0,0.0,True,\n\
                    w,c,10.0,0.9,False,\n";
        let mut scores = Scores::new();
        merge(&mut scores, text, 1).expect("a sound table");
        add(
            &mut scores,
            "w",
            "a",
            Score {
                time: 30.0,
                ratio: 0.4,
                first: Some(2.0),
            },
        );
        assert_eq!(scores["w"]["a"].ratio, 0.5);
        assert_eq!(scores["w"]["a"].first, Some(2.0));
        assert_eq!(scores["w"].len(), 2);
        assert_eq!(cells("a,\"b, \"\"c\"\"\",,d"), ["a", "b, \"c\"", "", "d"]);
    }

    #[test]
    fn what_is_neither_is_refused() {
        let mut scores = Scores::new();
        for text in [
            "",
            "hello",
            "{\"id\":1}",
            "{",
            "id,peer,t_min_ns,speed_vs_memcpy,crc_ok\nw,a,,1,True",
        ] {
            assert!(merge(&mut scores, text, 1).is_err(), "{text}");
        }
    }
}
