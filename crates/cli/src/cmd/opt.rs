//! `restride opt`: text in, text out, one stage at a time.

use restride_graph::ViewPolicy;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::ValueEnum;

use crate::failure::Failure;
use crate::say::progress;
use crate::source::{INPUT_HELP, Input};
use crate::stages::{AnyProgram, lower, planned};
use crate::views::{Views, notes};

/// The arguments of `restride opt`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(default_value = "-", help = INPUT_HELP)]
    file: String,
    /// How far to go.
    #[arg(long, value_enum, default_value_t = Pass::Canon)]
    pass: Pass,
    /// Print every stage before the last one to standard error.
    #[arg(long)]
    print_after_all: bool,
    /// Say which rewrites were made and why, as comments before the text.
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    views: Views,
}

/// The stages, each after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Pass {
    /// Read, check, and print again.
    Parse,
    /// The canonical form.
    Canon,
    /// The passes over memory (printed only: plans do not parse).
    Plan,
    /// Loops, verified.
    Lower,
}

/// One stage's text, and comments about how it came to be.
struct After {
    pass: Pass,
    text: String,
    notes: Vec<String>,
}

/// Prints the stage that was asked for.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    for (at, (input, program)) in AnyProgram::all(&args.file)?.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let stages = stages(input, program, args.pass, args.views.policy())?;
        let Some((last, earlier)) = stages.split_last() else {
            continue;
        };
        if args.print_after_all {
            for stage in earlier {
                progress(format_args!("// after {}\n{}", stage.name(), stage.text));
            }
        }
        if args.explain {
            for note in stages.iter().flat_map(|stage| &stage.notes) {
                writeln!(out, "// {note}")?;
            }
        }
        out.write_all(last.text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

impl After {
    fn name(&self) -> String {
        self.pass
            .to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Every stage from the program's own to `last`.
fn stages(
    input: &Input,
    program: &AnyProgram,
    last: Pass,
    views: ViewPolicy,
) -> Result<Vec<After>, Failure> {
    let remarks: String = input
        .remarks()
        .map(|remark| format!("{remark}\n"))
        .collect();
    let mut stages = vec![After {
        pass: Pass::Parse,
        text: match program {
            AnyProgram::Graph(graph) => graph.with_comments_of(input.text()).to_string(),
            AnyProgram::Canonical(_) | AnyProgram::Kernel(_) => {
                format!("{remarks}{}", program.text())
            }
        },
        notes: Vec::new(),
    }];
    if let AnyProgram::Kernel(kernel) = program {
        return match last {
            Pass::Parse => Ok(stages),
            Pass::Lower => {
                let text = format!("{remarks}{}\n", kernel.verified()?.to_string().trim_end());
                let notes = vec!["the verifier accepts it".to_owned()];
                stages.push(After {
                    pass: Pass::Lower,
                    text,
                    notes,
                });
                Ok(stages)
            }
            Pass::Canon | Pass::Plan => Err(Failure::Usage(
                "a kernel is past this pass; `--pass parse` and `--pass lower` take one".into(),
            )),
        };
    }
    if last >= Pass::Canon
        && let Some((canonical, trace)) = program.canonical()?
    {
        stages.push(After {
            pass: Pass::Canon,
            text: format!("{remarks}{canonical}\n"),
            notes: trace.iter().map(ToString::to_string).collect(),
        });
        if last == Pass::Plan {
            let plan = planned(&canonical, views)?;
            stages.push(After {
                pass: Pass::Plan,
                text: plan.to_string(),
                notes: Vec::new(),
            });
        } else if last == Pass::Lower {
            let lowered = lower(&canonical, views)?;
            stages.push(After {
                pass: Pass::Plan,
                text: lowered.plan.to_string(),
                notes: Vec::new(),
            });
            let views: String = notes(&lowered.plan, program, "lowers")
                .iter()
                .map(|note| format!("// {note}\n"))
                .collect();
            stages.push(After {
                pass: Pass::Lower,
                text: format!(
                    "{remarks}{views}{}\n",
                    lowered.kernel.to_string().trim_end()
                ),
                notes: lowered.decisions.iter().map(ToString::to_string).collect(),
            });
        }
    }
    Ok(stages)
}
