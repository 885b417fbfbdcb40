//! What kernels that are compiled ahead of time come to: `ahead run` runs many more of them than the test does, and
//! `ahead count` counts the instructions that the workloads take under emulation, beside their sizes and what gcc's loops
//! take that copy as many bytes.
//!
//! ```sh
//! cargo run --release -p restride-tests --bin ahead -- run 10000     # random graphs, all golden cases, all workloads
//! cargo run --release -p restride-tests --bin ahead -- run 10000 aarch64       # on one machine
//! cargo run --release -p restride-tests --bin ahead -- count aarch64
//! cargo run --release -p restride-tests --bin ahead -- code aarch64 nhwc   # of workloads with that in their names
//! ```

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use restride::{Object, Options, Stages};
use restride_moves::Planner;
use restride_tests::ahead::Linked;
use restride_tests::ahead::cases::{Case, golden, random, workloads};
use restride_tests::ahead::machines::{MACHINES, Machine};

/// Counts instructions.
const PLUGIN: &str = include_str!("count.c");

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let folder = std::env::temp_dir().join(format!("ahead-{}", std::process::id()));
    let done = match words[..] {
        ["run", number] => run(number, &MACHINES, &folder),
        ["run", number, name] => named(name).and_then(|it| run(number, &[it], &folder)),
        ["count", name] => named(name).and_then(|it| count(&it, &folder)),
        ["code", name, part] => named(name).and_then(|it| code(&it, part, &folder)),
        _ => Err("`run N [MACHINE]`, `count MACHINE` or `code MACHINE PART`".into()),
    };
    let _ = fs::remove_dir_all(&folder);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn named(name: &str) -> Result<Machine, String> {
    let known = MACHINES.into_iter().find(|machine| machine.name == name);
    known.ok_or_else(|| format!("no machine `{name}`"))
}

