//! Everything there is to say about how a program is compiled, gathered once for whoever says it.

use restride_canon::ir::Canonical;
use restride_canon::trace::Rewrite;
use restride_graph::ViewPolicy;
use restride_lower::plan::Answer;
use restride_lower::{Lines, Traffic};
use restride_moves::Target;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::stages::{AnyProgram, Lowered, lower_for};
use crate::views::answers;
use crate::ways::Ways;

/// A program at every stage from canonical on.
pub(crate) struct Explanation {
    /// The program's own text.
    pub(crate) spelled: String,
    /// The rewrites, each as `(operator, rule, why)`.
    pub(crate) rewrites: Vec<ShownRewrite>,
    /// The canonical form.
    pub(crate) canonical: Canonical,
    /// Plan, loops and decisions.
    pub(crate) lowered: Lowered,
    /// How each box is moved.
    pub(crate) ways: Ways,
    /// What moves.
    pub(crate) traffic: Traffic,
    /// View or copy, an output each.
    pub(crate) answers: Vec<String>,
}

/// One rewrite, with the operator it was made on.
pub(crate) struct ShownRewrite {
    /// `%3 transpose`, or the value alone where there is no spelled graph.
    pub(crate) on: String,
    /// The rule's name.
    pub(crate) rule: &'static str,
    /// The facts.
    pub(crate) why: String,
}

impl Explanation {
    /// Explains a program that is not a kernel yet.
    pub(crate) fn of(program: &AnyProgram, views: ViewPolicy) -> Result<Self, Failure> {
        Self::of_machine(program, views, &Target::default())
    }

    /// The same, for a machine.
    pub(crate) fn of_machine(
        program: &AnyProgram,
        views: ViewPolicy,
        target: &Target,
    ) -> Result<Self, Failure> {
        let Some((canonical, rewrites)) = program.canonical()? else {
            return Err(Failure::Usage(
                "a kernel has nothing left to explain; `restride check` proves it".into(),
            ));
        };
        let lowered = lower_for(&canonical, views, target)?;
        let traffic = Traffic::of(&lowered.plan, Lines::of(&lowered.decisions));
        let answers = answers(&lowered.plan, program);
        let rewrites = rewrites
            .iter()
            .map(|step| ShownRewrite::of(step, program))
            .collect();
        Ok(Self {
            spelled: program.text(),
            rewrites,
            canonical,
            ways: Ways::of(&lowered.kernel, target),
            lowered,
            traffic,
            answers,
        })
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> Value {
        let steps = self.rewrites.iter();
        let steps: Vec<Value> = steps
            .map(|step| json!({"on": step.on, "rule": step.rule, "why": step.why}))
            .collect();
        let stages = self.lowered.plan.stages.iter();
        let stages: Vec<Value> = stages
            .map(|stage| json!({"reason": stage.why(), "pieces": stage.pieces.len()}))
            .collect();
        let decisions = self.lowered.decisions.iter();
        let decisions: Vec<Value> = decisions
            .map(|decision| {
                json!({
                    "stage": decision.stage,
                    "piece": decision.piece,
                    "form": decision.form.map(|form| form.name()),
                    "why": decision.why.to_string(),
                    "lines_read": decision.lines_read,
                    "lines_written": decision.lines_written,
                    "parallel": decision.parallel,
                })
            })
            .collect();
        let outputs = self.lowered.plan.answers.iter();
        let outputs: Vec<Value> = outputs
            .map(|answer| match answer {
                Answer::View { input, layout } => json!({
                    "view": {
                        "input": input,
                        "offset": layout.offset,
                        "strides": layout.strides.as_slice(),
                    }
                }),
                Answer::Computed { stage, why } => json!({"stage": stage, "why": why}),
            })
            .collect();
        let traffic = &self.traffic;
        json!({
            "spelled": self.spelled,
            "rewrites": steps,
            "canonical": self.canonical.to_string(),
            "outputs": outputs,
            "stages": stages,
            "plan": self.lowered.plan.to_string(),
            "loops": self.lowered.kernel.to_string(),
            "decisions": decisions,
            "traffic": {
                "read": saturate(traffic.read),
                "written": saturate(traffic.written),
                "least_read": saturate(traffic.least_read),
                "least_written": saturate(traffic.least_written),
                "ratio": traffic.ratio(),
            },
        })
    }
}

/// JSON numbers end at 64 bits.
pub(crate) fn saturate(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl ShownRewrite {
    fn of(rewrite: &Rewrite, program: &AnyProgram) -> Self {
        let on = match program {
            AnyProgram::Graph(graph) => match graph.get(rewrite.on) {
                Some((op, _)) => format!("{} {}", graph.label(rewrite.on), op.name()),
                None => rewrite.on.to_string(),
            },
            AnyProgram::Canonical(_) | AnyProgram::Kernel(_) => rewrite.on.to_string(),
        };
        Self {
            on,
            rule: rewrite.rule,
            why: rewrite.why.clone(),
        }
    }
}

impl std::fmt::Display for ShownRewrite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { on, rule, why } = self;
        // An operator is lowered by the rule of its own name.
        match why.split_once(" is lowered to canonical operators : ") {
            Some((value, ty)) if *on == format!("{value} {rule}") => {
                write!(f, "{on}: lowered to canonical operators : {ty}")
            }
            Some(_) | None => write!(f, "{on}: {rule}: {why}"),
        }
    }
}
