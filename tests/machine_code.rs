//! The machine code of every workload, followed to its end: it moves the right bytes, all of them,
//! and touches nothing else.
#![cfg(target_arch = "x86_64")]

use std::path::Path;

use restride::{Options, Stages};
use restride_check::{Limits, Report, Subject, check};
use restride_jit::{CompileOptions, Compiler};
use restride_loops::Verified;
use restride_testkit::workloads::{read, to_graph};

fn follow(compiler: &mut Compiler, kernel: &Verified) -> Result<Report, String> {
    let native = compiler.compile(kernel).map_err(|e| e.to_string())?;
    let phases: Vec<usize> = native.phase_offsets().collect();
    let subject = Subject {
        code: native.code(),
        phases: &phases,
        kernel,
        callees: native.callees(),
    };
    let mut limits = Limits::default();
    limits.steps = 1 << 30;
    limits.bytes = 1 << 28;
    check(&subject, &limits).map_err(|violation| violation.to_string())
}

/// Follows the workloads of a file, all of them.
fn workloads(file: &str, expected: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads");
    let text = std::fs::read_to_string(folder.join(file)).expect("a readable file");
    let mut options = CompileOptions::default();
    options.contracts = true;
    let mut compiler = Compiler::new(options).expect("this machine has a code generator");
    let (mut count, mut total, mut wrong) = (0, Report::default(), Vec::new());
    for workload in read(&text).expect("workloads") {
        let workload = workload.expect("a workload");
        let graph = to_graph(&workload).expect("a graph");
        let stages = Stages::of(&graph, &Options::copying()).expect("a kernel");
        match follow(&mut compiler, &stages.kernel) {
            Ok(report) => {
                count += 1;
                total.runs += report.runs;
                total.steps += report.steps;
                total.accesses += report.accesses;
                total.bytes += report.bytes;
                total.calls += report.calls;
            }
            Err(error) => wrong.push(format!("{}: {error}", workload.id)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{count} of {file}: {total:?}");
    assert_eq!(count, expected);
}

#[test]
fn the_fifty() {
    workloads("workloads.json", 50);
}

#[test]
fn the_others() {
    workloads("more.json", 43);
}

#[test]
fn those_that_were_posted() {
    workloads("posted.json", 6);
}
