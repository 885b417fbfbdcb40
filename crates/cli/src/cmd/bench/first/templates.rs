//! Programs with variables in place of sizes: read, and written out for one value after the other.

use restride_text::MAX_TEXT;

use crate::failure::Failure;
use crate::source::printable;

/// A variable and the values that it takes, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    name: String,
    first: i64,
    end: i64,
    step: i64,
}

/// A program of which some sizes vary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Varied {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) variables: Vec<Variable>,
}

/// More programs than this are not written out for one template.
const MOST_VALUES: i64 = 100_000;

impl Variable {
    /// Reads `s=17..517` or `s=16..512:16`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let read = || {
            let (name, values) = text.split_once('=')?;
            let (first, rest) = values.split_once("..")?;
            let (end, step) = rest.split_once(':').unwrap_or((rest, "1"));
            let number = |text: &str| text.trim().parse::<i64>().ok();
            Some(Self {
                name: name.trim().to_owned(),
                first: number(first)?,
                end: number(end)?,
                step: number(step)?,
            })
        };
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(is_word)
        };
        match read() {
            Some(it) if is_name(&it.name) && it.first >= 0 && it.step > 0 && it.end > it.first => {
                Ok(it)
            }
            Some(_) | None => Err("say it like s=17..517 or s=16..512:16".into()),
        }
    }

    fn count(&self) -> i64 {
        let count = self
            .end
            .saturating_sub(self.first)
            .saturating_add(self.step - 1)
            / self.step;
        count.min(MOST_VALUES)
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl Varied {
    /// How many values there are.
    pub(super) fn count(&self) -> usize {
        let counts = self.variables.iter().map(Variable::count);
        usize::try_from(counts.min().unwrap_or(1)).unwrap_or(0)
    }

    /// The types of the inputs, and what stands after them.
    fn parts(&self) -> (&str, &str) {
        let types = self.text.find([';', '{']).unwrap_or(self.text.len());
        self.text.split_at(types)
    }

    /// A variable that no input has.
    pub(super) fn absent(&self) -> Option<&str> {
        let (types, _) = self.parts();
        let has = |name: &str| types.split(|c| !is_word(c)).any(|word| word == name);
        let mut names = self.variables.iter().map(|it| it.name.as_str());
        names.find(|name| !has(name))
    }

    /// The program with the n-th values in the types of its inputs.
    pub(super) fn at(&self, n: usize) -> String {
        let (types, rest) = self.parts();
        let mut out = String::with_capacity(self.text.len() + 16);
        let mut left = types;
        while !left.is_empty() {
            let word = left.find(|c| !is_word(c)).unwrap_or(left.len());
            let (word, after) = left.split_at(word);
            match self.variables.iter().find(|it| it.name == word) {
                Some(it) => out.push_str(&(it.first + it.step * n as i64).to_string()),
                None => out.push_str(word),
            }
            let other = after.find(is_word).unwrap_or(after.len());
            let (other, after) = after.split_at(other);
            out.push_str(other);
            left = after;
        }
        out.push_str(rest);
        out
    }
}

/// Reads a file of templates.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<Varied>, Failure> {
    let wrong = |line: usize, what: String| Failure::Input(format!("{name}:{line}: {what}"));
    let mut all: Vec<Varied> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        if !line.starts_with(' ') {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default().to_owned();
            let variables = words.map(Variable::parse).collect::<Result<_, _>>();
            all.push(Varied {
                name,
                text: String::new(),
                variables: variables.map_err(|what| wrong(number, what))?,
            });
            continue;
        }
        match all.last_mut() {
            Some(last) => {
                last.text.push_str(line.trim());
                last.text.push('\n');
            }
            None => return Err(wrong(number, "a program has a name before it".into())),
        }
    }
    match all.iter().find(|it| it.text.is_empty()) {
        Some(it) => Err(wrong(0, format!("{} has no program", printable(&it.name)))),
        None => Ok(all),
    }
}

/// Whether a text is a file of templates: its first line names one.
pub(super) fn is_file(text: &str) -> bool {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let first = lines.map(str::trim_end).find(|line| !line.is_empty());
    text.len() <= MAX_TEXT
        && first.is_some_and(|line| {
            let mut words = line.split_whitespace().skip(1).peekable();
            words.peek().is_some() && words.all(|word| Variable::parse(word).is_ok())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varied(text: &str, variables: &[&str]) -> Varied {
        let variables = variables.iter().map(|text| Variable::parse(text));
        Varied {
            name: "t".into(),
            text: text.into(),
            variables: variables.collect::<Result<_, _>>().expect("variables"),
        }
    }

    #[test]
    fn values_stand_in_types_and_nowhere_else() {
        let it = varied("x: f32[1,s,ss], s1: i64[s]; x[:s]", &["s=3..9:2"]);
        assert_eq!(it.count(), 3);
        assert_eq!(it.at(0), "x: f32[1,3,ss], s1: i64[3]; x[:s]");
        assert_eq!(it.at(2), "x: f32[1,7,ss], s1: i64[7]; x[:s]");
    }

    #[test]
    fn variables_go_together_as_long_as_all_have_values() {
        let it = varied("x: u8[h, w]; x.T", &["h=1..5", "w=10..13"]);
        assert_eq!(it.count(), 3);
        assert_eq!(it.at(2), "x: u8[3, 12]; x.T");
    }

    #[test]
    fn what_is_no_variable_is_refused() {
        for text in [
            "", "s", "s=", "s=3", "s=3..", "s=5..5", "s=9..3", "s=1..9:0", "1=2..3", "s=-1..3",
        ] {
            assert!(Variable::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn files_have_programs_under_names() {
        let text = "# first\n\na  s=1..3\n  x: u8[s];\n  x\nb h=1..3 w=2..4\n  x: u8[h,w]; x.T\n";
        assert!(is_file(text));
        assert!(!is_file("x: u8[3]; x"));
        let all = read("file", text).expect("a file");
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].at(1), "x: u8[2];\nx\n");
        assert_eq!(all[1].name, "b");
        assert!(read("file", "a s=1..3\n").is_err());
        assert!(read("file", "  x: u8[3]; x\n").is_err());
        assert!(read("file", "a s=1\n  x: u8[3]; x\n").is_err());
    }
}
