//! The suite in C, as a host would build it: with every compiler and standard that is here, warnings
//! being errors, linked with the shared library and with the static one; and in C++ with the wrapper.

use std::path::{Path, PathBuf};
use std::process::Command;

mod commands;

use commands::{has, succeeds};

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where the libraries are: beside the tests' own dependencies.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    let deps = test.parent().expect("its folder").to_owned();
    for name in ["librestride_capi.so", "librestride_capi.a"] {
        assert!(deps.join(name).exists(), "no {name} in {}", deps.display());
    }
    deps
}

/// What the static library needs of the system.
const SYSTEM: [&str; 5] = ["-lpthread", "-ldl", "-lm", "-lrt", "-lgcc_s"];

struct Build<'a> {
    compiler: &'a str,
    standard: &'a str,
    source: &'a str,
    flags: &'a [&'a str],
    is_static: bool,
}

impl Build<'_> {
    fn built(&self) -> PathBuf {
        let name = format!(
            "{}-{}-{}-{}{}",
            self.compiler,
            self.standard,
            self.source.replace(['/', '.'], "_"),
            if self.is_static { "static" } else { "shared" },
            self.flags.concat().replace(['-', '=', ',', '/'], "_"),
        );
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut command = Command::new(self.compiler);
        command
            .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-g"])
            .arg(format!("-std={}", self.standard))
            .args(self.flags)
            .arg("-I")
            .arg(folder().join("include"))
            .arg(folder().join(self.source))
            .arg("-o")
            .arg(&out);
        let libraries = libraries();
        if self.is_static {
            command
                .arg(libraries.join("librestride_capi.a"))
                .args(SYSTEM);
        } else {
            // Looked for there before anywhere that the environment says: an older one may be about.
            command
                .arg("-Wl,--disable-new-dtags")
                .arg("-L")
                .arg(&libraries)
                .arg("-lrestride_capi")
                .arg(format!("-Wl,-rpath,{}", libraries.display()))
                .arg("-lpthread");
        }
        succeeds(&mut command);
        out
    }

    fn runs(&self) {
        let said = succeeds(&mut Command::new(self.built()));
        assert!(said.ends_with("all passed\n"), "{said}");
    }
}

const SUITE: &str = "tests/c/suite.c";
const WRAPPER: &str = "tests/c/wrapper.cpp";

#[test]
fn the_suite_passes_with_every_compiler() {
    let mut tried = 0;
    for compiler in ["gcc", "clang", "cc"] {
        if !has(compiler) {
            println!("{compiler} is not here");
            continue;
        }
        for (standard, is_static) in [("c99", false), ("c17", true)] {
            tried += 1;
            Build {
                compiler,
                standard,
                source: SUITE,
                flags: &[],
                is_static,
            }
            .runs();
        }
    }
    assert!(tried > 0, "no C compiler");
}

#[test]
fn the_wrapper_passes_with_every_compiler() {
    for compiler in ["g++", "clang++"] {
        if !has(compiler) {
            println!("{compiler} is not here");
            continue;
        }
        for standard in ["c++17", "c++20"] {
            Build {
                compiler,
                standard,
                source: WRAPPER,
                flags: &[],
                is_static: false,
            }
            .runs();
        }
    }
}

/// The example for ggml, with a stand-in that has what it needs of ggml.
#[test]
fn the_example_for_ggml_copies_the_same() {
    for (compiler, sanitizers) in [("gcc", "-fsanitize=address,undefined"), ("clang", "-O2")] {
        if !has(compiler) {
            println!("{compiler} is not here");
            continue;
        }
        let stand_in = format!("-I{}", folder().join("tests/c/ggml").display());
        Build {
            compiler,
            standard: "c11",
            source: "examples/ggml_cont.c",
            // Not every clang has the sanitizers' libraries.
            flags: &[sanitizers, &stand_in],
            is_static: false,
        }
        .runs();
    }
}

/// Every function of the header is called by the suite.
#[test]
fn the_suite_calls_every_function() {
    let read = |name: &str| std::fs::read_to_string(folder().join(name)).expect(name);
    let (header, suite) = (read("include/restride.h"), read(SUITE));
    // Declarations begin in the first column, and comments with a star.
    let lines = header
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()));
    let declared: Vec<&str> = lines
        .filter(|line| !line.starts_with("typedef"))
        .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
        .filter(|name| name.starts_with("restride_"))
        .collect();
    assert!(declared.len() >= 26, "{declared:?}");
    for name in declared {
        assert!(suite.contains(&format!("{name}(")), "{name} is not called");
    }
}

#[test]
fn the_suite_has_no_errors_of_memory() {
    // The sanitizer looks at the C side; the other sees every load and store of both.
    let build = |flags| Build {
        compiler: "gcc",
        standard: "c99",
        source: SUITE,
        flags,
        is_static: false,
    };
    if !has("gcc") {
        println!("gcc is not here");
        return;
    }
    build(&["-fsanitize=address,undefined"]).runs();
    if !has("valgrind") {
        println!("valgrind is not here");
        return;
    }
    let said = succeeds(
        Command::new("valgrind")
            .args(["-q", "--error-exitcode=1", "--leak-check=full"])
            .args(["--errors-for-leak-kinds=definite"])
            .arg(build(&["-DGENERIC"]).built()),
    );
    assert!(said.ends_with("all passed\n"), "{said}");
}

/// What an adapter asks at every call: the program of these shapes, and the types of what it answers.
#[test]
fn a_program_is_found_and_described_in_few_instructions() {
    if !has("gcc") || !has("valgrind") {
        println!("gcc or valgrind is not here");
        return;
    }
    let calls = Build {
        compiler: "gcc",
        standard: "c99",
        source: "examples/call.c",
        flags: &[],
        is_static: true,
    }
    .built();
    let instructions = |times: &str| -> u64 {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        let output = command.arg(&calls).args([times, "describe"]).output();
        let said = output.expect("valgrind").stderr;
        let said = String::from_utf8_lossy(&said).into_owned();
        let collected = said.split_once("Collected : ").expect(&said).1;
        let number = collected.split_whitespace().next();
        number.and_then(|it| it.parse().ok()).expect(&said)
    };
    let each = (instructions("1100") - instructions("100")) / 1000;
    assert!(each < 1500, "{each} instructions");
}

#[test]
fn no_other_symbols_are_exported() {
    let nm = Command::new("nm")
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(libraries().join("librestride_capi.so"))
        .output();
    let Ok(nm) = nm else {
        println!("nm is not here");
        return;
    };
    let listed = String::from_utf8_lossy(&nm.stdout);
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let header = std::fs::read_to_string(folder().join("include/restride.h")).expect("the header");
    for name in &names {
        assert!(name.starts_with("restride_"), "{name} is exported");
        assert!(
            header.contains(&format!("{name}(")),
            "{name} is not declared"
        );
    }
    assert!(names.len() >= 24, "{names:?}");
}
