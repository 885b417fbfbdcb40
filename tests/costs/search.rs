//! A search for the texts that cost most, by changing those that cost much.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use restride::Budget;
use restride_testkit::generate::Random;
use restride_tests::structured::{FAMILIES, Genome};

use crate::child::costs;
use crate::stages::{Costs, How};

/// The longest text.
const LENGTH: usize = 10_000;

/// The most bytes that a compile may have in use at once.
const BYTES: u64 = 64_000_000;

/// The most pieces of memory that a compile may ask for: what takes a quarter of a second asks for
/// fewer.
const ALLOCATIONS: u64 = 1_500_000;

/// Seconds after which a child is ended.
const PATIENCE: u64 = 20;

/// How many texts are kept for each measure.
const KEPT: usize = 12;

/// What is sought: a name, and how much of it a text has.
type Measure = (&'static str, fn(&str, &Costs) -> f64);

/// What is the same whenever and wherever it is measured.
const EXACT: [Measure; 6] = [
    ("MB in use at most", |_, c| c.bytes() as f64 / 1e6),
    ("kB in use a byte of text", |text, c| {
        c.bytes() as f64 / 1e3 / text.len() as f64
    }),
    ("allocations", |_, c| allocations(c) as f64),
    ("allocations a byte of text", |text, c| {
        allocations(c) as f64 / text.len() as f64
    }),
    ("units of work a byte of text", |text, c| {
        c.sum(|stage| stage.work) as f64 / text.len() as f64
    }),
    // Of stages that take something: what they do and do not say.
    ("bytes in use a byte that its stage declares", |_, c| {
        let stages = c.stages.iter().filter(|stage| stage.charged > 0);
        let undeclared = |stage: &crate::stages::Took| {
            stage.spent.bytes as f64 / stage.charged.max(2_000_000) as f64
        };
        stages.map(undeclared).fold(0.0, f64::max)
    }),
];

/// What depends on the machine, and on what else it does.
const TIMED: [Measure; 3] = [
    ("ms of the processor", |_, c| c.time() as f64 / 1e6),
    ("us of the processor a byte of text", |text, c| {
        c.time() as f64 / 1e3 / text.len() as f64
    }),
    // Of texts that cost something.
    ("ns of the processor a unit of work", |_, c| {
        c.time() as f64 / c.sum(|stage| stage.work).max(10_000_000) as f64
    }),
];

fn allocations(costs: &Costs) -> u64 {
    costs.sum(|stage| stage.spent.allocations)
}

/// How long a search goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    /// For so many texts, by what is the same everywhere: so is all that it says.
    Texts(u64),
    /// For so many seconds, by time as well; it fails above so many milliseconds, if told.
    Seconds(u64, Option<u64>),
}

struct Found {
    value: f64,
    genome: Option<Genome>,
    text: String,
    costs: Costs,
}

struct Search {
    random: Random,
    how: How,
    measures: Vec<Measure>,
    /// The best for each measure, best first.
    best: Vec<Vec<Found>>,
    tried: u64,
    refused: u64,
    /// Texts that are refused though no budget says so, by what they are refused with.
    odd: Vec<(String, String)>,
    died: Option<(String, Costs)>,
    /// The most nanoseconds that one may take, if there is a bound.
    time: Option<u64>,
    /// How many were too much.
    bombs: u64,
}

/// Searches, prints the worst, and fails if that is too much.
pub(crate) fn run(length: Length, seed: u64) -> ExitCode {
    let exact = matches!(length, Length::Texts(_));
    let measures: Vec<Measure> = match exact {
        true => EXACT.into(),
        false => TIMED.into_iter().chain(EXACT).collect(),
    };
    let mut search = Search {
        random: Random::new(seed),
        how: How {
            budget: Budget::default(),
            again: false,
            exact,
        },
        best: measures.iter().map(|_| Vec::new()).collect(),
        measures,
        tried: 0,
        refused: 0,
        odd: Vec::new(),
        died: None,
        time: match length {
            Length::Texts(_) => None,
            Length::Seconds(_, milliseconds) => milliseconds.map(|ms| ms * 1_000_000),
        },
        bombs: 0,
    };
    for family in FAMILIES {
        // As large as it may be.
        let fits = |n: &usize| (family.text)(*n).len() <= LENGTH;
        let sizes = (0..16).map(|k| family.first << k).take_while(fits);
        if let Some(number) = sizes.last() {
            search.look((family.text)(number), None);
        }
    }
    let begun = Instant::now();
    let goes_on = |tried: u64| match length {
        Length::Texts(most) => tried < most,
        Length::Seconds(most, _) => begun.elapsed() < Duration::from_secs(most),
    };
    while goes_on(search.tried) && search.died.is_none() {
        search.step();
    }
    search.tell()
}

