//! Keeps the house: what the project promises about its own files, as a test.
//!
//! Every check names what is wrong and where.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use restride_graph::OPERATORS;

/// Which crate may know which. An arrow that is not here is an error.
const ARROWS: [(&str, &[&str]); 20] = [
    ("budget", &[]),
    ("text", &[]),
    ("layout", &[]),
    ("graph", &["text"]),
    ("loops", &["text"]),
    ("partition", &[]),
    ("process", &[]),
    ("import", &["graph", "partition", "text"]),
    ("canon", &["budget", "graph", "layout", "text"]),
    ("moves", &["loops"]),
    ("leaves", &["loops", "moves"]),
    ("exec", &["leaves", "loops"]),
    (
        "lower",
        &["budget", "canon", "graph", "layout", "loops", "moves"],
    ),
    ("jit", &["leaves", "loops", "moves", "process"]),
    ("check", &["leaves", "loops"]),
    ("ahead", &["graph", "jit"]),
    (
        "restride",
        &[
            "ahead", "budget", "canon", "check", "exec", "graph", "jit", "leaves", "loops",
            "lower", "moves", "process",
        ],
    ),
    (
        "testkit",
        &[
            "budget", "text", "canon", "exec", "graph", "import", "layout", "loops", "lower",
            "jit", "leaves", "moves", "restride", "check",
        ],
    ),
    ("bench", &["graph", "moves", "restride", "testkit", "text"]),
    (
        "cli",
        &[
            "bench", "budget", "text", "canon", "exec", "graph", "import", "layout", "loops",
            "lower", "jit", "leaves", "moves", "restride", "check", "testkit",
        ],
    ),
];

/// The crates that have `unsafe` code: they touch raw memory. All others forbid it.
const UNSAFE: [&str; 6] = ["process", "moves", "leaves", "exec", "jit", "restride"];

/// The longest a source file may be.
const LINES: usize = 600;

/// Files that may be longer, each with its reason. One that need not be here is an error.
const LONGER: [(&str, &str); 1] = [(
    "crates/lower/tests/plan.rs",
    "the table of what composes and what breaks, with the helpers that all of it shares",
)];

/// The most lines of source that a crate may have, without tests, comments and blank lines. A crate that has shrunk
/// by a tenth gives up what it has gained.
const SOURCE: [(&str, usize); 20] = [
    ("ahead", 250),
    ("bench", 2500),
    ("budget", 150),
    ("canon", 5600),
    ("check", 5550),
    ("cli", 9026),
    ("exec", 1260),
    ("graph", 7420),
    ("import", 7900),
    ("jit", 3582),
    ("layout", 2800),
    ("leaves", 8178),
    ("loops", 4400),
    ("lower", 4531),
    ("moves", 6671),
    ("partition", 225),
    ("process", 200),
    ("restride", 4024),
    ("testkit", 4850),
    ("text", 690),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files under a folder, without what is built.
fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            if name != "target" && name != ".git" {
                files(&path, out);
            }
        } else {
            out.push(path);
        }
    }
}

/// The files of the project with one of these extensions, by path from the root.
fn project(extensions: &[&str]) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    files(&root(), &mut paths);
    let wanted = |path: &PathBuf| {
        path.extension()
            .is_some_and(|e| extensions.iter().any(|x| e == *x))
    };
    let named = |path: PathBuf| {
        let name = path.strip_prefix(root()).expect("a path under the root");
        (name.to_string_lossy().replace('\\', "/"), read(&path))
    };
    let found: Vec<_> = paths.into_iter().filter(wanted).map(named).collect();
    assert!(!found.is_empty());
    found
}

fn none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn every_file_says_why_it_is_there() {
    let mut wrong = Vec::new();
    for (name, text) in project(&["rs"]) {
        // A shebang or an attribute of the whole crate may come first.
        let first = text.lines().find(|line| !line.starts_with("#!"));
        if !first.is_some_and(|line| line.starts_with("//! ")) {
            wrong.push(format!("{name}: does not begin with `//!` and a reason"));
        }
    }
    none(&wrong);
}

#[test]
fn files_are_small() {
    let mut wrong = Vec::new();
    for (name, text) in project(&["rs"]) {
        let lines = text.lines().count();
        let excused = LONGER.iter().any(|(path, _)| *path == name);
        if lines > LINES && !excused {
            wrong.push(format!("{name}: {lines} lines, {LINES} are allowed"));
        }
        if lines <= LINES && excused {
            wrong.push(format!("{name}: is short enough, and need not be excused"));
        }
    }
    none(&wrong);
}

