//! Every file of `tests/cmd` is a session: commands after `$ `, and what they print.
//!
//! A file may hold several commands. What a command writes to standard output stands below it,
//! then each line of standard error after `! `, then `? N` if it exits with a code N that is not
//! 0. `| ` before a command pipes the output of the one before into it. A line that starts with
//! `#` outside of an output says why the session is there. Each session has an empty folder of its
//! own; `<<` makes a file in it, up to a line `>>`, and `<+` copies one of the repository into it. Numbers
//! that differ between runs and machines are written as `N` where a command line ends with `# numbers
//! vary`.
//!
//! The fences marked `console` of `README.md`, `docs/quick.md`, `docs/models.md` and `docs/onnxruntime.md` are sessions
//! too; they find some of the models of `crates/import` in their folder.
//!
//! `BLESS=1` writes the expectations anew.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One command with all that it printed.
struct Ran {
    stdout: Vec<u8>,
    shown: String,
}

#[test]
fn sessions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder of sessions")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "cli"))
        .collect();
    for page in [
        "docs/quick.md",
        "docs/models.md",
        "docs/onnxruntime.md",
        "README.md",
    ] {
        files.push(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../..")
                .join(page),
        );
    }
    files.sort();
    assert!(!files.is_empty());
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a session");
        let name = file.file_stem().expect("a name").to_string_lossy();
        let actual = match file.extension().is_some_and(|e| e == "md") {
            true => page(&name, &text),
            false => session(&name, &text, false),
        };
        if actual == text {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            fs::write(&file, &actual).expect("written");
        } else {
            wrong.push(format!("--- {name}\n{}", difference(&text, &actual)));
        }
    }
    assert!(
        wrong.is_empty(),
        "BLESS=1 accepts these:\n{}",
        wrong.join("\n")
    );
}

/// A page with what its sessions print.
fn page(name: &str, text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        if line == "```console" {
            let inside = lines.by_ref().take_while(|line| *line != "```");
            let inside: Vec<&str> = inside.collect();
            out += session(name, &inside.join("\n"), true).trim_end();
            out += "\n```\n";
        }
    }
    out
}

/// Runs a session and writes it down anew.
fn session(name: &str, text: &str, models: bool) -> String {
    let folder = std::env::temp_dir().join(format!("restride-cmd-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    if models {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/files");
        for file in [
            "detector.onnx",
            "patches.onnx",
            "hidden.onnx",
            "sequence.onnx",
        ] {
            fs::copy(from.join(file), folder.join(file)).expect("copied");
        }
    }
    let mut out = String::new();
    let mut last: Option<Ran> = None;
    let mut lines = text.lines().peekable();
    // Everything below a command up to the next one is its old expectation.
    let mut expecting = false;
    while let Some(line) = lines.next() {
        let piped = line.strip_prefix("| ");
        if let Some(file) = line.strip_prefix("<< ") {
            out += &format!("{line}\n");
            let mut content = String::new();
            for line in lines.by_ref() {
                out += &format!("{line}\n");
                if line == ">>" {
                    break;
                }
                content += &format!("{line}\n");
            }
            fs::write(folder.join(file), content).expect("written");
            expecting = false;
        } else if let Some(file) = line.strip_prefix("<+ ") {
            out += &format!("{line}\n");
            let from = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../..")
                .join(file);
            let name = from.file_name().expect("a name");
            fs::copy(&from, folder.join(name)).expect("copied");
            expecting = false;
        } else if let Some(command) = piped.or(line.strip_prefix("$ ")) {
            out += &format!("{line}\n");
            let input = piped.and(last.take()).map(|ran| ran.stdout);
            let ran = run(command, &folder, input.unwrap_or_default());
            // The output of a command that is piped on is not shown.
            let piped_on = lines
                .clone()
                .find(|l| !l.is_empty())
                .is_some_and(|l| l.starts_with("| "));
            if !piped_on {
                out += &ran.shown;
            }
            last = Some(ran);
            expecting = true;
        } else if is_remark(line) || !expecting {
            if is_remark(line) && expecting {
                out += "\n";
            }
            out += &format!("{line}\n");
            expecting = false;
        } else if line.is_empty() && lines.peek().is_some_and(|next| is_command(next)) {
            out += "\n";
        }
    }
    fs::remove_dir_all(&folder).expect("removed");
    out
}

/// What is printed may begin with a `#`, too, as C does.
fn is_remark(line: &str) -> bool {
    line == "#" || line.starts_with("# ")
}

fn is_command(line: &str) -> bool {
    ["$ ", "| ", "<< ", "<+ "]
        .iter()
        .any(|mark| line.starts_with(mark))
}

fn run(line: &str, folder: &Path, input: Vec<u8>) -> Ran {
    let (command, vary) = match line.strip_suffix("# numbers vary") {
        Some(command) => (command, true),
        None => (line, false),
    };
    let mut words = words(command).into_iter();
    assert_eq!(words.next().as_deref(), Some("restride"), "{line}");
    let mut child = Command::new(env!("CARGO_BIN_EXE_restride"))
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    let mut pipe = child.stdin.take().expect("a pipe");
    // A command that does not read its input closes the pipe.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&input)));
    let output = child.wait_with_output().expect("output");
    writer.join().expect("written");
    let stdout = String::from_utf8(output.stdout.clone()).expect("text");
    let stderr = String::from_utf8(output.stderr).expect("text");
    let mut shown = stdout;
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    for line in stderr.lines() {
        shown += format!("! {line}").trim_end();
        shown.push('\n');
    }
    if let Some(code @ 1..) = output.status.code() {
        shown += &format!("? {code}\n");
    }
    if vary {
        shown = without_numbers(&shown);
    }
    Ran {
        stdout: output.stdout,
        shown,
    }
}

/// The words of a command line; quotes keep what is between them together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c == ' ' => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars() {
        let number = c.is_ascii_digit() || inside && c == '.';
        match number {
            true if !inside => {
                // Columns are as wide as their numbers.
                let text = out.trim_end_matches(' ').len();
                out.truncate((text + 1).min(out.len()));
                out.push('N');
            }
            true => {}
            false => out.push(c),
        }
        inside = number;
    }
    for unit in ["ns", "us", "ms"] {
        out = out.replace(&format!("N {unit}"), "N s");
    }
    out
}

/// The first lines that are not as they were.
fn difference(expected: &str, actual: &str) -> String {
    let (mut left, mut right) = (expected.lines(), actual.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (left.next(), right.next()) {
            (None, None) => return "they differ in their last newline".into(),
            (a, b) if a == b => {}
            (a, b) => {
                let rest: Vec<&str> = right.take(12).collect();
                let (a, b) = (a.unwrap_or("(the end)"), b.unwrap_or("(the end)"));
                return format!("line {number}\n- {a}\n+ {b}\n  {}", rest.join("\n  "));
            }
        }
    }
}
