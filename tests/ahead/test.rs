//! Kernels that were compiled ahead of time run as the oracle says, between pages that may not be touched: natively at
//! each level of an x86-64, and for other machines under emulation, where that is installed
//! (`tests/ahead/install.sh`). `RESTRIDE_AHEAD_TIMES=N` compiles N times as many random graphs.

use std::path::Path;

use restride_tests::ahead::Linked;
use restride_tests::ahead::cases::{Case, golden, random, workloads};
use restride_tests::ahead::machines::{MACHINES, Machine};

fn times() -> u64 {
    let times = std::env::var("RESTRIDE_AHEAD_TIMES").ok();
    times.and_then(|it| it.parse().ok()).unwrap_or(1)
}

/// Random graphs, golden cases and small workloads.
fn cases() -> Vec<Case> {
    let mut cases = random(300 * times());
    assert!(cases.iter().any(Case::is_refused));
    cases.extend(golden(8).expect("golden cases"));
    for file in ["workloads.json", "more.json", "blocked.json", "posted.json"] {
        cases.extend(workloads(file, 200_000).expect("workloads"));
    }
    assert!(cases.len() > 400, "{}", cases.len());
    cases
}

#[test]
fn kernels_run_as_the_oracle_says() {
    let cases = cases();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ahead");
    let mut wrong = Vec::new();
    for machine in &MACHINES {
        match machine.missing() {
            Some(what) => println!("{}: not run: there is no {what}", machine.name),
            None => wrong.extend(outcome(machine, &cases, &folder).err()),
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn outcome(machine: &Machine, cases: &[Case], folder: &Path) -> Result<(), String> {
    let linked = Linked::new(machine, cases, folder)?;
    linked.run()?;
    println!("{}: {} kernels ran", machine.name, cases.len());
    Ok(())
}
