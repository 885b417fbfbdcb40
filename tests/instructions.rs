//! Instructions per kernel, where `valgrind` is installed: a count does not depend on how busy a
//! machine is, so a kernel that got slower shows. `BLESS=1` writes new expectations.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// How far a count may be from its expectation, in percent: calls into libc differ a little.
const TOLERANCE: u64 = 3;

fn counts() -> Option<Vec<(String, u64)>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let profile = folder.join("instructions.callgrind");
    // Dumps are added to a profile that is there already.
    let _ = std::fs::remove_file(&profile);
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--collect-atstart=no",
            "--combine-dumps=yes",
        ])
        .args([
            "--toggle-collect=instructions::counted",
            "--dump-after=instructions::counted",
        ])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(env!("CARGO_BIN_EXE_instructions"))
        .output()
        .ok()?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let names = String::from_utf8_lossy(&output.stdout);
    let profile = std::fs::read_to_string(profile).ok()?;
    let totals: Vec<u64> = profile
        .lines()
        .filter_map(|line| line.strip_prefix("totals: "))
        .filter_map(|number| number.trim().parse().ok())
        .collect();
    // Two dumps a kernel: the first call, and the one that counts. The end of the run may add one.
    let counted = totals.iter().skip(1).step_by(2);
    let counts: Vec<_> = names
        .lines()
        .map(str::to_owned)
        .zip(counted.copied())
        .collect();
    assert_eq!(counts.len(), names.lines().count(), "{profile}");
    Some(counts)
}

#[test]
fn kernels_take_no_more_instructions_than_before() {
    let Some(counts) = counts() else {
        println!("valgrind is not installed: nothing was counted");
        return;
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions/expected.txt");
    if std::env::var_os("BLESS").is_some() {
        let mut text = String::new();
        for (name, count) in &counts {
            writeln!(text, "{name} {count}").unwrap();
        }
        std::fs::write(&path, text).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    let mut worse = Vec::new();
    for (name, count) in &counts {
        let line = expected
            .lines()
            .find_map(|line| line.strip_prefix(name.as_str())?.strip_prefix(' '));
        let before: u64 = line.unwrap_or("0").parse().unwrap();
        println!("{name}: {count}, expected {before}");
        if *count > before + before * TOLERANCE / 100 + 8 {
            worse.push(name);
        }
    }
    assert!(
        worse.is_empty(),
        "more instructions than expected: {worse:?}"
    );
}