impl Search {
    fn step(&mut self) {
        let random = &mut self.random;
        let kept = &self.best[random.below(self.best.len())];
        let pick = |random: &mut Random| {
            let at = random.below(kept.len().max(1)).min(random.below(KEPT));
            kept.get(at).and_then(|found| found.genome.as_ref())
        };
        let genome = match (pick(random), pick(random)) {
            (Some(one), Some(other)) if random.percent(95) => one.changed(other, random),
            _ => Genome::random(random),
        };
        if let Some(text) = genome.text(LENGTH) {
            self.look(text, Some(genome));
        }
    }

    /// Measures a text and keeps it if it is among the worst.
    fn look(&mut self, text: String, genome: Option<Genome>) {
        let mut costs = costs(&text, self.how, PATIENCE);
        self.tried += 1;
        if costs.died {
            self.died = Some((text, costs));
            return;
        }
        if let Some(end) = &costs.end {
            self.refused += 1;
            let known = ["exceed the budget", "machine code of more than"];
            let is_known = known.iter().any(|known| end.contains(known));
            let sort =
                |end: &str| -> String { end.chars().filter(|c| !c.is_ascii_digit()).collect() };
            if !is_known && self.odd.iter().all(|(other, _)| sort(other) != sort(end)) {
                self.odd.push((end.clone(), text.clone()));
            }
        }
        let worst = |search: &Self, costs: &Costs| {
            let mut measures = search.best.iter().zip(&search.measures);
            measures.any(|(best, (_, measure))| {
                let first = best.first();
                first.is_none_or(|first| measure(&text, costs) > first.value)
            })
        };
        if !self.how.exact && worst(self, &costs) {
            // Nobody knows what else the machine did meanwhile.
            for _ in 0..2 {
                let again = self::costs(&text, self.how, PATIENCE);
                if !again.died && again.time() < costs.time() {
                    costs = again;
                }
            }
        }
        if let Some(what) = self.too_much(&costs) {
            // At once, for there may be an hour to go.
            println!("{what}:\n{text}\n{costs}");
            self.bombs += 1;
        }
        for (best, (_, measure)) in self.best.iter_mut().zip(&self.measures) {
            let value = measure(&text, &costs);
            let at = best.partition_point(|found| found.value >= value);
            if at < KEPT && !best.iter().any(|found| found.text == text) {
                best.insert(
                    at,
                    Found {
                        value,
                        genome: genome.clone(),
                        text: text.clone(),
                        costs: costs.clone(),
                    },
                );
                best.truncate(KEPT);
            }
        }
    }

    /// What a text has more of than it may have.
    fn too_much(&self, costs: &Costs) -> Option<String> {
        if costs.bytes() > BYTES {
            Some(format!("more than {BYTES} bytes in use"))
        } else if allocations(costs) > ALLOCATIONS {
            Some(format!("more than {ALLOCATIONS} allocations"))
        } else {
            let most = self.time.filter(|most| costs.time() > *most)?;
            Some(format!(
                "more than {} ms of the processor",
                most / 1_000_000
            ))
        }
    }

    fn tell(&self) -> ExitCode {
        println!(
            "{} texts, {} refused, {} too much",
            self.tried, self.refused, self.bombs
        );
        for (best, (name, _)) in self.best.iter().zip(&self.measures) {
            let Some(found) = best.first() else { continue };
            println!("\n{:.3} {name}, {} bytes:", found.value, found.text.len());
            print!("{}\n{}", found.text, found.costs);
        }
        for (end, text) in &self.odd {
            println!("\nrefused: {end}\n{text}");
        }
        if let Some((text, costs)) = &self.died {
            println!("\n{}:\n{text}", costs.end.as_deref().unwrap_or_default());
        }
        match self.bombs == 0 && self.died.is_none() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }
}
