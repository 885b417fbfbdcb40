//! What a register or a slot of the stack holds.

use crate::label::Label;
use crate::symbol::Symbol;
use crate::violation::{Kind, Stop};

/// Memory that code may point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// The frame and what lies below it.
    Stack,
    /// The addresses of buffers: of all, or in one table those of inputs and in another those of outputs.
    Table(u8),
    /// The code and its constants.
    Code,
    /// A buffer of the kernel.
    Buffer(u32),
}

/// 64 bits.
#[derive(Clone, Copy)]
pub(crate) enum Value {
    /// Anything.
    Undefined,
    /// What a register held at entry.
    Kept(u8),
    /// Where the caller goes on.
    Return,
    /// An integer.
    Number(Number),
    /// A truth value: the low byte is 0 or 1, the others are anything.
    Truth(bool, Symbol),
    /// An address.
    Pointer(Pointer),
    /// Bytes from memory.
    Data(IndexedBytes),
}

/// An integer, and what is known of it beyond this run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub(crate) bits: u64,
    pub(crate) symbol: Symbol,
}

impl Number {
    pub(crate) const fn known(bits: u64) -> Self {
        Self {
            bits,
            symbol: Symbol::KNOWN,
        }
    }

    pub(crate) fn is_known(self) -> bool {
        self.symbol == Symbol::KNOWN
    }
}

/// An offset in a region, and the indices in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointer {
    pub(crate) region: Area,
    pub(crate) offset: i64,
    /// The sum of multiples of indices that is part of the offset.
    pub(crate) sum: Symbol,
}

/// Bytes, and the number they are if they are an index.
#[derive(Clone, Copy)]
pub(crate) struct IndexedBytes {
    pub(crate) bytes: [Label; 8],
    pub(crate) number: Option<Number>,
}

impl Value {
    pub(crate) const fn known(bits: u64) -> Self {
        Self::Number(Number::known(bits))
    }

    /// It is of another sort than is needed. Nobody may compute with data, with addresses, with what
    /// was never written or with what is the caller's: one run would not speak for others.
    pub(crate) fn unexpected(&self, wanted: &'static str) -> Stop {
        let what = self.what();
        match self {
            Self::Undefined | Self::Kept(_) | Self::Return | Self::Pointer(_) | Self::Data(_) => {
                Kind::Value {
                    what: what.to_owned(),
                    wanted,
                }
                .into()
            }
            Self::Number(_) | Self::Truth(..) => {
                Stop::not_understood(format!("{what} where {wanted} is needed"))
            }
        }
    }

    /// For messages.
    pub(crate) const fn what(&self) -> &'static str {
        match self {
            Self::Undefined => "an undefined value",
            Self::Kept(_) => "a register of the caller",
            Self::Return => "a return address",
            Self::Number(_) => "a number",
            Self::Truth(..) => "a truth value",
            Self::Pointer(_) => "an address",
            Self::Data(_) => "data",
        }
    }
}
