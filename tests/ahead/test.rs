//! Kernels that were compiled ahead of time run as the oracle says, between pages that may not be touched: natively at
//! each level of an x86-64, and for other machines under emulation, where that is installed
//! (`tests/ahead/install.sh`). `RESTRIDE_AHEAD_TIMES=N` compiles N times as many random graphs.

use std::path::Path;

use restride::{Budget, Object};
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

/// A number for some bytes, by which two of them are told apart (FNV-1a).
fn digest(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The object and the header of some cases, and how large each function is.
fn made(machine: &Machine, cases: &[&Case]) -> (Vec<u8>, String, Vec<(usize, usize)>) {
    let object = Object::new(machine.triple, machine.level).expect("a machine");
    let mut object = object.within(Budget::UNLIMITED);
    for case in cases {
        let name = format!("k_{}", case.name);
        object.add(&name, &case.graph).expect("a function");
    }
    let bytes = object.bytes().expect("an object file");
    let sizes = object.functions().map(|(_, code, data)| (code, data));
    let sizes = sizes.collect();
    (bytes, object.header(), sizes)
}

/// `objects.txt` has what the objects of the fifty workloads are everywhere; `BLESS=1` writes it anew.
#[test]
fn the_same_bytes_are_made_everywhere() {
    let cases = workloads("workloads.json", usize::MAX).expect("workloads");
    let cases: Vec<&Case> = cases.iter().collect();
    let turned: Vec<&Case> = cases.iter().rev().copied().collect();
    let mut text = String::new();
    for machine in &MACHINES {
        let (bytes, header, sizes) = made(machine, &cases);
        let (again, same_header, _) = made(machine, &cases);
        assert_eq!(
            (&bytes, &header),
            (&again, &same_header),
            "{}",
            machine.name
        );
        // What was compiled before a function is not seen in it.
        let (.., mut others) = made(machine, &turned);
        others.reverse();
        assert_eq!(sizes, others, "{}", machine.name);
        let (object, header) = (digest(&bytes), digest(header.as_bytes()));
        let code: usize = sizes.iter().map(|(code, _)| code).sum();
        let line = format!(
            "{}: {object:016x} {header:016x}, {code} bytes of code",
            machine.name
        );
        text += &line;
        text += "\n";
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ahead/objects.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let known = std::fs::read_to_string(&path).expect("objects.txt");
    assert_eq!(known, text, "BLESS=1 accepts this");
}

fn outcome(machine: &Machine, cases: &[Case], folder: &Path) -> Result<(), String> {
    let linked = Linked::new(machine, cases, folder)?;
    linked.run()?;
    println!("{}: {} kernels ran", machine.name, cases.len());
    Ok(())
}
