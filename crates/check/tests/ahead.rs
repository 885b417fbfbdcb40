//! Functions ahead of time, as objects have them: for an x86-64 at all its levels and for aarch64, whichever machine
//! this is. All are shown to be right, none with a buffer too short or with another constant.
//! `RESTRIDE_CHECK_TIMES=N` checks N times as many.

mod support {
    pub(crate) mod a64;
    pub(crate) mod changed;
    pub(crate) mod short;
    pub(crate) mod x86;
}

use restride_check::{CodeSubject, Kind, Limits, Processor, Report, Unproved, check};
use restride_jit::{Compiler, Features, Standalone, Triple};
use restride_loops::{Kernel, Role, Verified, generate, verify};

/// Each processor, and each level of the first.
fn machines() -> impl Iterator<Item = (Processor, Features)> {
    let levels = Features::ALL.into_iter();
    let levels = levels.map(|level| (Processor::X86, level));
    levels.chain([(Processor::A64, Features::Sse2)])
}

fn compiler((processor, level): (Processor, Features)) -> Compiler {
    let name = match processor {
        Processor::X86 => "x86_64-unknown-linux-gnu",
        _ => "aarch64-unknown-linux-gnu",
    };
    let triple: Triple = name.parse().expect("a triple");
    Compiler::for_machine(&triple, level).expect("a code generator")
}

fn followed(
    processor: Processor,
    kernel: &Verified,
    function: &Standalone,
    bytes: &[u8],
    limits: &Limits,
) -> Result<Report, Box<Unproved>> {
    let mut subject = CodeSubject::ahead(processor, kernel, function);
    subject.code = bytes;
    check(&subject, limits).map_err(Box::new)
}

#[test]
fn random_kernels_are_shown_to_be_right() {
    let times = std::env::var("RESTRIDE_CHECK_TIMES").ok();
    let times: u64 = times.and_then(|n| n.parse().ok()).unwrap_or(1);
    let (mut kernels, mut total) = (0, Report::default());
    for machine in machines() {
        let mut compiler = compiler(machine);
        for seed in 0..200 * times {
            let kernel = verify(generate::kernel(seed)).expect("generated kernels are valid");
            let function = compiler.standalone(&kernel).expect("code");
            let limits = Limits::default();
            let report = followed(machine.0, &kernel, &function, &function.bytes, &limits);
            let report =
                report.unwrap_or_else(|it| panic!("seed {seed}, {machine:?}: {it}\n{}", *kernel));
            kernels += 1;
            total += &report;
        }
    }
    println!("{kernels} kernels: {total:?}");
    assert!(total.accesses > 0 && total.bytes > 0 && total.calls == 0);
}

/// The scratch buffers that lie where another one has been or will be.
fn shared(kernel: &Kernel) -> Vec<usize> {
    let layout = kernel.scratch_layout(Standalone::ALIGN).expect("a layout");
    let place = |&(id, at): &(restride_loops::BufferId, usize)| {
        let bytes = kernel.buffer(id).and_then(|b| b.bytes()).expect("a length");
        (id.0 as usize, at..at + bytes)
    };
    let all: Vec<_> = layout.offsets.iter().map(place).collect();
    let alone = |id: usize, at: &std::ops::Range<usize>| {
        let mut others = all.iter().filter(|other| other.0 != id);
        others.all(|other| other.1.end <= at.start || at.end <= other.1.start)
    };
    let shared = all.iter().filter(|(id, at)| !alone(*id, at));
    shared.map(|(id, _)| *id).collect()
}

#[test]
fn a_buffer_too_short_is_noticed() {
    let (mut refused, mut spare) = (0, 0);
    for machine in machines() {
        let mut compiler = compiler(machine);
        for seed in 8_000_000..8_000_060 {
            let kernel = verify(generate::kernel(seed)).expect("generated kernels are valid");
            let function = compiler.standalone(&kernel).expect("code");
            let shared = shared(&kernel);
            let follow = |short| {
                let mut limits = Limits::default();
                limits.short = short;
                followed(machine.0, &kernel, &function, &function.bytes, &limits)
            };
            let (these, those) =
                support::short::too_short(&kernel, |at| shared.contains(&at), follow);
            (refused, spare) = (refused + these, spare + those);
        }
    }
    println!("{refused} refused, {spare} buffers with an element to spare");
    assert!(refused > 1000 && spare > 0, "{refused}, {spare}");
}

#[test]
fn changed_constants_are_noticed() {
    for machine in machines() {
        let mut compiler = compiler(machine);
        let mut counts = support::changed::Verdicts::default();
        let places = match machine.0 {
            Processor::X86 => support::x86::constants,
            _ => support::a64::constants,
        };
        for (_, kernel) in support::changed::small_kernels(9_000_000, 3000).take(15) {
            let function = compiler.standalone(&kernel).expect("code");
            let follow = |code: &[u8], limits: &Limits| {
                followed(machine.0, &kernel, &function, code, limits)
            };
            let mut bytes = function.bytes.clone();
            support::changed::change_all(&mut bytes, places, &mut counts, follow);
        }
        println!("{machine:?}: {counts:?}");
        counts.expect_refusals(20);
    }
}

#[test]
fn each_byte_of_a_constant_counts() {
    let mut changed = 0;
    for machine in machines() {
        let mut compiler = compiler(machine);
        for seed in 0..60 {
            let kernel = verify(generate::kernel(seed)).expect("generated kernels are valid");
            let function = compiler.standalone(&kernel).expect("code");
            for (id, at) in &function.constants {
                let buffer = kernel.buffer(*id).expect("a buffer");
                assert!(matches!(buffer.role, Role::Const(_)));
                for byte in *at..*at + buffer.bytes().expect("a length") {
                    let mut bytes = function.bytes.clone();
                    bytes[byte] ^= 1;
                    let limits = Limits::default();
                    let unproved = followed(machine.0, &kernel, &function, &bytes, &limits);
                    let unproved = unproved.expect_err("another constant");
                    let violation = unproved.violation().expect("a violation");
                    assert_eq!(*violation.kind, Kind::Constant { buffer: id.0 });
                    changed += 1;
                }
            }
        }
    }
    assert!(changed > 1000, "{changed}");
}

#[test]
fn scratch_is_what_a_caller_lends() {
    let mut refused = 0;
    for machine in machines() {
        let mut compiler = compiler(machine);
        for seed in 0..200 {
            let kernel = verify(generate::kernel(seed)).expect("generated kernels are valid");
            let mut function = compiler.standalone(&kernel).expect("code");
            let Some(less) = function.scratch.checked_sub(Standalone::ALIGN) else {
                continue;
            };
            function.scratch = less;
            let limits = Limits::default();
            let proved = followed(machine.0, &kernel, &function, &function.bytes, &limits);
            // Where an index is refused first, scratch is not reached.
            refused += u32::from(proved.is_err());
        }
    }
    assert!(refused > 100, "{refused}");
}