fn run(number: &str, machines: &[Machine], folder: &Path) -> Result<(), String> {
    let count = number.parse().map_err(|_| "`run` wants how many graphs")?;
    let all = usize::MAX;
    let sources: [(&str, Vec<Case>); 3] = [
        ("random graphs", random(count)),
        (
            "golden cases",
            golden(1).map_err(|error| error.to_string())?,
        ),
        ("workloads", workloads("workloads.json", all)?),
    ];
    let mut failed = 0;
    for machine in machines {
        if let Some(what) = machine.missing() {
            println!("{}: not run: there is no {what}", machine.name);
            continue;
        }
        for (source, cases) in &sources {
            let begun = Instant::now();
            let linked = Linked::new(machine, cases, folder)?;
            let outcome = linked.run();
            let refused = cases.iter().filter(|case| case.is_refused()).count();
            println!(
                "{}: {} {source} ({refused} refused), {} bytes of object: {} in {:.0?}",
                machine.name,
                cases.len(),
                linked.object,
                outcome.as_ref().map_or("WRONG", |()| "right"),
                begun.elapsed(),
            );
            if let Err(error) = outcome {
                println!("{error}");
                failed += 1;
            }
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(format!("{failed} runs went wrong")),
    }
}

/// Prints the code of workloads whose names have this part.
fn code(machine: &Machine, part: &str, folder: &Path) -> Result<(), String> {
    let mut cases = workloads("workloads.json", usize::MAX)?;
    cases.retain(|case| case.name.contains(part));
    let linked = Linked::new(machine, &cases, folder)?;
    for (number, case) in cases.iter().enumerate() {
        println!("{}\n{}", case.name, linked.disassembly(number)?);
    }
    Ok(())
}

/// What one workload comes to.
struct Row {
    name: String,
    /// Instructions for each byte that is written.
    per_byte: f64,
    /// The same as it was estimated.
    estimated: f64,
    /// The same of gcc's loops that copy so many bytes, one at a time and as vectors.
    copied: [f64; 2],
    written: usize,
    code: usize,
    data: usize,
    time: Duration,
}

fn count(machine: &Machine, folder: &Path) -> Result<(), String> {
    let cases = workloads("workloads.json", usize::MAX)?;
    let linked = Linked::new(machine, &cases, folder)?;
    let executed = counted(&linked.places()?, folder, |options| {
        linked.run_with(options)
    })?;
    let copied = [false, true].map(|vectors| copied(machine, &cases, vectors, folder));
    let [bytes, vectors] = copied;
    let (bytes, vectors) = (bytes?, vectors?);
    let rows = cases.iter().zip(executed).enumerate();
    let rows = rows.map(|(at, (case, executed))| Row {
        name: case.name.clone(),
        // Each runs twice.
        per_byte: executed / 2.0 / case.written() as f64,
        estimated: estimated(machine, case) / case.written() as f64,
        copied: [bytes[at], vectors[at]].map(|it| it / case.written() as f64),
        written: case.written(),
        code: linked.sizes[at].0,
        data: linked.sizes[at].1,
        time: linked.times[at],
    });
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by(|a, b| b.per_byte.total_cmp(&a.per_byte));
    println!(
        "| workload | bytes written | instructions a byte | estimated | copied by bytes | by vectors | bytes of code | of constants | compiled in |"
    );
    println!("|---|-:|-:|-:|-:|-:|-:|-:|-:|");
    for row in &rows {
        println!(
            "| {} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {} | {} | {:.1?} |",
            row.name,
            row.written,
            row.per_byte,
            row.estimated,
            row.copied[0],
            row.copied[1],
            row.code,
            row.data,
            row.time
        );
    }
    let mean = |of: &dyn Fn(&Row) -> f64| {
        let logs: f64 = rows.iter().map(|row| of(row).ln()).sum();
        (logs / rows.len() as f64).exp()
    };
    let mut times: Vec<Duration> = rows.iter().map(|row| row.time).collect();
    times.sort();
    let code: usize = rows.iter().map(|row| row.code).sum();
    println!(
        "\n{} workloads: {:.3} instructions a byte (geometric mean; gcc's loops {:.3} by bytes, {:.3} by vectors), \
         {code} bytes of code, {} of object, compiled in {:.0?} (median; at most {:.1?})",
        rows.len(),
        mean(&|row| row.per_byte),
        mean(&|row| row.copied[0]),
        mean(&|row| row.copied[1]),
        linked.object,
        times[times.len() / 2],
        times[times.len() - 1]
    );
    let [counted, said] =
        [|row: &Row| row.per_byte, |row: &Row| row.estimated].map(|of| ranks(rows.iter().map(of)));
    let apart = rows.iter().map(|row| (row.estimated / row.per_byte, row));
    let worst = apart.max_by(|a, b| a.0.ln().abs().total_cmp(&b.0.ln().abs()));
    if let Some((times, row)) = worst {
        println!(
            "estimates: rank correlation {:.3}; the worst is {times:.2} times what was counted, {}",
            correlation(&counted, &said),
            row.name
        );
    }
    Ok(())
}

/// The instructions that a run of a program executes at each of these places.
fn counted(
    places: &[(u64, u64)],
    folder: &Path,
    run: impl FnOnce(&[String]) -> Result<(), String>,
) -> Result<Vec<f64>, String> {
    let [plugin, library, file, counts] =
        ["count.c", "count.so", "places", "counts"].map(|it| folder.join(it));
    let write = |path: &Path, text: &str| fs::write(path, text).map_err(|it| it.to_string());
    let lines = places.iter();
    let lines = lines.map(|(first, bytes)| format!("{first:x} {bytes:x}\n"));
    write(&file, &lines.collect::<String>())?;
    write(&plugin, PLUGIN)?;
    let mut gcc = Command::new("gcc");
    let gcc = gcc.args(["-O2", "-shared", "-fPIC", "-o"]);
    if !gcc
        .args([&library, &plugin])
        .status()
        .is_ok_and(|it| it.success())
    {
        return Err("the plugin cannot be compiled".into());
    }
    let option = format!(
        "{},places={},counts={}",
        library.display(),
        file.display(),
        counts.display()
    );
    run(&["-plugin".into(), option])?;
    let counts = fs::read_to_string(&counts).map_err(|error| error.to_string())?;
    let counts = counts.lines().map(|line| line.parse().unwrap_or(f64::NAN));
    Ok(counts.collect())
}

/// The instructions of gcc's loops that copy as many bytes as each case writes.
fn copied(
    machine: &Machine,
    cases: &[Case],
    vectors: bool,
    folder: &Path,
) -> Result<Vec<f64>, String> {
    let (mut functions, mut calls) = (String::new(), String::new());
    for (at, bytes) in cases.iter().map(Case::written).enumerate() {
        functions += &format!(
            "__attribute__((noipa)) void k{at}(char *restrict to, const char *restrict from)\n\
             {{ for (long i = 0; i < {bytes}; i++) to[i] = from[i]; }}\n"
        );
        calls += &format!("k{at}(to, from); ");
    }
    let most = cases.iter().map(Case::written).max().unwrap_or_default();
    let text = format!(
        "{functions}static char to[{most}], from[{most}];\nint main(void) {{ {calls}return 0; }}\n"
    );
    let [source, program] = ["copies.c", "copies"].map(|it| folder.join(it));
    fs::write(&source, text).map_err(|error| error.to_string())?;
    let mut gcc = Command::new(machine.gcc);
    gcc.args(["-static", "-fno-tree-loop-distribute-patterns"]);
    gcc.args(if vectors {
        ["-O3"].as_slice()
    } else {
        &["-O2", "-fno-tree-vectorize"]
    });
    if !gcc
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .status()
        .is_ok_and(|it| it.success())
    {
        return Err("the loops cannot be compiled".into());
    }
    let places = machine.places(&program, cases.len())?;
    counted(&places, folder, |options| {
        let status = machine.command(&program, options).status();
        match status.map_err(|error| error.to_string())?.success() {
            true => Ok(()),
            false => Err("the loops failed".into()),
        }
    })
}

/// About how many instructions a case takes, as `restride explain` says it.
fn estimated(machine: &Machine, case: &Case) -> f64 {
    let Ok(object) = Object::new(machine.triple, machine.level) else {
        return f64::NAN;
    };
    let mut options = Options::copying();
    options.target = object.target().clone();
    let stages = Stages::of(&case.graph, &options);
    let planner = Planner::new(object.target());
    stages.map_or(f64::NAN, |stages| {
        planner.instructions(&stages.kernel) as f64
    })
}

/// The place of each value among all, of equal ones their mean.
fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let rank = |value: &f64| {
        let below = values.iter().filter(|it| *it < value).count();
        let equal = values.iter().filter(|it| *it == value).count();
        below as f64 + equal as f64 / 2.0
    };
    values.iter().map(rank).collect()
}

/// How far two lists go up and down together, from -1 to 1.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let (of_a, of_b) = (mean(a), mean(b));
    let product = |f: &[f64], of_f: f64, g: &[f64], of_g: f64| {
        let terms = f.iter().zip(g).map(|(x, y)| (x - of_f) * (y - of_g));
        terms.sum::<f64>()
    };
    product(a, of_a, b, of_b) / (product(a, of_a, a, of_a) * product(b, of_b, b, of_b)).sqrt()
}