#[test]
fn crates_do_not_grow_by_themselves() {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for (name, text) in project(&["rs"]) {
        let parts: Vec<&str> = name.split('/').collect();
        let ["crates", krate, "src", inside @ ..] = &parts[..] else {
            continue;
        };
        if inside.contains(&"tests") || name.ends_with("tests.rs") {
            continue;
        }
        // Tests inside of a file are the last of it.
        let all: Vec<&str> = text.lines().collect();
        let tests = all.windows(2).position(|two| {
            two[0] == "#[cfg(test)]" && two[1].starts_with("mod ") && two[1].ends_with('{')
        });
        let source = all[..tests.unwrap_or(all.len())].iter();
        let source = source.map(|line| line.trim_start());
        let count = source.filter(|line| !line.is_empty() && !line.starts_with("//"));
        *lines.entry((*krate).to_owned()).or_default() += count.count();
    }
    let mut wrong = Vec::new();
    for (krate, most) in SOURCE {
        let found = lines.remove(krate).unwrap_or_default();
        if found > most || found < most * 9 / 10 {
            wrong.push(format!("crates/{krate}: {found} lines, {most} are allowed"));
        }
    }
    wrong.extend(
        lines
            .into_keys()
            .map(|krate| format!("crates/{krate}: has no bound")),
    );
    none(&wrong);
}

/// Type names that three crates or more have, each for something of its own, and that a reader meets in one of them at a
/// time: `Args` are the arguments of a command, `Op` and `Way` are always said with what they are of.
const OFTEN: [&str; 13] = [
    "Args", "Call", "Element", "Key", "Line", "Op", "Place", "Row", "RunError", "Stage", "Vector",
    "Way", "Windows",
];

#[test]
fn no_type_name_is_there_three_times() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, text) in project(&["rs"]) {
        let in_source = name.starts_with("crates/") && name.contains("/src/");
        if !in_source || name.starts_with("crates/hosts/") || name.ends_with("tests.rs") {
            continue;
        }
        // Tests inside of a file are the last of it.
        let text = text.split("#[cfg(test)]\nmod tests {").next();
        for line in text.unwrap_or_default().lines() {
            let mut words = line
                .split([' ', '(', ')', '<', ';', '{'])
                .filter(|w| !w.is_empty());
            let is_visible = |word: &&str| !["pub", "crate", "super"].contains(word);
            let (kind, of) = (words.by_ref().find(is_visible), words.next());
            let is_type = match kind {
                Some("struct" | "enum" | "trait") => true,
                Some("type") => !line.starts_with(' '),
                _ => false,
            };
            if let (true, Some(of)) = (is_type, of) {
                places.entry(of.to_owned()).or_default().push(name.clone());
            }
        }
    }
    assert!(places.len() > 500, "{}", places.len());
    let mut wrong = Vec::new();
    for (of, places) in places {
        if places.len() > 2 && !OFTEN.contains(&of.as_str()) {
            wrong.push(format!("{of}: {}", places.join(", ")));
        }
    }
    none(&wrong);
}

#[test]
fn arrows_point_one_way() {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.into_iter().collect();
    let mut wrong = Vec::new();
    let folders = fs::read_dir(root().join("crates")).expect("the crates");
    for folder in folders.map(|entry| entry.expect("an entry").path()) {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // A workspace of its own, which knows the facade alone.
        if name == "hosts" {
            continue;
        }
        let Some(arrows) = allowed.get(name.as_str()) else {
            wrong.push(format!("crates/{name}: is not in the table of arrows"));
            continue;
        };
        let mut section = "";
        let manifest = read(&folder.join("Cargo.toml"));
        for line in manifest.lines() {
            if line.starts_with('[') {
                section = line;
            }
            let package = line.split([' ', '.', '=']).next().unwrap_or_default();
            let known = package.strip_prefix("restride-").unwrap_or(package);
            let ours = allowed.contains_key(known) && package.starts_with("restride");
            if section == "[dependencies]" && ours && !arrows.contains(&known) {
                wrong.push(format!("crates/{name}: must not know {package}"));
            }
        }
    }
    none(&wrong);
}

#[test]
fn the_architecture_page_shows_the_same_arrows() {
    let page = read(&root().join("docs/ARCHITECTURE.md"));
    let mut wrong = Vec::new();
    for (name, _) in ARROWS {
        if !page.contains(&format!("`crates/{name}`")) {
            wrong.push(format!(
                "docs/ARCHITECTURE.md says nothing of crates/{name}"
            ));
        }
    }
    none(&wrong);
}

/// The files in the root of the project; any other is a stray.
const IN_THE_ROOT: [&str; 10] = [
    ".git", // a file where the checkout is one of several
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
];

#[test]
fn nothing_is_stray_at_the_root() {
    let entries = fs::read_dir(root()).expect("the root");
    let files = entries.map(|entry| entry.expect("an entry"));
    let files = files.filter(|entry| entry.path().is_file());
    let names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let stray = names.filter(|name| !IN_THE_ROOT.contains(&name.as_str()));
    none(&stray.collect::<Vec<_>>());
}

