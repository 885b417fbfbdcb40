//! `restride bench --first`: what a shape costs that was never seen.
//!
//! A template is specialised to one shape after the other, none of them twice, and each program is
//! called three times: the first call of all, with what it takes to get there, is held against the
//! last. What was made is compared with what the graph itself, on the same shapes, becomes. Shapes
//! during which the system let another thread run are left out of the times, and of what a new shape
//! takes the first of each template, with which the template is new as well.

mod samples;
mod templates;

use std::io::Write;
use std::time::{Duration, Instant};

use restride::{Code, Config, Engine, Template, TensorMut, TensorRef, ViewPolicy};
use restride_bench::clock::geometric_mean;
use restride_bench::system::interruptions;
use restride_bench::table::{duration, size};
use restride_exec::Executable;
use restride_loops::verify;
use restride_lower::plan::{PlanOptions, plan};
use restride_lower::schedule;
use restride_moves::{Planner, Target};

use crate::budget;
use crate::failure::Failure;
use crate::source::Input;
use samples::{Sample, samples};
pub(super) use templates::Variable;
use templates::Varied;

/// The templates that are run when no file is named.
const STORED: &str = include_str!("templates.txt");

/// Outputs of so many bytes take time enough to be held against.
const LARGE: usize = 64 << 10;

/// How programs are run.
pub(super) struct TemplateOptions<'a> {
    /// Variables of a program of one's own.
    pub(super) vary: &'a [Variable],
    /// Only templates whose name contains this.
    pub(super) filter: &'a str,
    /// Whether what could be a view is written.
    pub(super) views: ViewPolicy,
    /// How code is made.
    pub(super) code: Code,
}

/// Measures and prints; returns how many templates failed.
pub(super) fn run(
    input: Option<&Input>,
    options: &TemplateOptions<'_>,
    out: &mut dyn Write,
) -> Result<usize, Failure> {
    let (all, views) = match input {
        None => (
            templates::read("the built-in templates", STORED)?,
            ViewPolicy::Copy,
        ),
        Some(input) if templates::is_file(input.text()) => (
            templates::read(input.name(), input.text())?,
            ViewPolicy::Copy,
        ),
        Some(input) => {
            if options.vary.is_empty() {
                let message = "say which sizes vary, such as --vary s=17..517 for `x: f32[8,s]`";
                return Err(Failure::Usage(message.into()));
            }
            let one = Varied {
                name: "program".into(),
                text: input.text().into(),
                variables: options.vary.to_vec(),
            };
            if let Some(name) = one.absent() {
                let message = format!("--vary {name}: no input has a size `{name}`");
                return Err(Failure::Usage(message));
            }
            (vec![one], options.views)
        }
    };
    let chosen = |it: &&Varied| it.name.contains(options.filter);
    let mut rows = Vec::new();
    let mut failed = 0;
    writeln!(out, "{}", heading())?;
    for varied in all.iter().filter(chosen) {
        let samples = samples(varied)?;
        match TemplateRow::measure(varied, &samples, views, options.code) {
            Ok(row) => {
                writeln!(out, "{}", row.line())?;
                rows.push(row);
            }
            Err(problem) => {
                failed += 1;
                writeln!(out, "{:<24} FAILED: {problem}", varied.name)?;
            }
        }
        out.flush()?;
    }
    if rows.len() > 1 {
        write!(out, "\n{}", together(&rows))?;
    }
    Ok(failed)
}

/// Nanoseconds.
type Nanoseconds = Vec<f64>;

/// The stages on the way of a new shape, as they are printed.
const STAGES: [&str; 6] = ["graph", "canon", "plan", "loops", "verify", "leaves"];

/// What was measured of one template.
struct TemplateRow {
    name: String,
    /// How many shapes had the plan that others have, with their sizes in it.
    substituted: u64,
    /// Of the largest outputs.
    bytes: usize,
    new_shape: Nanoseconds,
    first_run: Nanoseconds,
    later_run: Nanoseconds,
    stages: [Nanoseconds; STAGES.len()],
    /// All first calls, from the shape on, and all later ones, where outputs are large.
    together: Option<(f64, f64)>,
}

impl TemplateRow {
    fn measure(
        varied: &Varied,
        samples: &[Sample],
        views: ViewPolicy,
        code: Code,
    ) -> Result<Self, String> {
        let config = Config {
            views,
            code,
            budget: budget::chosen(),
            ..Config::default()
        };
        let engine = Engine::new(config);
        let planner = Planner::new(&Target::default());
        let first = samples.first().ok_or("it has no values")?;
        let template = Template::new(first.graph.clone());
        let most = samples.iter().map(Sample::largest_input).max();
        let data = vec![1u8; most.unwrap_or(0)];
        let mut row = Self {
            name: varied.name.clone(),
            substituted: 0,
            bytes: 0,
            new_shape: Nanoseconds::new(),
            first_run: Nanoseconds::new(),
            later_run: Nanoseconds::new(),
            stages: Default::default(),
            together: None,
        };
        let mut outputs: Vec<Vec<u8>> = Vec::new();
        let (mut firsts, mut laters) = (0.0, 0.0);
        for (at, sample) in samples.iter().enumerate() {
            let shapes = sample.shapes();
            let before = interruptions();
            let start = Instant::now();
            let program = engine.specialise(&template, &shapes);
            let new_shape = nanoseconds(start.elapsed());
            let program = program.map_err(|e| e.to_string())?;
            let sizes = super::program::computed(&program);
            outputs.resize(sizes.len(), Vec::new());
            for (buffer, (_, bytes)) in outputs.iter_mut().zip(&sizes) {
                buffer.resize(buffer.len().max(*bytes), 2);
            }
            let inputs = sample.inputs(&data);
            let inputs: Vec<_> = inputs.iter().map(|b| TensorRef::from_bytes(b)).collect();
            let mut call = || {
                let parts = outputs.iter_mut().zip(&sizes);
                let parts = parts.map(|(buffer, (_, bytes))| &mut buffer[..*bytes]);
                let mut parts: Vec<_> = parts.map(TensorMut::from_bytes).collect();
                let start = Instant::now();
                let done = program.run(&inputs, &mut parts);
                let time = nanoseconds(start.elapsed());
                done.map(|()| time).map_err(|e| e.to_string())
            };
            let bytes = sizes.iter().map(|(_, bytes)| bytes).sum();
            row.bytes = row.bytes.max(bytes);
            let calls = match program.is_view() {
                true => None,
                false => Some((call()?, call()?, call()?)),
            };
            if interruptions() == before {
                let known = at > 0 || samples.len() == 1;
                row.new_shape.extend(known.then_some(new_shape));
                row.first_run.extend(calls.map(|calls| calls.0));
                row.later_run.extend(calls.map(|calls| calls.2));
                if let Some((first, _, later)) = calls.filter(|_| bytes >= LARGE) {
                    firsts += new_shape + first;
                    laters += later;
                }
            }
        }
        row.together = (laters > 0.0).then_some((firsts, laters));
        row.substituted = engine.stats().substituted;
        // Apart, since code that has just run is faster than it is after a call.
        for sample in samples {
            let program = engine.specialise(&template, &sample.shapes());
            let program = program.map_err(|e| e.to_string())?;
            row.stages_of(sample, (views, &planner), &program)?;
        }
        Ok(row)
    }

