//! Memory that is refused: executable memory by policy, any memory by limits.

use crate::children::{Ending, child, ending, forbid, limit, refuse_exec_gain};
use crate::support::{graph, iota, run};
use restride::{Code, Config, Engine, Graph, Memory, ViewPolicy};
use std::io::Write as _;

fn turned(rows: u8, columns: u8) -> Graph {
    let text =
        format!("func @f(%x: u8[{rows}, {columns}]) {{ %y = transpose %x perm [1, 0] return %y }}");
    graph(&text).expect("a graph")
}

fn engine(memory: Memory, code: Code) -> Engine {
    Engine::new(Config {
        memory,
        code,
        views: ViewPolicy::Copy,
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
    if !crate::children::alone() {
        return;
    }
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
    if !crate::children::alone() {
        return;
    }
    let worked = child(|| {
        forbid(libc::SYS_memfd_create, libc::EPERM);
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

/// Every system call there is, refused in either way that sandboxes have, but the few by which a
/// child ends. What is refused decides what runs, and never whether it is right.
#[test]
fn a_sandbox_without_some_system_call() {
    if !crate::children::alone() {
        return;
    }
    let ends = [libc::SYS_exit_group, libc::SYS_write];
    let mut native = 0;
    for call in (0..470).filter(|call| !ends.contains(call)) {
        for errno in [libc::EPERM, libc::ENOSYS] {
            let (ending, said) = ending(move || {
                // The heap is warm: the compiler's own small allocations find their memory.
                let warm = [Memory::Auto, Memory::Module].map(|it| engine(it, Code::Native));
                assert!(warm.iter().all(works));
                forbid(call, errno);
                let all = [Memory::Arena, Memory::Auto, Memory::Module];
                let worked = all.map(|memory| works(&engine(memory, Code::Native)));
                // What one memory is refused for, another may do.
                assert_eq!(worked[1], worked[0] || worked[2], "{worked:?}");
                if worked == [true; 3] {
                    let said = std::io::stderr().write_all(b"native");
                    assert!(said.is_ok());
                }
            });
            assert_eq!(ending, Ending::Well, "call {call}, errno {errno}: {said}");
            native += usize::from(said == "native");
        }
    }
    println!("{native} of 936 refusals change nothing");
    assert!((900..936).contains(&native), "{native}");
}

/// A limit on the size of files does not end the process, as writing a longer one would.
#[test]
fn files_of_limited_size() {
    if !crate::children::alone() {
        return;
    }
    for most in [0, 1, 4095, 4096, 1 << 20] {
        let worked = child(move || {
            limit(libc::RLIMIT_FSIZE, most);
            assert_eq!(works(&engine(Memory::Arena, Code::Native)), most >= 4096);
            assert!(works(&engine(Memory::Module, Code::Native)));
            assert!(works(&engine(Memory::Auto, Code::Native)));
            if refuse_exec_gain() {
                assert_eq!(works(&engine(Memory::Auto, Code::Native)), most >= 4096);
            }
        });
        assert!(worked, "{most}");
    }
}

#[test]
fn no_file_can_be_opened() {
    if !crate::children::alone() {
        return;
    }
    let worked = child(|| {
        limit(libc::RLIMIT_NOFILE, 3);
        assert!(!works(&engine(Memory::Arena, Code::Native)));
        assert!(works(&engine(Memory::Module, Code::Native)));
        assert!(works(&engine(Memory::Auto, Code::Native)));
    });
    assert!(worked);
}

#[test]
fn no_thread_can_be_started() {
    if !crate::children::alone() {
        return;
    }
    let worked = child(|| {
        forbid(libc::SYS_clone, libc::EPERM);
        forbid(libc::SYS_clone3, libc::EPERM);
        let engine = engine(Memory::Auto, Code::Background);
        let program = engine.compile(&turned(3, 7)).expect("a program");
        assert_eq!(run(&program, &[&iota(21)]).map(|y| y[0][1]), Ok(7));
        assert!(!program.summary().native);
    });
    assert!(worked);
}

/// Memory runs out for the arena and for scratch, at one amount of it after the other.
#[test]
fn an_address_space_that_is_full() {
    if !crate::children::alone() {
        return;
    }
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
            crate::children::limit_address_space(spare);
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

/// Code is unmapped when nobody can call it any more, and not before. In a process of its own: no
/// other test maps anything where it was.
#[test]
fn freed_code_is_unmapped() {
    if !crate::children::alone() {
        return;
    }
    assert!(child(free_and_look));
}

fn free_and_look() {
    use std::os::unix::fs::FileExt as _;
    let engine = engine(Memory::Arena, Code::Native);
    let memory = std::fs::File::open("/proc/self/mem").expect("readable");
    let program = engine.compile(&turned(5, 6)).expect("a program");
    let neighbour = engine.compile(&turned(5, 7)).expect("a program");
    let (code, at) = {
        let code = program.code().expect("machine code");
        (code.to_vec(), code.as_ptr() as u64)
    };
    let mut now = vec![0; code.len()];
    let holder = program.clone();
    drop(program);
    drop(engine);
    assert!(memory.read_exact_at(&mut now, at).is_ok());
    assert_eq!(now, code, "somebody holds it");
    let wanted: Vec<u8> = (0..30).map(|at| at % 5 * 6 + at / 5).collect();
    assert_eq!(run(&holder, &[&iota(30)]), Ok(vec![wanted]));
    drop(holder);
    assert_eq!(run(&neighbour, &[&iota(35)]).map(|y| y[0][1]), Ok(7));
    drop(neighbour);
    assert!(memory.read_exact_at(&mut now, at).is_err());
}
