//! Memory that is refused: executable memory by policy, any memory by limits.

use crate::children::{child, forbid, refuse_exec_gain};
use crate::support::{graph, iota, run};
use restride::{Code, Config, Engine, Graph, InputShape, Memory, Template};

fn turned(rows: u8, columns: u8) -> Graph {
    let text =
        format!("func @f(%x: u8[{rows}, {columns}]) {{ %y = transpose %x perm [1, 0] return %y }}");
    graph(&text).expect("a graph")
}

fn engine(memory: Memory, code: Code) -> Engine {
    Engine::new(Config {
        memory,
        code,
        copy_views: true,
        ..Config::default()
    })
}

/// Compiles and runs a few shapes; whether they became machine code. Either way they are right.
fn works(engine: &Engine) -> bool {
    for rows in 1..6 {
        let program = engine.compile(&turned(rows, 7)).expect("a program");
        let x = iota(7 * rows);
        let wanted: Vec<u8> = (0..7)
            .flat_map(|column| (0..rows).map(move |row| row * 7 + column))
            .collect();
        assert_eq!(run(&program, &[&x]), Ok(vec![wanted]));
    }
    let stats = engine.stats();
    // One row is a copy, which is a kernel all the same.
    assert_eq!(stats.compiled + stats.refused, 5, "{stats:?}");
    assert!(stats.compiled == 0 || stats.refused == 0, "{stats:?}");
    stats.compiled > 0
}

#[test]
fn memory_that_must_not_become_executable() {
    let worked = child(|| {
        if !refuse_exec_gain() {
            return;
        }
        // Two mappings of one file never change what they are allowed; a module does.
        assert!(works(&engine(Memory::Auto, Code::Native)));
        assert!(works(&engine(Memory::Arena, Code::Native)));
        assert!(!works(&engine(Memory::Module, Code::Native)));
    });
    assert!(worked);
}

#[test]
fn a_sandbox_without_memory_files() {
    let worked = child(|| {
        forbid(libc::SYS_memfd_create);
        assert!(!works(&engine(Memory::Arena, Code::Native)));
        assert!(works(&engine(Memory::Module, Code::Native)));
        assert!(
            works(&engine(Memory::Auto, Code::Native)),
            "falls back to modules"
        );
        if refuse_exec_gain() {
            assert!(
                !works(&engine(Memory::Auto, Code::Native)),
                "nothing is left"
            );
        }
    });
    assert!(worked);
}

#[test]
fn a_sandbox_without_barriers_or_protection() {
    for call in [
        libc::SYS_membarrier,
        libc::SYS_ftruncate,
        libc::SYS_mprotect,
    ] {
        let worked = child(move || {
            forbid(call);
            for memory in [Memory::Arena, Memory::Auto, Memory::Module] {
                works(&engine(memory, Code::Native));
            }
        });
        assert!(worked, "{call}");
    }
}

/// Memory runs out for the arena and for scratch, at one amount of it after the other.
#[test]
fn an_address_space_that_is_full() {
    // An intermediate result of 64 MiB.
    let text = "func @f(%x: u8[16], %i: i64[2]) {
        %a = broadcast %x shape [4194304, 16]
        %b = reshape %a shape [8192, 8192]
        %c = transpose %b perm [1, 0]
        %d = reshape %c shape [67108864]
        %y = gather %d, %i axis 0 out_of_range zero return %y }";
    let graph = graph(text).expect("a graph");
    for spare in (0..24).map(|n: usize| n << 18) {
        let worked = child(|| {
            // The heap is warm: what the compiler needs is there, mappings are not.
            let warm = engine(Memory::Auto, Code::Native);
            let kept: Vec<_> = (1..60u8).map(|n| warm.compile(&turned(n, 3))).collect();
            assert!(kept.iter().all(Result::is_ok));
            let scratch = engine(Memory::Auto, Code::Generic)
                .compile(&graph)
                .expect("a program");
            drop(kept);
            limit_address_space(spare);
            works(&engine(Memory::Auto, Code::Native));
            let i = crate::support::indices(&[1, 5]);
            match run(&scratch, &[&iota(16), &i]) {
                Ok(outputs) => assert_eq!(outputs.len(), 1),
                Err(error) => assert!(error.to_string().starts_with("no memory for "), "{error}"),
            }
            works(&engine(Memory::Auto, Code::Native));
        });
        assert!(worked, "{spare} bytes to spare");
    }
}

/// Code is overwritten with traps as soon as nobody can call it any more, and not before. In a
/// process of its own: what another test's child may have copied is left alone.
#[test]
fn freed_code_is_poisoned() {
    assert!(child(free_and_look));
}

fn free_and_look() {
    use std::os::unix::fs::FileExt as _;
    let engine = engine(Memory::Arena, Code::Native);
    let memory = std::fs::File::open("/proc/self/mem").expect("readable");
    let neighbour = engine.compile(&turned(5, 7)).expect("a program");
    let node = Template::new(turned(5, 6));
    let shape = [InputShape::dense(&[5, 6])];
    let program = engine.specialise(&node, &shape).expect("a program");
    let (code, at) = {
        let code = program.code().expect("machine code");
        (code.to_vec(), code.as_ptr() as u64)
    };
    let now = || {
        let mut now = vec![0; code.len()];
        memory.read_exact_at(&mut now, at).expect("mapped");
        now
    };
    let holder = program.clone();
    drop(program);
    engine.clear();
    assert_eq!(engine.stats().entries, 0);
    assert_eq!(now(), code, "somebody holds it");
    let x = iota(30);
    let wanted: Vec<u8> = (0..30).map(|at| at % 5 * 6 + at / 5).collect();
    assert_eq!(run(&holder, &[&x]), Ok(vec![wanted.clone()]));
    drop(holder);
    assert_eq!(now(), vec![0xcc; code.len()]);
    assert_eq!(engine.stats().entries, 0);
    // What was beside it runs on, and it can be made again.
    assert_eq!(run(&neighbour, &[&iota(35)]).map(|y| y[0][1]), Ok(7));
    let again = engine.specialise(&node, &shape).expect("a program");
    assert_eq!(run(&again, &[&x]), Ok(vec![wanted]));
}

/// Limits the address space of this process to what it has and so many bytes.
fn limit_address_space(spare: usize) {
    let status = std::fs::read_to_string("/proc/self/statm").expect("readable");
    let pages: usize = status
        .split(' ')
        .next()
        .and_then(|pages| pages.parse().ok())
        .expect("a number");
    let most = (pages * 4096 + spare) as libc::rlim_t;
    let limit = libc::rlimit {
        rlim_cur: most,
        rlim_max: most,
    };
    // SAFETY: a plain structure.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
    assert_eq!(set, 0);
}
