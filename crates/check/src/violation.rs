//! Why code is refused.

/// Code that was not shown to be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}", self.place())]
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

impl Violation {
    fn place(&self) -> String {
        match &self.site {
            Some(site) => format!(", at {:#x}: {}", site.offset, site.instruction),
            None => String::new(),
        }
    }

    /// Whether a limit was reached, so that nothing is known.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(*self.kind, Kind::Steps { .. } | Kind::Bytes { .. })
    }
}

impl From<Kind> for Violation {
    fn from(kind: Kind) -> Self {
        Self {
            kind: Box::new(kind),
            site: None,
        }
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
    #[error("the instruction is not one that is known to be generated")]
    Unknown,
    #[error("there is no instruction at {offset:#x}")]
    NoCode { offset: i64 },
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
    #[error("phases: the code has {code}, the kernel {kernel}")]
    Phases { code: usize, kernel: usize },
    /// The kernel itself, which cannot be if it was verified.
    #[error("kernel: {what}")]
    Kernel { what: &'static str },
    #[error("more than {limit} steps")]
    Steps { limit: u64 },
    #[error("{bytes} bytes of buffers, at most {limit} are followed")]
    Bytes { bytes: u64, limit: u64 },
}
