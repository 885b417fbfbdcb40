//! The patch applies, line by line, to the candle-core that this workspace builds with.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Where the source of the published crate lies.
fn source() -> Outcome<PathBuf> {
    let metadata = ["metadata", "--format-version", "1", "--locked", "--offline"];
    let output = Command::new(env!("CARGO")).args(metadata).output()?;
    let text = String::from_utf8(output.stdout)?;
    let paths = text.split("\"manifest_path\":\"").skip(1);
    let mut paths = paths.filter_map(|rest| rest.split('"').next());
    let found = paths.find(|path| path.contains("candle-core-"));
    let folder = found.and_then(|path| Path::new(path).parent());
    Ok(folder.ok_or("cargo knows no candle-core")?.to_path_buf())
}

/// One file with its part of a patch applied, where every line that the patch shows is as it says.
fn applied(old: &str, hunks: &str) -> Outcome<String> {
    let old: Vec<&str> = old.lines().collect();
    let (mut new, mut at) = (Vec::new(), 0);
    for hunk in hunks.split("\n@@ -").skip(1) {
        let mut lines = hunk.lines();
        let first = lines.next().and_then(|line| line.split([',', ' ']).next());
        let first: usize = first.ok_or("a hunk without a place")?.parse()?;
        new.extend(&old[at..first - 1]);
        at = first - 1;
        for line in lines {
            let (sign, text) = line.split_at(1);
            if sign != "+" {
                assert_eq!(old[at], text, "line {}", at + 1);
                at += 1;
            }
            if sign != "-" {
                new.push(text);
            }
        }
    }
    new.extend(&old[at..]);
    Ok(new.join("\n"))
}

#[test]
fn the_patch_applies_to_the_published_crate() -> Outcome<()> {
    let (source, patch) = (
        source()?,
        include_str!("../patches/candle-core-0.11.1.patch"),
    );
    let mut lines = 0;
    for file in patch.split("--- a/").skip(1) {
        let name = file.lines().next().ok_or("a file without a name")?;
        let old = std::fs::read_to_string(source.join(name))?;
        let new = applied(&old, file)?;
        lines += new.lines().count() - old.lines().count();
        assert!(new.contains("restride"), "{name}");
    }
    // What is to be carried from one version of candle to the next.
    assert!((20..40).contains(&lines), "{lines} lines");
    Ok(())
}
