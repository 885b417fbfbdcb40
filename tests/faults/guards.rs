//! Random graphs whose buffers fit exactly, against pages that cannot be touched, at every
//! alignment.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::guarded::{Against, Guarded};
use crate::support::BEFORE;
use restride::{Code, Config, Engine, Target, TensorMut, TensorRef, ViewPolicy};
use restride_graph::oracle;
use restride_testkit::generate::{Kind, case};

const SEED: u64 = 77;

/// The case that is being run, for when the process dies of it.
static CASE: AtomicU64 = AtomicU64::new(0);

extern "C" fn tell(signal: i32) {
    let mut line = *b"guards: memory outside of the buffers was touched in case 0000000\n";
    let mut number = CASE.load(Ordering::Relaxed);
    for digit in line.iter_mut().rev().skip(1).take(7) {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    // SAFETY: both calls are allowed in a handler; the access is tried again and ends the process.
    unsafe {
        libc::write(2, line.as_ptr().cast(), line.len());
        libc::signal(signal, libc::SIG_DFL);
    }
}

#[test]
fn random_graphs_stay_inside_of_their_buffers() {
    if !crate::children::alone() {
        return;
    }
    // SAFETY: the handler only writes and goes back to the default.
    unsafe { libc::signal(libc::SIGSEGV, tell as *const () as libc::sighandler_t) };
    let engine = |code, target| {
        Engine::new(Config {
            code,
            target,
            views: ViewPolicy::Copy,
            cache_entries: 64,
            ..Config::default()
        })
    };
    let engines = [
        engine(Code::Native, Target::default()),
        engine(Code::Native, Target::cramped()),
        engine(Code::Generic, Target::default()),
        engine(Code::Generic, Target::cramped()),
    ];
    let (mut ran, mut refused) = (0, 0);
    for number in 0..3_000u64 {
        CASE.store(number, Ordering::Relaxed);
        let case = case(SEED, number, Kind::of_number(number), 8);
        let graph = &case.graph;
        let wanted = oracle::eval(graph, &case.tensors().expect("inputs"));
        // Right behind and right before the pages at every distance, fitting exactly every other
        // time.
        let distance = (number / 4 % 16) as usize * (number / 2 % 2) as usize;
        let against = match number % 2 {
            0 => Against::Back(distance),
            _ => Against::Front(distance),
        };
        let inputs: Vec<Guarded> = (graph.inputs().iter().zip(case.buffers()))
            .map(|(&input, buffer)| {
                let ty = graph.ty(input);
                let bytes = ty.required_elements() * ty.element().width();
                Guarded::new(&buffer[..bytes], against, true)
            })
            .collect();
        for engine in &engines {
            let program = engine.compile(graph).expect("a program");
            let types: Vec<_> = graph
                .outputs()
                .iter()
                .map(|o| graph.output_type(o))
                .collect();
            let mut outputs: Vec<Guarded> = types
                .iter()
                .map(|ty| {
                    let bytes = ty.required_elements() * ty.element().width();
                    Guarded::new(&vec![BEFORE; bytes], against, false)
                })
                .collect();
            let done = {
                let inputs: Vec<_> = inputs
                    .iter()
                    .map(|i| TensorRef::from_bytes(i.bytes()))
                    .collect();
                let mut outputs: Vec<_> = outputs
                    .iter_mut()
                    .map(|o| TensorMut::from_bytes(o.bytes_mut()))
                    .collect();
                program.run(&inputs, &mut outputs)
            };
            assert!(
                outputs.iter().all(Guarded::is_intact),
                "case {number}\n{graph}"
            );
            match (&wanted, done) {
                (Ok(wanted), Ok(())) => {
                    for ((wanted, ty), found) in wanted.iter().zip(&types).zip(&outputs) {
                        let mut buffer = vec![BEFORE; found.bytes().len()];
                        wanted.write_into(ty, &mut buffer).expect("a long buffer");
                        assert_eq!(found.bytes(), buffer, "case {number}\n{graph}");
                    }
                    ran += 1;
                }
                (Err(_), Err(_)) => {
                    let untouched = |o: &Guarded| o.bytes().iter().all(|b| *b == BEFORE);
                    assert!(outputs.iter().all(untouched), "case {number}\n{graph}");
                    refused += 1;
                }
                (wanted, done) => panic!("case {number}: {wanted:?} {done:?}\n{graph}"),
            }
        }
    }
    println!("{ran} ran, {refused} refused");
    assert!(ran > 10_000 && refused > 50, "{ran} {refused}");
}

/// The pages do what the test above relies on.
#[test]
fn one_byte_outside_ends_a_process() {
    if !crate::children::alone() {
        return;
    }
    for (against, offset) in [(Against::Back(0), 40isize), (Against::Front(0), -1)] {
        let ended_well = crate::children::child(move || {
            let buffer = Guarded::new(&[1; 40], against, true);
            // SAFETY: it is not; that is the point.
            let byte = unsafe { buffer.bytes().as_ptr().offset(offset).read_volatile() };
            assert_eq!(byte, 1);
        });
        assert!(!ended_well);
    }
}
