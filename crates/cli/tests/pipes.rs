//! Whoever reads the output may go away, and a device may be full: the first ends a command
//! quietly, the second is an error. Nothing panics.

use std::process::{Command, Output, Stdio};

/// Commands that print something, each in its own way.
const COMMANDS: [&[&str]; 15] = [
    &[
        "bench",
        "--filter",
        "tiny_box",
        "--rounds",
        "1",
        "--budget-ms",
        "1",
    ],
    &[
        "bench",
        "--candidates",
        "--filter",
        "tiny_box",
        "--rounds",
        "1",
        "--budget-ms",
        "1",
    ],
    &[
        "bench",
        "--sweep",
        "--filter",
        "axes of rank 2",
        "--budget-ms",
        "0.05",
    ],
    &[
        "bench",
        "x: f32[4,6]; x.T",
        "--copy-views",
        "--rounds",
        "1",
        "--budget-ms",
        "1",
    ],
    &[
        "bench",
        "--sweep",
        "--candidates",
        "--filter",
        "square of u8 8",
        "--rounds",
        "1",
        "--budget-ms",
        "0.05",
    ],
    &["bisect", "x: f32[4,6]; x.T"],
    &["check", "x: f32[4,6]; x.T"],
    &["compile", "x: f32[4,6]; x.T", "--copy-views"],
    &["completions", "bash"],
    &["conform", "nosuchfile.jsonl"],
    &["dot", "x: f32[4,6]; x.T"],
    &["explain", "x: f32[4,6]; x.T"],
    &["ladder", "--count", "3"],
    &["opt", "x: f32[4,6]; x.T"],
    &["run", "x: f32[4,6]; x.T"],
];

fn run(arguments: &[&str], stdout: Stdio) -> Output {
    let child = Command::new(env!("CARGO_BIN_EXE_restride"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn();
    child
        .expect("the command")
        .wait_with_output()
        .expect("its end")
}

#[test]
#[cfg(unix)]
fn a_closed_pipe_ends_a_command_quietly() {
    for arguments in COMMANDS {
        // The end that reads is closed before the command begins.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = run(arguments, writer.into());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
        assert_eq!(said, "", "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_an_error() {
    for arguments in COMMANDS {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let output = run(arguments, full.expect("the device").into());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(
            said.contains("standard output: No space left on device"),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_has_to_hear_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full");
    let status = Command::new(env!("CARGO_BIN_EXE_restride"))
        .args(["run", "x: f32[4]; x["])
        .stderr(full.expect("the device"))
        .status();
    assert_eq!(status.expect("the command").code(), Some(1));
}
