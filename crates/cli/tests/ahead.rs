//! The example of `docs/ahead-of-time.md` holds: its files and commands are those of the page, and print what stands there.
//!
//! `BLESS=1` writes what they print. Where there is no gcc, the test says so.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What stands between a fence of this mark and its end, after some place of the page: from where to where.
fn fence(page: &str, mark: &str, after: usize) -> (usize, usize) {
    let opening = format!("```{mark}\n");
    let found = page[after..].find(&opening);
    let begin = after + found.expect("a fence of this mark") + opening.len();
    let end = page[begin..].find("```").expect("an end of the fence");
    (begin, begin + end)
}

#[test]
fn the_example_links_and_runs() {
    let gcc = Command::new("gcc")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if !gcc.is_ok_and(|status| status.success()) {
        println!("not run: there is no gcc");
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ahead-of-time.md");
    let page = fs::read_to_string(&path).expect("the page");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ahead");
    fs::create_dir_all(&folder).expect("a folder");
    let mut after = page.find("## Three kernels").expect("the example");
    for (mark, name) in [("mv", "kernels.mv"), ("c", "main.c"), ("sh", "commands.sh")] {
        let (begin, end) = fence(&page, mark, after);
        fs::write(folder.join(name), &page[begin..end]).expect("written");
        after = end;
    }
    let restride = Path::new(env!("CARGO_BIN_EXE_restride"));
    let restride = restride.parent().expect("a folder").display();
    let path_variable = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-e", "commands.sh"])
        .current_dir(&folder)
        .env("PATH", format!("{restride}:{path_variable}"))
        .output()
        .expect("a shell");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let (begin, end) = fence(&page, "text", after);
    let printed = String::from_utf8_lossy(&output.stdout);
    if std::env::var_os("BLESS").is_some() && printed != page[begin..end] {
        let new = format!("{}{printed}{}", &page[..begin], &page[end..]);
        fs::write(&path, new).expect("written");
    } else {
        assert_eq!(page[begin..end], *printed);
    }
    fs::remove_dir_all(&folder).expect("removed");
}
