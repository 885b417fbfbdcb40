//! A program at whatever stage its text is, and the way down from there.

use restride_canon::CanonError;
use restride_canon::ir::Canonical;
use restride_canon::trace::{Rewrite, Trace};
use restride_graph::{Graph, ViewPolicy};
use restride_loops::{Verified, verify};
use restride_lower::plan::{Plan, PlanError, PlanOptions, plan};
use restride_lower::{Decision, LowerError, schedule};
use restride_moves::Target;
use restride_text::{Cursor, Diagnostic, TokenKind, closest};

use crate::budget;
use crate::failure::Failure;
use crate::quick;
use crate::source::{Input, STAGES};
use crate::written::Written;

/// What a text turned out to be.
pub(crate) enum AnyProgram {
    /// Operators as spelled.
    Graph(Graph),
    /// Operators without their spelling.
    Canonical(Canonical),
    /// Loops.
    Kernel(Written),
}

/// A plan, the loops made from it, and why they are as they are.
pub(crate) struct Lowered {
    /// The passes over memory.
    pub(crate) plan: Plan,
    /// The loops.
    pub(crate) kernel: Verified,
    /// How each piece is moved.
    pub(crate) decisions: Vec<Decision>,
}

impl AnyProgram {
    /// Reads a text; its first word tells the stage. One that starts with no known word is an
    /// expression.
    pub(crate) fn parse(input: &Input) -> Result<Self, Failure> {
        let text = input.text();
        let cursor = Cursor::new(text).map_err(|error| input.wrong(&error))?;
        if cursor.at_name("func") {
            let graph = Graph::parse(text).map_err(|errors| input.all_wrong(&errors))?;
            Ok(Self::Graph(graph))
        } else if cursor.at_name("canonical") {
            let canonical = restride_canon::text::parse(text).map_err(|e| input.wrong(&e))?;
            Ok(Self::Canonical(canonical))
        } else if cursor.at_name("kernel") {
            Ok(Self::Kernel(Written::parse(input)?))
        } else if let Some(error) = beginning(&cursor) {
            Err(input.wrong(&error))
        } else {
            let graph = quick::parse(text).map_err(|error| input.wrong(&error))?;
            Ok(Self::Graph(graph))
        }
    }

    /// Reads what an argument stands for, which is one program.
    pub(crate) fn open(argument: &str) -> Result<Self, Failure> {
        Self::parse(&Input::open(argument)?.program()?)
    }

    /// Reads all programs that an argument stands for, each with its text.
    pub(crate) fn all(argument: &str) -> Result<Vec<(Input, Self)>, Failure> {
        let inputs = Input::open(argument)?.programs()?.into_iter();
        inputs
            .map(|input| Ok((input.clone(), Self::parse(&input)?)))
            .collect()
    }

    /// As printed.
    pub(crate) fn text(&self) -> String {
        let text = match self {
            Self::Graph(graph) => graph.to_string(),
            Self::Canonical(canonical) => canonical.to_string(),
            Self::Kernel(kernel) => kernel.to_string(),
        };
        format!("{}\n", text.trim_end())
    }

