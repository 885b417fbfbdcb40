//! Kernels in `tests/files`: each file is a text and, as comments below a rule, what becomes of
//! it. `BLESS=1` writes the expectations.
//!
//! Of a text that does not parse, the diagnostic; of one that is refused, why, and whether the
//! interpreter sees a fault as well, in the first or the last order of chunks; of the others, the outputs as hex for inputs whose bytes
//! count up from 1. A text that is not spelled as it is printed is printed too.

use std::fmt::Write as _;
use std::path::Path;

use restride_loops::{Kernel, Order, Role, interpret, interpret_chunked, verify};
use restride_text::Source;

const RULE: &str = "// ----\n";

fn outcome(name: &str, text: &str) -> String {
    let mut out = String::new();
    let kernel: Kernel = match text.parse() {
        Ok(kernel) => kernel,
        Err(diagnostic) => return diagnostic.render(&Source::new(name, text)),
    };
    let printed = kernel.to_string();
    assert_eq!(
        printed.parse().as_ref(),
        Ok(&kernel),
        "{name} does not survive printing"
    );
    if !text.ends_with(&printed) {
        out += &printed;
    }
    let mut inputs: Vec<Vec<u8>> = Vec::new();
    for buffer in &kernel.buffers {
        if let (Role::In(n), Some(bytes)) = (&buffer.role, buffer.bytes())
            && *n < 16
        {
            inputs.resize(inputs.len().max(*n as usize + 1), Vec::new());
            inputs[*n as usize] = (1..=bytes.min(1 << 20)).map(|b| b as u8).collect();
        }
    }
    let mut run = interpret(&kernel, &inputs);
    if run.is_ok() {
        // What goes wrong only in some order of chunks is wrong.
        run = run.and(interpret_chunked(&kernel, &inputs, 64, Order::Backward));
    }
    match verify(kernel) {
        Ok(_) => out += "verified\n",
        Err(rejected) => writeln!(out, "refused: {rejected}").unwrap(),
    }
    match run {
        Ok(outputs) => {
            for (number, bytes) in outputs.iter().enumerate() {
                let hex: String = bytes.iter().take(64).map(|b| format!("{b:02x}")).collect();
                writeln!(out, "output {number}: {hex}").unwrap();
            }
        }
        Err(fault) => writeln!(out, "fault: {fault}").unwrap(),
    }
    out
}

#[test]
fn files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let whole = std::fs::read_to_string(&path).unwrap();
        let (text, expected) = whole.split_once(RULE).unwrap_or((&whole, ""));
        let found: String = outcome(&name, text)
            .lines()
            .map(|line| format!("// {line}").trim_end().to_owned() + "\n")
            .collect();
        count += 1;
        if found != expected {
            if std::env::var_os("BLESS").is_some() {
                std::fs::write(&path, format!("{text}{RULE}{found}")).unwrap();
            } else {
                wrong.push(format!("{name}: expected\n{expected}found\n{found}"));
            }
        }
    }
    assert!(count > 40, "only {count} files");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
