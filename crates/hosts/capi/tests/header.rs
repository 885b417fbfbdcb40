//! The header that is kept by hand declares what the code defines, and nothing else.

use std::path::Path;

/// Text without comments.
fn without_comments(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = comment.split_once("*/").expect("the end of a comment").1;
    }
    plain + rest
}

/// The words of a text, parted by single spaces.
fn spaced(text: &str) -> String {
    let text = text
        .replace("(*", "( *")
        .replace('{', " { ")
        .replace('}', " } ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Declarations, structures and constants, each with its parts in one spelling.
fn items(text: &str) -> Vec<String> {
    let (constants, code): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('#'));
    let constants = constants.into_iter().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (define, name, value) = (words.next()?, words.next()?, words.next()?);
        let is_number = define == "#define" && name.starts_with("RESTRIDE_") && !name.contains('(');
        is_number.then(|| format!("{name} {}", value.trim_end_matches('u')))
    });
    let mut items: Vec<String> = constants.collect();
    let code = spaced(&code.join("\n"));
    let mut item = String::new();
    let mut depth = 0;
    for c in code.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        item.push(c);
        if c == ';' && depth == 0 {
            items.push(untagged(item.trim()));
            item.clear();
        }
    }
    items.sort();
    items
}

/// A structure without the name after its `struct`, which the code does not have.
fn untagged(item: &str) -> String {
    match item
        .strip_prefix("typedef struct ")
        .and_then(|rest| rest.split_once(" {"))
    {
        Some((_, fields)) => format!("typedef struct {{{fields}"),
        None => item.to_owned(),
    }
}

#[test]
fn the_header_is_what_the_code_defines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut builder = cbindgen::Builder::new()
        .with_config(cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("a config"));
    for file in [
        "constants",
        "failure",
        "config",
        "compile",
        "describe",
        "run",
    ] {
        builder = builder.with_src(folder.join(format!("src/{file}.rs")));
    }
    let mut made = Vec::new();
    builder.generate().expect("bindings").write(&mut made);
    let made = String::from_utf8(made).expect("text");
    let header = std::fs::read_to_string(folder.join("include/restride.h")).expect("the header");
    // What C++ needs around it, and comments, are the header's own.
    let declared = without_comments(&header);
    let start = declared
        .find("#define RESTRIDE_VERSION")
        .expect("the version");
    let end = declared.rfind("#ifdef __cplusplus").expect("the end");
    let (kept, made) = (items(&declared[start..end]), items(&made));
    let extra: Vec<_> = kept.iter().filter(|item| !made.contains(item)).collect();
    let missing: Vec<_> = made.iter().filter(|item| !kept.contains(item)).collect();
    assert!(
        extra.is_empty() && missing.is_empty(),
        "the header alone has {extra:#?}\nthe code alone has {missing:#?}"
    );
    assert!(kept.len() >= 80, "{}", kept.len());
}
