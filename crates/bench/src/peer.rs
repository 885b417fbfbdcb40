//! The line protocol by which systems are timed interleaved: one JSON object a line each way.
//!
//! `{"cmd":"prepare","id":ID}`, `{"cmd":"run","budget_ms":B}`, `{"cmd":"quit"}`.

use super::memory::GAP;
use super::outcome::note;
use super::subject::Subject;
use super::trial::{Trial, with_trial};
use restride_testkit::workloads::Workload;
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};
use std::time::Duration;

/// Answers requests until `quit` or the end of the input.
pub fn serve(
    subject: &dyn Subject,
    workloads: &[Workload],
    threads: usize,
    requests: impl BufRead,
    mut replies: impl Write,
) -> io::Result<()> {
    let mut lines = requests.lines();
    let mut pending = next(&mut lines)?;
    while let Some(request) = pending.take() {
        match request {
            Request::Quit => break,
            Request::Prepare(id) => {
                let found = workloads.iter().find(|workload| workload.id == id);
                let answered = match found {
                    None => Err(format!("no workload is named {id}")),
                    Some(workload) => with_trial(subject, workload, (threads, GAP), |trial| {
                        timed(trial, &mut lines, &mut replies)
                    }),
                };
                pending = match answered {
                    Ok(pending) => pending?,
                    Err(problem) => {
                        say(&mut replies, &refusal(&problem))?;
                        next(&mut lines)?
                    }
                };
            }
            Request::Run(_) => {
                say(&mut replies, &refusal("nothing is prepared"))?;
                pending = next(&mut lines)?;
            }
            Request::Unknown(problem) => {
                say(&mut replies, &refusal(&problem))?;
                pending = next(&mut lines)?;
            }
        }
    }
    Ok(())
}

/// Reports a prepared workload and runs it until a request that is no `run`.
fn timed(
    trial: &mut Trial<'_>,
    lines: &mut impl Iterator<Item = io::Result<String>>,
    replies: &mut impl Write,
) -> io::Result<Option<Request>> {
    let report = json!({
        "ok": true,
        "crc_ok": trial.correct,
        "build_s": trial.build.as_secs_f64(),
        "first_s": trial.first.as_secs_f64(),
        "note": note(trial.facts),
        "view": trial.facts.view.is_some(),
    });
    say(replies, &report)?;
    loop {
        let budget = match next(lines)? {
            Some(Request::Run(budget)) => budget,
            other => return Ok(other),
        };
        let report = match trial.slice(budget) {
            Ok(slice) => json!({
                "ok": true,
                "t": [slice.time.min, slice.time.median],
                "m": [slice.memcpy.min, slice.memcpy.median],
            }),
            Err(problem) => refusal(&problem),
        };
        say(replies, &report)?;
    }
}

enum Request {
    Prepare(String),
    Run(Duration),
    Quit,
    Unknown(String),
}

fn next(lines: &mut impl Iterator<Item = io::Result<String>>) -> io::Result<Option<Request>> {
    match lines.next() {
        None => Ok(None),
        Some(line) => Ok(Some(Request::of(&line?))),
    }
}

impl Request {
    fn of(line: &str) -> Self {
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            return Self::Unknown("not JSON".into());
        };
        match value.get("cmd").and_then(Value::as_str) {
            Some("prepare") => match value.get("id").and_then(Value::as_str) {
                Some(id) => Self::Prepare(id.into()),
                None => Self::Unknown("prepare lacks an id".into()),
            },
            Some("run") => {
                let budget = value.get("budget_ms").and_then(Value::as_f64);
                match budget.map(|ms| Duration::try_from_secs_f64(ms * 1e-3)) {
                    Some(Ok(budget)) => Self::Run(budget),
                    Some(Err(_)) | None => Self::Unknown("run lacks a budget_ms".into()),
                }
            }
            Some("quit") => Self::Quit,
            Some(other) => Self::Unknown(format!("no command {other}")),
            None => Self::Unknown("no cmd".into()),
        }
    }
}

fn refusal(problem: &str) -> Value {
    json!({"ok": false, "error": problem})
}

fn say(replies: &mut impl Write, reply: &Value) -> io::Result<()> {
    writeln!(replies, "{reply}")?;
    replies.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{STORED, reference::Reference};
    use restride_testkit::workloads::read;

    fn converse(requests: &str) -> Vec<Value> {
        let list = read(STORED).expect("the stored file");
        let workloads: Vec<_> = list.into_iter().filter_map(Result::ok).collect();
        let mut replies = Vec::new();
        serve(&Reference, &workloads, 1, requests.as_bytes(), &mut replies).expect("no I/O fails");
        let text = String::from_utf8(replies).expect("UTF-8");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    #[test]
    fn a_conversation() {
        let replies = converse(
            "{\"cmd\":\"run\",\"budget_ms\":1}\n\
             {\"cmd\":\"prepare\",\"id\":\"tiny_box_swap\"}\n\
             {\"cmd\":\"run\",\"budget_ms\":0.2}\n\
             {\"cmd\":\"run\",\"budget_ms\":-1}\n\
             {\"cmd\":\"prepare\",\"id\":\"tiny_shape_slice\"}\n\
             {\"cmd\":\"prepare\",\"id\":\"nonesuch\"}\n\
             {\"cmd\":\"dance\"}\n\
             nonsense\n\
             {\"cmd\":\"quit\"}\n\
             {\"cmd\":\"run\",\"budget_ms\":1}\n",
        );
        let ok: Vec<_> = replies.iter().map(|reply| reply["ok"] == true).collect();
        assert_eq!(ok, [false, true, true, false, true, false, false, false]);
        assert_eq!(replies[1]["crc_ok"], true);
        assert!(replies[2]["t"][0].as_f64() <= replies[2]["t"][1].as_f64());
        assert!(replies[2]["m"][0].as_f64() > Some(0.0));
    }

    #[test]
    fn the_end_of_input_ends_it() {
        assert!(converse("").is_empty());
        assert_eq!(
            converse("{\"cmd\":\"prepare\",\"id\":\"tiny_box_swap\"}").len(),
            1
        );
    }
}
