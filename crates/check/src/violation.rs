//! Why code was not shown to be right: because it is wrong, or because it could not be followed.

/// Why code was not shown to be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unproved {
    /// It does what it must not do.
    #[error(transparent)]
    Wrong(Violation),
    /// It does something that the checker has no model of. No run that could be followed showed
    /// it to be wrong; that it is right is not known.
    #[error("not understood: {why}{}", place(site.as_ref()))]
    NotUnderstood {
        /// What the model lacks.
        why: String,
        /// Where, if one instruction is to blame.
        site: Option<Site>,
    },
    /// It was not followed to its end.
    #[error(transparent)]
    Limit(#[from] Limit),
}

impl Unproved {
    /// What is wrong, if anything is known to be.
    #[must_use]
    pub fn violation(&self) -> Option<&Violation> {
        match self {
            Self::Wrong(violation) => Some(violation),
            Self::NotUnderstood { .. } | Self::Limit(_) => None,
        }
    }
}

/// What code does wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}", place(site.as_ref()))]
#[non_exhaustive]
pub struct Violation {
    /// What is wrong.
    pub kind: Box<Kind>,
    /// Where, if one instruction is to blame.
    pub site: Option<Site>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Site {
    /// Where it begins in the code.
    pub offset: usize,
    /// As a disassembler shows it.
    pub instruction: String,
}

fn place(site: Option<&Site>) -> String {
    match site {
        Some(site) => format!(", at {:#x}: {}", site.offset, site.instruction),
        None => String::new(),
    }
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Limit {
    /// Of instructions and elements.
    #[error("more than {limit} steps")]
    Steps {
        /// How many are followed.
        limit: u64,
    },
    /// Of the bytes of all buffers.
    #[error("{bytes} bytes of buffers, at most {limit} are followed")]
    Bytes {
        /// How many there are.
        bytes: u64,
        /// How many are followed.
        limit: u64,
    },
}

/// What ends a run before its end.
pub(crate) enum Stop {
    Wrong(Kind),
    /// Something without a model.
    NotUnderstood(String),
    Limit(Limit),
}

impl Stop {
    pub(crate) fn not_understood(what: impl Into<String>) -> Self {
        Self::NotUnderstood(what.into())
    }

    /// An instruction, or a form of one, that is not known to be generated.
    pub(crate) fn unknown() -> Self {
        Self::not_understood("the instruction is not one that is known to be generated")
    }

    pub(crate) fn at(self, site: Option<Site>) -> Unproved {
        match self {
            Self::Wrong(kind) => Unproved::Wrong(Violation {
                kind: Box::new(kind),
                site,
            }),
            Self::NotUnderstood(why) => Unproved::NotUnderstood { why, site },
            Self::Limit(limit) => Unproved::Limit(limit),
        }
    }
}

impl From<Kind> for Stop {
    fn from(kind: Kind) -> Self {
        Self::Wrong(kind)
    }
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

impl From<Stop> for Unproved {
    fn from(stop: Stop) -> Self {
        stop.at(None)
    }
}

impl From<Kind> for Unproved {
    fn from(kind: Kind) -> Self {
        Stop::Wrong(kind).at(None)
    }
}

/// What is wrong with code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum Kind {
    /// An access outside; for an address that depends on an index, for some value of the index.
    #[error("access of {size} bytes at {low}..={high} of {region}, which has {bytes}")]
    Outside {
        region: String,
        low: i128,
        high: i128,
        size: i128,
        bytes: i128,
    },
    #[error("an address is made of {what}")]
    NotAnAddress { what: String },
    #[error("{region} is not to be read")]
    NotReadable { region: String },
    #[error("{region} is not to be written")]
    NotWritable { region: String },
    #[error("an access of {region} at {offset} is not aligned as the instruction demands")]
    Misaligned { region: String, offset: i64 },
    #[error("byte {offset} of b{buffer} becomes {found}, must be {expected}")]
    WrongByte {
        buffer: usize,
        offset: usize,
        found: String,
        expected: String,
    },
    #[error("byte {offset} of b{buffer} is never written")]
    Missing { buffer: usize, offset: usize },
    #[error("status {found}, must be {expected}")]
    Status { found: String, expected: u64 },
    #[error("there is no instruction at {offset:#x}")]
    NoCode { offset: i64 },
    #[error("the instruction leaves the code for the system")]
    System,
    #[error("{what} where {wanted} is needed")]
    Value { what: String, wanted: &'static str },
    #[error("division by zero or with a quotient that does not fit")]
    Division,
    #[error("no function at {entry} takes parameters at {params}")]
    Callee { entry: String, params: String },
    #[error("source and destination of a call overlap")]
    Overlap,
    #[error("{register} is not what it was at entry")]
    NotKept { register: &'static str },
    #[error("stack: {what}")]
    Stack { what: &'static str },
    #[error("the bytes of the constant b{buffer} are not behind the code")]
    Constant { buffer: u32 },
    #[error("phases: the code has {code}, the kernel {kernel}")]
    Phases { code: usize, kernel: usize },
    /// The kernel itself, which cannot be if it was verified.
    #[error("kernel: {what}")]
    Kernel { what: &'static str },
}
