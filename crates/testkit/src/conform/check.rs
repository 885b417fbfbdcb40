//! Runs cases on rungs and says where they do not hold.

use restride_graph::oracle::Tensor;

use super::SpellError;
use super::case::{ArrayOut, GoldenCase};
use super::model::{ModelCase, check_model};
use super::spell::{SpelledCase, spell};
use super::values;
use crate::ladder::guarded;
use crate::rungs::{Rung, RungError, Subject};

/// Whether a case holds: `Err` says why not.
pub type Holds = Result<(), Miss>;

/// Why a case does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// It gives another answer than the framework, on some rung.
    Wrong(String),
    /// The framework does it, and restride says that it does not.
    Refused(String),
}

/// What is only said is wrong.
impl From<String> for Miss {
    fn from(reason: String) -> Self {
        Self::Wrong(reason)
    }
}

/// How the cases of one file did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReport {
    /// Cases that hold on every rung.
    pub passed: usize,
    /// Why those that are refused are, each with the case's name.
    pub refusals: Vec<String>,
    /// What went wrong with the others, likewise.
    pub failures: Vec<String>,
}

impl FileReport {
    /// Counts one more case.
    pub fn add(&mut self, name: &str, holds: Holds) {
        match holds {
            Ok(()) => self.passed += 1,
            Err(Miss::Refused(reason)) => self.refusals.push(format!("{name}: {reason}")),
            Err(Miss::Wrong(reason)) => self.failures.push(format!("{name}: {reason}")),
        }
    }

    /// Counts the cases of another file, too.
    pub fn extend(&mut self, other: Self) {
        self.passed += other.passed;
        self.refusals.extend(other.refusals);
        self.failures.extend(other.failures);
    }
}

/// Checks every line of a file on these rungs. A line that is no case is a failure.
pub fn check_lines(text: &str, rungs: &[&dyn Rung]) -> FileReport {
    let mut report = FileReport::default();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let (name, holds) = match checked(line, rungs) {
            Ok(checked) => checked,
            Err(error) => (
                format!("line {}", number + 1),
                Err(format!("not a case: {error}").into()),
            ),
        };
        report.add(&name, holds);
    }
    report
}

/// A line is a test of a model or a case: its name, and whether it holds.
fn checked(line: &str, rungs: &[&dyn Rung]) -> Result<(String, Holds), serde_json::Error> {
    if let Ok(case) = serde_json::from_str::<ModelCase>(line) {
        let holds = check_model(&case, rungs);
        return Ok((case.id, holds));
    }
    let case: GoldenCase = serde_json::from_str(line)?;
    let holds = check_case(&case, rungs);
    Ok((case.id, holds))
}

/// Checks one case on these rungs.
pub fn check_case(case: &GoldenCase, rungs: &[&dyn Rung]) -> Holds {
    let spelled = match (spell(case), case.expect.outputs()) {
        (Ok(spelled), _) => spelled,
        (Err(SpellError::Refused(_)), None) => return Ok(()),
        (Err(SpellError::Refused(reason)), Some(_)) => return Err(Miss::Refused(reason)),
        (Err(reason), _) => return Err(format!("unreadable: {reason}").into()),
    };
    let subject = Subject::new(&spelled.graph, &spelled.inputs);
    for rung in rungs {
        check_rung(case, &spelled, &subject, *rung)
            .map_err(|reason| format!("on rung {}: {reason}\n{}", rung.name(), spelled.graph))?;
    }
    Ok(())
}

fn check_rung(
    case: &GoldenCase,
    spelled: &SpelledCase,
    subject: &Subject<'_>,
    rung: &dyn Rung,
) -> Result<(), String> {
    match (guarded(rung, subject), case.expect.outputs()) {
        (Err(RungError::Refused(_) | RungError::OutOfRange(_)), None) => Ok(()),
        (Err(error), _) => Err(error.to_string()),
        (Ok(_), None) => Err("accepted, but the framework refuses it".into()),
        (Ok(outputs), Some(expected)) => compare(spelled, &outputs, expected),
    }
}

fn compare(spelled: &SpelledCase, outputs: &[Tensor], expected: &[ArrayOut]) -> Result<(), String> {
    if outputs.len() != expected.len() {
        return Err(format!(
            "{} outputs, expected {}",
            outputs.len(),
            expected.len()
        ));
    }
    let declared = spelled.graph.outputs();
    for (k, ((output, expected), declared)) in
        outputs.iter().zip(expected).zip(declared).enumerate()
    {
        let inferred = spelled.graph.output_type(declared).without_layout();
        if *output.ty() != inferred {
            return Err(format!(
                "output {k} is {}, but {inferred} was inferred",
                output.ty()
            ));
        }
        let expected = values::expected(output.element(), expected)?;
        if output.shape() != expected.shape() {
            return Err(format!(
                "output {k} has shape {:?}, expected {:?}",
                output.shape(),
                expected.shape()
            ));
        }
        let width = output.element().width();
        let pairs = output
            .bytes()
            .chunks(width)
            .zip(expected.bytes().chunks(width));
        if let Some((at, (got, wanted))) =
            pairs.enumerate().find(|(_, (got, wanted))| got != wanted)
        {
            return Err(format!(
                "output {k}, element {at}: bytes {got:02x?}, expected {wanted:02x?}"
            ));
        }
    }
    Ok(())
}
