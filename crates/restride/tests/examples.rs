//! The programs of `examples/` run to their end; each asserts what it shows.
//!
//! `cargo test` builds them beside this test. A new one is picked up by its name.

use std::path::Path;
use std::process::Command;

#[test]
fn every_example_runs() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let this = std::env::current_exe().expect("the path of this test");
    // target/release/deps/this -> target/release/examples
    let built = this.ancestors().nth(2).expect("a target directory");
    let mut ran = 0;
    for entry in std::fs::read_dir(sources).expect("the folder of examples") {
        let source = entry.expect("an entry").path();
        let name = source.file_stem().expect("a name");
        let program = built
            .join("examples")
            .join(name)
            .with_extension(std::env::consts::EXE_EXTENSION);
        assert!(
            program.exists(),
            "{} is not built; `cargo test -p restride` builds all examples",
            program.display()
        );
        let output = Command::new(&program).output().expect("an example runs");
        println!(
            "== {}\n{}",
            name.display(),
            String::from_utf8_lossy(&output.stdout)
        );
        assert!(
            output.status.success(),
            "{}: {}",
            name.display(),
            String::from_utf8_lossy(&output.stderr)
        );
        ran += 1;
    }
    assert!(ran > 0);
}