    /// Takes the graph of a shape through the stages one by one, and holds what comes out against
    /// the program.
    fn stages_of(
        &mut self,
        sample: &Sample,
        (views, planner): (ViewPolicy, &Planner),
        program: &restride::Program,
    ) -> Result<(), String> {
        fn timed<T>(times: &mut Nanoseconds, work: impl FnOnce() -> T) -> T {
            let start = Instant::now();
            let made = work();
            times.push(nanoseconds(start.elapsed()));
            made
        }
        let [graph, canon, planned, loops, verified, leaves] = &mut self.stages;
        let meter = budget::meter();
        let it = timed(graph, || sample.graph.clone());
        let canonical = timed(canon, || restride_canon::canonicalise(&it, &meter, None));
        let canonical = canonical.map_err(|e| e.to_string())?;
        let made = timed(planned, || plan(&canonical, PlanOptions { views }, &meter));
        let made = made.map_err(|e| e.to_string())?;
        let scheduled = timed(loops, || schedule(&made, &Target::default(), &meter));
        let kernel = scheduled.map_err(|e| e.to_string())?.kernel;
        let kernel = timed(verified, || verify(kernel)).map_err(|e| e.to_string())?;
        let prepared = timed(leaves, || Executable::new(&kernel, planner));
        prepared.map_err(|e| e.to_string())?;
        match kernel == *program.kernel() {
            true => Ok(()),
            false => Err("the template does not become what its graph does".into()),
        }
    }

    /// How much more first calls take than later ones.
    fn over_later(&self) -> Option<f64> {
        self.together.map(|(firsts, laters)| firsts / laters)
    }

    fn line(&self) -> String {
        let at = |times: &Nanoseconds, part: usize| duration(quantile(times, part));
        let over = self.over_later();
        let over = over.map_or("-".into(), |n| format!("{n:.2}"));
        let mut line = format!(
            "{:<24} {:>6} {:>6} {:>9} {:>8} {:>8} {:>8} {:>9} {:>9} {over:>6} ",
            self.name,
            self.new_shape.len(),
            self.substituted,
            size(self.bytes),
            at(&self.new_shape, 50),
            at(&self.new_shape, 99),
            at(&self.new_shape, 100),
            at(&self.first_run, 50),
            at(&self.later_run, 50),
        );
        for times in &self.stages {
            line.push_str(&format!(" {:>7}", at(times, 50)));
        }
        line
    }
}

fn heading() -> String {
    let mut line = format!(
        "{:<24} {:>6} {:>6} {:>9} {:>8} {:>8} {:>8} {:>9} {:>9} {:>6} ",
        "template",
        "shapes",
        "subst.",
        "output",
        "new",
        "p99",
        "worst",
        "first run",
        "later",
        "over"
    );
    for stage in STAGES {
        line.push_str(&format!(" {stage:>7}"));
    }
    line
}

/// All templates together.
fn together(rows: &[TemplateRow]) -> String {
    let of = |times: fn(&TemplateRow) -> &Nanoseconds, part: usize| {
        let all: Nanoseconds = rows.iter().flat_map(times).copied().collect();
        duration(quantile(&all, part))
    };
    let medians: Nanoseconds = rows
        .iter()
        .map(|row| quantile(&row.new_shape, 50))
        .collect();
    let over = geometric_mean(rows.iter().filter_map(TemplateRow::over_later));
    let sums = rows.iter().filter_map(|row| row.together);
    let (firsts, laters) = sums.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    format!(
        "a new shape: {} in the median of medians, {} at p99 of all, {} at worst\n\
         first calls over later ones of {} and more: {:.2} in the geometric mean, {:.2} all together\n",
        duration(quantile(&medians, 50)),
        of(|row| &row.new_shape, 99),
        of(|row| &row.new_shape, 100),
        size(LARGE),
        over.unwrap_or(0.0),
        firsts / laters.max(1.0),
    )
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

/// The value that so many in a hundred do not exceed; 0 of nothing.
fn quantile(times: &Nanoseconds, part: usize) -> f64 {
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    let at = sorted.len().saturating_sub(1) * part / 100;
    sorted.get(at).copied().unwrap_or(0.0)
}