    /// The word for what it is.
    pub(crate) fn stage(&self) -> &'static str {
        match self {
            Self::Graph(_) => "graph",
            Self::Canonical(_) => "canonical graph",
            Self::Kernel(_) => "kernel",
        }
    }

    /// Its canonical form and every rewrite on the way there; nothing for loops, which are past
    /// that stage. A canonical graph is brought into normal form.
    pub(crate) fn canonical(&self) -> Result<Option<(Canonical, Vec<Rewrite>)>, Failure> {
        let mut trace: Vec<Rewrite> = Vec::new();
        let listener: Option<&mut dyn Trace> = Some(&mut trace);
        let canonical = match self {
            Self::Graph(graph) => restride_canon::canonicalise(graph, &budget::meter(), listener),
            Self::Canonical(canonical) => {
                restride_canon::normalise(canonical, &budget::meter(), listener)
            }
            Self::Kernel(_) => return Ok(None),
        };
        canonical
            .map(|canonical| Some((canonical, trace)))
            .map_err(|error| match error {
                CanonError::TooCostly(spent) => budget::refused(spent),
                error => Failure::Internal(format!("canonicalising: {error}")),
            })
    }

    /// The loops of it, proved, and the plan that they were made from unless somebody wrote them.
    /// Outputs that are views are written too if `views`.
    pub(crate) fn kernel(&self, views: ViewPolicy) -> Result<(Verified, Option<Plan>), Failure> {
        self.kernel_for(views, &Target::default())
    }

    /// The same, for a machine.
    pub(crate) fn kernel_for(
        &self,
        views: ViewPolicy,
        target: &Target,
    ) -> Result<(Verified, Option<Plan>), Failure> {
        match self {
            Self::Kernel(kernel) => Ok((kernel.verified()?, None)),
            Self::Graph(_) | Self::Canonical(_) => match self.canonical()? {
                Some((canonical, _)) => {
                    let lowered = lower_for(&canonical, views, target)?;
                    Ok((lowered.kernel, Some(lowered.plan)))
                }
                None => Err(Failure::Internal("a graph has no canonical form".into())),
            },
        }
    }
}

/// What is wrong with the first words of a text, if they begin neither a program nor an expression.
fn beginning(start: &Cursor<'_>) -> Option<Diagnostic> {
    let mut ahead = start.clone();
    if ahead.at_punct("<") {
        let help = "a model is read by `restride model` and `restride import`";
        return Some(Diagnostic::new(ahead.span(), "this is XML, not a program").help(help));
    }
    let word = ahead.name().ok()?;
    let next = ahead.peek().ok()?;
    let after = ahead.bump().ok().and_then(|_| ahead.peek().ok());
    let is_plan = match word.text {
        "stage" => next.kind == TokenKind::Int,
        "view" | "copy" => next.text == ":" && after.is_some_and(|token| token.text == "output"),
        "check" => next.text == "input",
        _ => false,
    };
    if is_plan {
        let message = "this is a plan, and plans do not parse";
        let help = "they are printed only: go on from the stage before, `--pass canon`";
        return Some(Diagnostic::new(word.span, message).help(help));
    }
    // An expression begins with `x: f32[4]`, `x = ...`, `concat(...)` or the like.
    let is_expression = matches!(next.kind, TokenKind::Punct | TokenKind::End);
    if is_expression {
        return None;
    }
    let message = format!(
        "`{}` does not begin a program: programs begin with func, canonical or kernel",
        word.text
    );
    Some(
        Diagnostic::new(word.span, message).help(match closest(word.text, STAGES) {
            Some(stage) => format!("did you mean `{stage}`?"),
            None => "an expression declares its inputs first: `x: f32[4, 6]; x[::-1]`".into(),
        }),
    )
}

/// The plan of a canonical graph.
pub(crate) fn planned(canonical: &Canonical, views: ViewPolicy) -> Result<Plan, Failure> {
    let options = PlanOptions { views };
    plan(canonical, options, &budget::meter()).map_err(|error| match error {
        PlanError::TooCostly(spent) => budget::refused(spent),
        error => Failure::Internal(format!("planning: {error}")),
    })
}

/// The plan and the loops of a canonical graph.
pub(crate) fn lower(canonical: &Canonical, views: ViewPolicy) -> Result<Lowered, Failure> {
    lower_for(canonical, views, &Target::default())
}

/// The same, for a machine.
pub(crate) fn lower_for(
    canonical: &Canonical,
    views: ViewPolicy,
    target: &Target,
) -> Result<Lowered, Failure> {
    let plan = planned(canonical, views)?;
    let scheduled = schedule(&plan, target, &budget::meter()).map_err(|error| match error {
        LowerError::TooCostly(spent) => budget::refused(spent),
        error => Failure::Internal(format!("scheduling: {error}")),
    })?;
    let kernel = verify(scheduled.kernel)
        .map_err(|refused| Failure::Internal(format!("verifying: {refused}")))?;
    Ok(Lowered {
        plan,
        kernel,
        decisions: scheduled.decisions,
    })
}
