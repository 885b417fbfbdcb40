//! Models of others, changed a little again and again: what reading them costs at worst.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use restride_import::{ImportError, ImportOptions, Model, onnx, openvino};
use restride_testkit::generate::Random;
use restride_testkit::mutate;

use crate::memory::{Spent, measured};

/// A file, and the weights beside it.
struct Seed {
    name: String,
    data: Vec<u8>,
    weights: Option<Vec<u8>>,
}

/// The worst of what was seen of a seed, and what made it.
#[derive(Default)]
struct Worst {
    read: u64,
    refused: u64,
    panics: u64,
    time: u64,
    bytes: u64,
}

/// Changes each file for so many seconds; fails if one panics.
pub(crate) fn run(seconds: u64, files: &[String]) -> std::io::Result<ExitCode> {
    let seeds = files.iter().map(|file| {
        let path = Path::new(file);
        Ok(Seed {
            name: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            data: std::fs::read(path)?,
            weights: match path.extension().is_some_and(|e| e == "xml") {
                true => std::fs::read(path.with_extension("bin")).ok(),
                false => None,
            },
        })
    });
    let seeds: Vec<Seed> = seeds.collect::<std::io::Result<_>>()?;
    std::panic::set_hook(Box::new(|_| {}));
    println!(
        "| file | bytes | as it is | changed | of them read | panics | longest | most memory |"
    );
    println!("|---|-:|-:|-:|-:|-:|-:|-:|");
    let mut panics = 0;
    for seed in &seeds {
        let (_, first) = measured(true, || read(seed, &seed.data));
        let mut random = Random::new(seed.data.len() as u64);
        let mut worst = Worst::default();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(seconds) {
            let data = changed(seed, &mut random);
            let (done, spent) = measured(false, || {
                catch_unwind(AssertUnwindSafe(|| read(seed, &data)))
            });
            worst.add(&done.map_err(|_| ()), spent);
        }
        panics += worst.panics;
        println!(
            "| {} | {} | {:.1} ms, {:.1} MB | {} | {} | {} | {:.1} ms | {:.1} MB |",
            seed.name,
            seed.data.len() + seed.weights.as_ref().map_or(0, Vec::len),
            first.time as f64 / 1e6,
            first.bytes as f64 / 1e6,
            worst.read + worst.refused + worst.panics,
            worst.read,
            worst.panics,
            worst.time as f64 / 1e6,
            worst.bytes as f64 / 1e6,
        );
    }
    Ok(ExitCode::from(u8::from(panics > 0)))
}

impl Worst {
    fn add(&mut self, done: &Result<bool, ()>, spent: Spent) {
        match done {
            Ok(true) => self.read += 1,
            Ok(false) => self.refused += 1,
            Err(()) => self.panics += 1,
        }
        self.time = self.time.max(spent.time);
        self.bytes = self.bytes.max(spent.bytes);
    }
}

/// Reads a model and makes all of its programs; whether it was read.
fn read(seed: &Seed, data: &[u8]) -> bool {
    let model: Result<Model, ImportError> = match seed.data.first() {
        Some(b'<') => match std::str::from_utf8(data) {
            Ok(text) => openvino(text, seed.weights.as_deref(), &ImportOptions::default()),
            Err(_) => return false,
        },
        _ => onnx(data, &ImportOptions::default()),
    };
    let Ok(model) = model else {
        return false;
    };
    for group in model.groups() {
        assert!(model.program(&group).is_ok());
    }
    true
}

/// A text is changed as any text is. In a binary file, lengths stand before what they count, and a
/// change that keeps them is read further.
fn changed(seed: &Seed, random: &mut Random) -> Vec<u8> {
    if seed.data.first() == Some(&b'<') || random.below(8) == 0 {
        return mutate(&seed.data, random);
    }
    let mut data = seed.data.clone();
    for _ in 0..1 + random.below(4) {
        let at = random.below(data.len());
        match random.below(5) {
            0 => data[at] = random.bits() as u8,
            1 => data[at] ^= 1 << random.below(8),
            2 => data[at] = random.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]),
            3 => {
                // Another part of the file over this one: names that are others' names.
                let length = random.below(12).min(data.len() - at);
                let from = random.below(data.len() - length + 1);
                data.copy_within(from..from + length, at);
            }
            _ => {
                // A number of eight bytes, such as a shape among weights.
                let number = random.pick(&[0i64, -1, 1, i64::MAX, i64::MIN, 1 << 31, 1 << 40]);
                let end = (at + 8).min(data.len());
                data[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
            }
        }
    }
    data
}