#[test]
fn every_crate_can_be_packaged() {
    let mut wrong = Vec::new();
    for (name, _) in ARROWS {
        let folder = root().join(format!("crates/{name}"));
        let manifest = read(&folder.join("Cargo.toml"));
        for key in ["description", "keywords", "categories", "readme", "license"] {
            if !manifest.lines().any(|line| line.starts_with(key)) {
                wrong.push(format!("crates/{name}/Cargo.toml: no {key}"));
            }
        }
        for text in ["LICENSE-MIT", "LICENSE-APACHE"] {
            if !folder.join(text).exists() {
                wrong.push(format!("crates/{name}: no {text}"));
            }
        }
    }
    // A file that is included from outside of its crate is not in the package.
    for (name, text) in project(&["rs"]) {
        let parts: Vec<&str> = name.split('/').collect();
        let ["crates", _, "src", inside @ ..] = &parts[..] else {
            continue;
        };
        if name.ends_with("/tests.rs") {
            continue;
        }
        let out = "../".repeat(inside.len() + 1);
        for line in text.lines().filter(|line| line.contains("include_")) {
            if line.contains(&format!("\"{out}")) && !line.contains("#[doc") {
                wrong.push(format!("{name}: {}", line.trim()));
            }
        }
    }
    none(&wrong);
}

#[test]
fn unsafe_code_is_where_it_is_said_to_be() {
    let mut wrong = Vec::new();
    for (name, _) in ARROWS {
        let library = root().join(format!("crates/{name}/src/lib.rs"));
        let main = root().join(format!("crates/{name}/src/main.rs"));
        let text = read(if library.exists() { &library } else { &main });
        let forbids =
            text.contains("#![forbid(unsafe_code)]") || text.contains("#![deny(unsafe_code)]");
        if forbids == UNSAFE.contains(&name) {
            wrong.push(format!("crates/{name}: forbids unsafe code: {forbids}"));
        }
    }
    none(&wrong);
}

/// All text of the files under a folder.
fn everything_in(folder: &str) -> String {
    let mut paths = Vec::new();
    files(&root().join(folder), &mut paths);
    assert!(!paths.is_empty(), "nothing in {folder}");
    let texts = paths
        .iter()
        .filter(|p| p.extension().is_some_and(|e| e == "rs" || e == "mv"));
    texts.map(|path| read(path)).collect()
}

/// That it is drawn is held by `tests/ladder.rs` and `tests/structured`, and that it has a type, a
/// meaning and a canonical form by the compiler.
#[test]
fn every_operator_is_described_and_tested() {
    let page = read(&root().join("docs/semantics.md"));
    let reference = read(&root().join("crates/graph/tests/files/reference.mv"));
    let mut wrong = Vec::new();
    let rows = OPERATORS.iter().map(|row| row.name);
    for name in rows.chain(["constant"]) {
        let canonical = format!("crates/canon/tests/files/{name}.mv");
        let statement = format!("= {name} ");
        let mut must = |there: bool, what: &str| {
            if !there {
                wrong.push(format!("{name}: {what}"));
            }
        };
        let mut sections = page.split("\n## ");
        let section = sections.find_map(|s| s.strip_prefix(&format!("{name}\n")));
        must(section.is_some(), "no section in docs/semantics.md");
        must(
            section.is_some_and(|s| s.contains(&statement)),
            "no example in its section of docs/semantics.md",
        );
        must(
            reference.contains(&statement),
            "no statement in crates/graph/tests/files/reference.mv",
        );
        must(
            root().join(&canonical).is_file()
                && read(&root().join(&canonical)).contains(&statement),
            &format!("no {canonical}"),
        );
    }
    none(&wrong);
}

#[test]
fn every_rule_has_its_file_and_its_test() {
    let rules = root().join("crates/canon/src/rules");
    let tests = root().join("crates/canon/tests/files");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(rules).expect("the rules") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if ["mod", "table"].contains(&&*name) {
            continue;
        }
        if !tests.join(format!("{name}.mv")).exists() {
            wrong.push(format!("rule {name}: no file test of its name"));
        }
    }
    none(&wrong);
}

#[test]
fn nothing_is_left_undone() {
    // Put together here, so that this file does not find itself.
    let words = [
        ["todo", "!("].concat(),
        ["unimple", "mented!("].concat(),
        ["#[ig", "nore"].concat(),
        ["TO", "DO"].concat(),
        ["FIX", "ME"].concat(),
    ];
    let mut wrong = Vec::new();
    for (name, text) in project(&["rs", "md", "toml", "sh"]) {
        for word in &words {
            if text.contains(word.as_str()) {
                wrong.push(format!("{name}: {word}"));
            }
        }
    }
    none(&wrong);
}

