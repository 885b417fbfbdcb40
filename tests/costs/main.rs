//! `costs`: what compiling a text costs, stage by stage, and a search for texts that cost too much.
//!
//! ```text
//! costs file FILE...        what each stage takes for these texts
//! costs table [SECONDS]     families of texts, each five times as it doubles, with exponents
//! costs search              the worst texts of at most 10 kB among some hundreds that are the
//!                           same each time: by bytes and allocations, so that it says the same
//!                           on every machine. Fails if one takes more memory than a compile may
//! costs search SECONDS [SEED] [MILLISECONDS]
//!                           those found in so many seconds, by processor time as well; from a
//!                           seed of its own, if none is given. Fails above so many milliseconds
//! costs models SECONDS FILE...
//!                           models, each changed a little for so many seconds: what reading them
//!                           takes at worst; fails if one panics
//! ```
//!
//! A text is compiled in a child of its own, which is ended if it takes too long. Bytes are those
//! of the allocator. Processor time is that of a machine that may be busy: it is told, and is held
//! against a bound only where one is given.

mod child;
mod memory;
mod models;
mod search;
mod stages;
mod table;

use std::error::Error;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use restride::Budget;
use search::Length;
use stages::How;

/// How many texts the search of the gate looks at.
const TEXTS: u64 = 700;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| -> Result<u64, std::num::ParseIntError> {
        arguments.get(at).map_or(Ok(default), |n| n.parse())
    };
    match arguments.first().map(String::as_str) {
        Some("file") => {
            let how = How {
                budget: Budget::default(),
                again: true,
                exact: false,
            };
            for file in &arguments[1..] {
                let text = std::fs::read_to_string(file)?;
                println!("{file}, {} bytes", text.len());
                print!("{}", child::costs(&text, how, 60));
            }
            Ok(ExitCode::SUCCESS)
        }
        Some("table") => {
            table::print(number(1, 20)?);
            Ok(ExitCode::SUCCESS)
        }
        Some("search") => {
            let (length, seed) = match arguments.len() {
                1 => (Length::Texts(TEXTS), 1),
                _ => {
                    let milliseconds = arguments.get(3).map(|n| n.parse()).transpose()?;
                    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
                    let seed = number(2, now.as_secs())?;
                    (Length::Seconds(number(1, 60)?, milliseconds), seed)
                }
            };
            println!("seed {seed}");
            Ok(search::run(length, seed))
        }
        Some("models") => Ok(models::run(
            number(1, 10)?,
            arguments.get(2..).unwrap_or(&[]),
        )?),
        _ => {
            eprintln!(
                "costs file FILE... | table [SECONDS] | search [SECONDS] [SEED] [MILLISECONDS] | \
                 models SECONDS FILE..."
            );
            Ok(ExitCode::from(2))
        }
    }
}
