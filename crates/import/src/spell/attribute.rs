//! Attributes of a call by the framework's names.

use restride_graph::{Constant, TensorType};

/// The value of an attribute, as a file or a test case spells it.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A whole number; booleans are 0 and 1.
    Int(i64),
    /// Whole numbers.
    Ints(Vec<i64>),
    /// A number.
    Float(f64),
    /// Numbers.
    Floats(Vec<f64>),
    /// A word.
    Word(String),
    /// Words.
    Words(Vec<String>),
    /// A tensor.
    Tensor(Constant),
    /// A tensor that is too large to look at.
    Large(TensorType),
    /// Something that no operator here reads, as what it is called.
    Other(&'static str),
}

impl std::fmt::Display for Attribute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Attribute::Int(value) => write!(f, "{value}"),
            Attribute::Ints(values) => write!(f, "{values:?}"),
            Attribute::Float(value) => write!(f, "{value}"),
            Attribute::Floats(values) => write!(f, "{values:?}"),
            Attribute::Word(word) => write!(f, "`{}`", word.escape_debug()),
            Attribute::Words(_) => f.write_str("a list of words"),
            Attribute::Large(ty) => write!(f, "a tensor of {ty}"),
            Attribute::Tensor(tensor) => write!(f, "a tensor of {}", tensor.ty()),
            Attribute::Other(kind) => f.write_str(kind),
        }
    }
}

/// Attributes by name. Of two with one name the first counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes(Vec<(String, Attribute)>);

impl Attributes {
    /// The attribute of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    /// Adds one.
    pub fn push(&mut self, name: impl Into<String>, value: Attribute) {
        self.0.push((name.into(), value));
    }

    /// Names and values, as they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Attribute)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl FromIterator<(String, Attribute)> for Attributes {
    fn from_iter<T: IntoIterator<Item = (String, Attribute)>>(pairs: T) -> Self {
        Attributes(pairs.into_iter().collect())
    }
}