#[test]
fn crates_print_nothing_by_themselves() {
    let mut wrong = Vec::new();
    // Those to the other stream end alike.
    let macros = ["print!(", "println!("];
    // Programs that measure hosts write to where they are called.
    let of_a_crate = |name: &str| {
        let place = name.strip_prefix("crates/");
        place.is_some_and(|place| place.contains("/src/") && !place.starts_with("hosts/measure"))
    };
    for (name, text) in project(&["rs"]) {
        if !of_a_crate(&name) {
            continue;
        }
        let code = |line: &str| !line.trim_start().starts_with("//");
        let prints = |line: &str| code(line) && macros.iter().any(|it| line.contains(it));
        let lines = text.lines().zip(1..).filter(|(line, _)| prints(line));
        wrong.extend(lines.map(|(_, at)| format!("{name}:{at}: prints")));
    }
    none(&wrong);
}

#[test]
fn no_place_of_work_is_named() {
    let words = [
        ["/wo", "rk/"].concat(),
        ["/ho", "me/"].concat(),
        ["/ro", "ot/"].concat(),
        ["inst", "eadof"].concat(),
    ];
    let mut wrong = Vec::new();
    for (name, text) in project(&["rs", "md", "toml", "sh", "lock", "mv", "svg"]) {
        for word in &words {
            if text.contains(word.as_str()) {
                wrong.push(format!("{name}: {word}"));
            }
        }
        if name.ends_with(".lock") {
            let sources = text.lines().filter(|l| l.starts_with("source = "));
            for line in sources.filter(|l| !l.contains("github.com/rust-lang/crates.io-index")) {
                wrong.push(format!("{name}: {line}"));
            }
        }
    }
    none(&wrong);
}

#[test]
fn lines_end_where_they_end() {
    let mut wrong = Vec::new();
    for (name, text) in project(&["rs", "md", "toml", "sh"]) {
        for (at, line) in text.lines().enumerate() {
            if line.ends_with([' ', '\t']) {
                wrong.push(format!("{name}:{}: space at the end", at + 1));
            }
        }
        if !text.is_empty() && !text.ends_with('\n') {
            wrong.push(format!("{name}: no newline at the end"));
        }
    }
    none(&wrong);
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut wrong = Vec::new();
    for (name, text) in project(&["md"]) {
        let here = root().join(&name);
        let folder = here.parent().expect("a folder");
        // What stands in backticks is no link.
        let prose: String = text.split('`').step_by(2).collect();
        for target in prose.split("](").skip(1) {
            let target = target.split([')', '#']).next().unwrap_or_default();
            if target.is_empty() || target.contains("://") || target.contains(char::is_whitespace) {
                continue;
            }
            if !folder.join(target).exists() {
                wrong.push(format!("{name}: {target} is not there"));
            }
        }
        // What stands in backticks and looks like a path of the project is one; an example of an operator is not.
        for path in text.split('`').skip(1).step_by(2) {
            let is_path = path.starts_with("crates/") && !path.contains([' ', ':', '*', '{', '\n']);
            if is_path && !path.contains("swap_ends") && !root().join(path).exists() {
                wrong.push(format!("{name}: {path} is not there"));
            }
        }
    }
    none(&wrong);
}

#[test]
fn words_of_the_glossary_are_said_once_and_stand_for_something() {
    let page = read(&root().join("docs/glossary.md"));
    let mut wrong = Vec::new();
    let mut words = Vec::new();
    for entry in page.lines().filter(|line| line.starts_with("- ")) {
        // What is in bold: the word itself, and others that are explained along with it.
        words.extend(entry.split("**").skip(1).step_by(2).map(str::to_owned));
        // Names of types are in the code, under the crate that they are said to be of.
        for name in entry.split('`').skip(1).step_by(2) {
            let Some((krate, path)) = name.split_once("::") else {
                continue;
            };
            let folder = match krate.strip_prefix("restride_") {
                Some(short) => format!("crates/{short}/src"),
                None => format!("crates/{krate}/src"),
            };
            let last = path.rsplit("::").next().unwrap_or(path);
            let defined = ["struct", "enum"].iter().any(|kind| {
                everything_in(&folder)
                    .lines()
                    .any(|line| line.trim_start().starts_with(&format!("pub {kind} {last}")))
            });
            if !defined {
                wrong.push(format!("docs/glossary.md: {folder} has no {name}"));
            }
        }
    }
    assert!(words.len() > 30, "{words:?}");
    let mut sorted = words.clone();
    sorted.sort();
    for pair in sorted.windows(2).filter(|pair| pair[0] == pair[1]) {
        wrong.push(format!("docs/glossary.md: {} is said twice", pair[0]));
    }
    none(&wrong);
}
