//! The page of `restride report`: well-formed always, shown by a browser where there is one.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("restride-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn page(folder: &Path, program: &str, name: &str, more: &[&str]) -> (PathBuf, String) {
    let path = folder.join(format!("{name}.html"));
    let status = Command::new(env!("CARGO_BIN_EXE_restride"))
        .args(["report", program, "--no-times"])
        .args(more)
        .arg("-o")
        .arg(&path)
        .output()
        .expect("the command");
    assert!(status.status.success(), "{program}: {status:?}");
    let text = std::fs::read_to_string(&path).expect("the page");
    (path, text)
}

/// Every tag that is opened is closed, in order, and nothing is fetched.
fn check(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        let name = tag
            .trim_start_matches('/')
            .split([' ', '/', '\n'])
            .next()
            .expect("a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
        } else if !tag.ends_with('/') && !["!DOCTYPE", "meta"].contains(&name) {
            open.push(name);
        }
        assert!(name != "script", "a script");
        // A place on the page itself may be linked to.
        let tag = tag.replace("href=\"#", "");
        for attribute in ["src=", "href=", "onload", "url("] {
            assert!(!tag.contains(attribute), "{tag}");
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn pages_are_well_formed_and_complete() {
    let folder = folder("report");
    let hostile = "func @f(%x: u8[3]) {\n  %y = reverse %x axes [0] // <script>\n  return %y\n}\n";
    std::fs::write(folder.join("a&<b>.mv"), hostile).expect("written");
    let file = folder.join("a&<b>.mv");
    for (name, program) in [
        ("transpose", "x: f32[16,16]; x.T"),
        ("gather", "x: f32[8,4]; i: i32[5]; x[i], x[::-1]"),
        ("large", "x: f16[512,512]; x.T[::2]"),
        ("empty", "x: f32[0,3]; x.T"),
        ("scalar", "x: f64[2]; x[1]"),
        ("view", "x: f32[4,4]; x[1]"),
        ("hostile", file.to_str().expect("text")),
    ] {
        let (_, text) = page(&folder, program, name, &["--copy-views"]);
        check(&text);
        for id in [
            "stages",
            "views",
            "rewrites",
            "decisions",
            "memory",
            "lines",
            "code",
        ] {
            assert!(text.contains(&format!("<h2 id=\"{id}\">")), "{name}: {id}");
        }
        let buffers = text.matches("<svg").count();
        assert_eq!(buffers > 0, name != "empty", "{name}");
    }
    let (_, text) = page(&folder, "x: f32[4,4]; x.T", "small", &["--copy-views"]);
    // 16 cells on either side.
    assert_eq!(text.matches("<rect").count(), 32);
    assert_eq!(text.matches("fill=\"hsl(240 ").count(), 2);
    // What is a view is drawn where it lies.
    let (_, text) = page(&folder, "x: f32[4,4]; x.T", "transposed", &[]);
    check(&text);
    assert!(text.contains("output 0 is a view") && text.contains("--copy-views"));
    assert_eq!(text.matches("<rect").count(), 16);
    // A hole in a cell shows: every second element is read.
    let (_, text) = page(&folder, "x: u8[8192]; x[::2]", "holes", &["--copy-views"]);
    assert_eq!(text.matches("fill-opacity=\"0.50\"").count(), 2048);
    // All buffers have one scale: half as many elements are half as many cells.
    assert_eq!(text.matches("<rect").count(), 2048 + 1024);
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn pages_of_models_are_well_formed_and_complete() {
    let folder = folder("model");
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/files");
    let groups = [
        ("detector.onnx", 4),
        ("branches.onnx", 4),
        ("hidden.onnx", 2),
        ("layers.xml", 17),
    ];
    for (name, groups) in groups {
        let path = folder.join("page.html");
        let ran = Command::new(env!("CARGO_BIN_EXE_restride"))
            .args(["model", "--no-times", "--html"])
            .arg(&path)
            .arg(files.join(name))
            .output()
            .expect("the command");
        assert!(ran.status.success(), "{name}: {ran:?}");
        let text = std::fs::read_to_string(&path).expect("the page");
        check(&text);
        assert_eq!(text.matches("<details ").count(), groups, "{name}");
        // Every column leads to its group.
        for link in text.split("href=\"#").skip(1) {
            let id = link.split('"').next().expect("an end");
            assert!(
                text.contains(&format!("<details id=\"{id}\">")),
                "{name}: {id}"
            );
        }
        assert_eq!(
            text.contains("id=\"hidden\""),
            ["branches.onnx", "hidden.onnx"].contains(&name)
        );
        // Which groups are one program for every size, and why the others are not.
        let is_open = ["detector.onnx", "layers.xml"].contains(&name);
        assert_eq!(text.contains("<h2 id=\"sizes\">"), is_open, "{name}");
        if name == "detector.onnx" {
            let templates = text.matches("A template: one program for any batch.");
            assert_eq!(templates.count(), 3);
            assert!(text.contains("for batch 1 only: Concat"));
        }
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_browser_shows_it() {
    let version = Command::new("chromium").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no chromium");
        return;
    }
    let folder = folder("browser");
    let (path, text) = page(&folder, "x: f32[16,16]; x.T", "page", &["--copy-views"]);
    let shown = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(format!("file://{}", path.display()))
        .output()
        .expect("the browser");
    let dom = String::from_utf8_lossy(&shown.stdout);
    assert_eq!(dom.matches("<rect").count(), text.matches("<rect").count());
    assert!(dom.contains("<h2 id=\"code\">"));
    std::fs::remove_dir_all(&folder).expect("removed");
}
