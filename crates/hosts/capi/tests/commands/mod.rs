//! Commands of the system that tests call.

use std::process::Command;

/// Whether it is here.
pub fn has(program: &str) -> bool {
    let version = Command::new(program).arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// What a command says, which has to succeed.
pub fn succeeds(command: &mut Command) -> String {
    let output = command.output().expect("a command that can be started");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}\n{complained}");
    said
}
