//! What the compiler must refuse: the borrows of calls, held by programs that do not compile.
//!
//! Every file of `borrows/` is a program. A line that ends in `//~ E0499` must be refused with that
//! error, and nothing else may be.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of a folder whose name ends so.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.retain(|path| path.extension() == Some(OsStr::new(extension)));
    paths.sort();
    paths
}

/// The library that this test is linked with: cargo has just seen to it that the newest is right.
fn library() -> PathBuf {
    let this = std::env::current_exe().expect("a path");
    let mut built = files(this.parent().expect("a folder"), "rlib");
    built.retain(|path| {
        let name = path.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| name.starts_with("librestride-"))
    });
    let changed = |path: &PathBuf| {
        path.metadata()
            .and_then(|data| data.modified())
            .expect("a time")
    };
    built.into_iter().max_by_key(changed).expect("the library")
}

/// Lines of a program and the errors there, from what rustc says of it.
fn refused(library: &Path, program: &Path) -> Vec<String> {
    let compiler = Path::new(env!("CARGO")).with_file_name("rustc");
    let out = Command::new(compiler)
        .args([
            "--edition=2024",
            "--crate-type=lib",
            "--emit=metadata",
            "--error-format=short",
        ])
        .arg(format!("--extern=restride={}", library.display()))
        .arg("-L")
        .arg(library.parent().expect("a folder"))
        .arg("--out-dir")
        .arg(env!("CARGO_TARGET_TMPDIR"))
        .arg(program)
        .output()
        .expect("rustc runs");
    let said = String::from_utf8_lossy(&out.stderr);
    let errors = said.lines().filter(|line| line.contains(": error"));
    // `path:line:column: error[code]: message`
    let place = |line: &str| {
        let rest = line.split_once(".rs:")?.1;
        let code = rest.split_once("error[")?.1.split(']').next()?;
        Some(format!("{}: {code}", rest.split(':').next()?))
    };
    let found: Vec<_> = errors
        .map(|line| place(line).unwrap_or_else(|| line.to_owned()))
        .collect();
    assert_eq!(out.status.success(), found.is_empty(), "{said}");
    found
}

#[test]
fn calls_hold_what_they_use() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/borrows");
    let programs = files(&folder, "rs");
    assert!(programs.len() >= 6, "{programs:?}");
    let library = library();
    for program in programs {
        let text = std::fs::read_to_string(&program).expect("a program");
        let marked = text.lines().enumerate().filter_map(|(at, line)| {
            let (_, code) = line.split_once("//~ ")?;
            Some(format!("{}: {code}", at + 1))
        });
        let expected: Vec<_> = marked.collect();
        assert_eq!(
            refused(&library, &program),
            expected,
            "{}",
            program.display()
        );
    }
}
