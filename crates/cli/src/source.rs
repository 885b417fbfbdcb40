//! What a command works on: a file, standard input, or an expression on the command line. A text may
//! hold several programs.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use restride_text::{
    Cursor, Diagnostic, Diagnostics, MAX_TEXT, Source, TokenKind, comments, is_seen,
};

use crate::failure::Failure;

/// The help text of every argument that names an input.
pub(crate) const INPUT_HELP: &str = "A file (`file@name` is one of its programs), `-` for standard input, or an expression such as \
     'x: f32[4,6]; x[::-1].T' (see `restride help quick`)";

/// How programs begin, by their stage.
pub(crate) const STAGES: [&str; 3] = ["func", "canonical", "kernel"];

/// What could have been meant by nothing.
const HELP_OF_NOTHING: &str = "write a file, `-` for standard input, or an expression such as \
                               'x: f32[4,6]; x[::-1].T'";

/// A text and where it came from, or the part of it that is one program.
#[derive(Clone)]
pub(crate) struct Input {
    name: String,
    whole: Arc<str>,
    part: Range<usize>,
    /// The one of its programs that is meant.
    only: Option<String>,
}

impl Input {
    /// Reads what an argument stands for. One that names a file is that file; otherwise one that
    /// contains `;`, `[` or `:` is an expression.
    pub(crate) fn open(argument: &str) -> Result<Self, Failure> {
        if argument.trim().is_empty() {
            let message = format!(
                "`{}` names nothing: {}",
                printable(argument),
                HELP_OF_NOTHING
            );
            return Err(Failure::Usage(message));
        }
        if argument == "-" {
            let text = read(io::stdin().lock(), "<stdin>")?;
            return Ok(Self::named("<stdin>", text));
        }
        if !exists(argument) {
            if let Some((file, program)) = argument.rsplit_once('@')
                && exists(file)
            {
                let mut input = Self::open(file)?;
                input.only = Some(program.into());
                return Ok(input);
            }
            if argument.contains([';', '[', ':']) {
                return Ok(Self::named("<expression>", argument.into()));
            }
        }
        let name = printable(argument);
        let file = File::open(argument).map_err(Failure::of_file(argument))?;
        let text = read(file, &name)?;
        Ok(Self::named(&name, text))
    }

    /// A text that was made up under this name.
    pub(crate) fn named(name: &str, text: String) -> Self {
        Self {
            name: name.into(),
            part: 0..text.len(),
            whole: text.into(),
            only: None,
        }
    }

    /// The programs of the text that are meant, each by itself, at least one.
    pub(crate) fn programs(&self) -> Result<Vec<Input>, Failure> {
        let parts = parts(&self.whole);
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for name in parts.iter().filter_map(|(name, _)| *name) {
            *uses.entry(name).or_default() += 1;
        }
        let (mut names, mut all) = (Vec::new(), Vec::new());
        for (at, (name, part)) in parts.iter().enumerate() {
            // A name that several have names none.
            let own = name.filter(|name| uses.get(name) == Some(&1));
            let name = own.map_or_else(|| at.to_string(), str::to_owned);
            if self.only.as_ref().is_none_or(|only| *only == name) {
                all.push(Self {
                    part: part.clone(),
                    only: Some(name.clone()),
                    ..self.clone()
                });
            }
            names.push(name);
        }
        if all.is_empty() {
            let message = format!(
                "{} has no program `{}`; it has {}",
                self.name,
                printable(self.only.as_deref().unwrap_or("")),
                names.join(", ")
            );
            return Err(Failure::Usage(message));
        }
        Ok(all)
    }

    /// The one program of the text that is meant.
    pub(crate) fn program(&self) -> Result<Input, Failure> {
        let mut all = self.programs()?;
        if let (1, Some(one)) = (all.len(), all.pop()) {
            return Ok(one);
        }
        let message = format!(
            "{} has {} programs, and one is wanted: `{}` is the first",
            self.name,
            all.len() + 1,
            all.first().map_or_else(String::new, Input::title),
        );
        Err(Failure::Usage(message))
    }

    /// The comments before the program.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = &str> {
        let text = self.text();
        let begins = Cursor::new(text).map_or(0, |cursor| cursor.span().start);
        let before = comments(text).into_iter();
        before
            .take_while(move |comment| comment.start < begins)
            .filter_map(|at| text.get(at.start as usize..at.end as usize))
    }

    /// What names it among the programs of its text.
    pub(crate) fn title(&self) -> String {
        let only = self.only.as_deref().unwrap_or("0");
        format!("{}@{only}", self.name)
    }

    /// Where it came from.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        self.whole.get(self.part.clone()).unwrap_or("")
    }

    /// What is wrong with the text, as a failure of a command.
    pub(crate) fn wrong(&self, error: &Diagnostic) -> Failure {
        self.all_wrong(&Diagnostics::from(error.clone()))
    }

    /// The same for several.
    pub(crate) fn all_wrong(&self, errors: &Diagnostics) -> Failure {
        let errors = errors.clone().moved(self.part.start as u32);
        Failure::all(&errors, &Source::new(&self.name, &self.whole))
    }
}

/// Whether an argument names standard input or a file.
fn exists(argument: &str) -> bool {
    argument == "-" || Path::new(argument).exists()
}

/// The programs of a text, each with the comments before it and its name if it has one. What is no
/// sequence of programs is one part.
fn parts(text: &str) -> Vec<(Option<&str>, Range<usize>)> {
    let mut parts: Vec<(Option<&str>, Range<usize>)> = Vec::new();
    let Ok(mut cursor) = Cursor::new(text) else {
        return vec![(None, 0..text.len())];
    };
    let (mut start, mut depth, mut name) = (0, 0u32, None);
    let mut between = true;
    loop {
        let begins = STAGES.iter().any(|word| cursor.at_name(word));
        if between && !begins && !parts.is_empty() {
            break;
        }
        between = false;
        let Ok(token) = cursor.bump() else { break };
        match (token.kind, token.text) {
            (TokenKind::End, _) => break,
            (TokenKind::Symbol | TokenKind::String, word) if depth == 0 => name = Some(word),
            (TokenKind::Punct, "{") => depth += 1,
            (TokenKind::Punct, "}") => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let end = token.span.end as usize;
                    parts.push((name.take(), start..end));
                    (start, between) = (end, true);
                }
            }
            _ => {}
        }
    }
    match parts.last_mut() {
        // What begins no other program belongs to the last.
        Some((_, last)) if between => last.end = text.len(),
        _ => parts.push((name, start..text.len())),
    }
    parts
}

fn read(from: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let limit = MAX_TEXT as u64;
    from.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(Failure::of_file(name))?;
    if bytes.len() > MAX_TEXT {
        return Err(Failure::Input(format!(
            "{name}: more than {limit} bytes of text"
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let advice = match name.ends_with(".onnx") {
            true => "a model is read by `restride model` and `restride import`",
            false => "a file of data is read with `--input name=FILE`",
        };
        Failure::Input(format!("{name}: not valid UTF-8 at byte {at}; {advice}"))
    })
}

/// A name as a terminal may show it.
pub(crate) fn printable(name: &str) -> String {
    let mut shown = String::new();
    for c in name.chars().take(200) {
        match is_seen(c) {
            true => shown.push(c),
            false => shown.extend(c.escape_default()),
        }
    }
    shown
}
