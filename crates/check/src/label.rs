//! Where a byte comes from.

use restride_loops::{Kernel, Role};

use crate::violation::{Kind, Stop};

/// A byte: not initialised, a literal, or a certain byte of an input or constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Label(u32);

/// The first number that stands for a byte of a buffer.
const FIRST: u32 = 257;
/// Not known as a number.
const UNKNOWN: u16 = 256;

impl Label {
    /// Not initialised.
    pub(crate) const NOTHING: Self = Self(0);
    /// Bits of several bytes, which is no byte of a source.
    pub(crate) const MIXED: Self = Self(u32::MAX - 0x1000);
    /// The literal 0.
    pub(crate) const ZERO: Self = Self(1);

    pub(crate) const fn literal(byte: u8) -> Self {
        Self(1 + byte as u32)
    }

    /// A byte that a caller keeps in a register.
    pub(crate) const fn kept(number: usize) -> Self {
        Self(u32::MAX - number as u32)
    }

    pub(crate) fn as_literal(self) -> Option<u8> {
        u8::try_from(self.0.checked_sub(1)?).ok()
    }

    fn ordinal(self) -> Option<usize> {
        self.0.checked_sub(FIRST).map(|at| at as usize)
    }

    /// The byte so many places further on in the same source.
    pub(crate) fn plus(self, bytes: usize) -> Self {
        Self(self.0.wrapping_add(bytes as u32))
    }
}

/// The bytes of all sources, numbered, and the values of those that indices are made of.
pub(crate) struct Sources {
    /// By buffer: its first byte, if it is a source, and its length.
    spans: Vec<(Option<Label>, usize)>,
    values: Vec<u16>,
}

impl Sources {
    /// Numbers the sources of a kernel; `numeric` says which buffers hold indices.
    pub(crate) fn new(kernel: &Kernel, numeric: &[bool]) -> Result<Self, Stop> {
        let mut spans = Vec::with_capacity(kernel.buffers.len());
        let mut values = Vec::new();
        for (at, buffer) in kernel.buffers.iter().enumerate() {
            let bytes = buffer.bytes().ok_or(Kind::Kernel {
                what: "a length that does not fit",
            })?;
            let first = match &buffer.role {
                Role::In(_) | Role::Const(_) => {
                    let first = u32::try_from(values.len())
                        .ok()
                        .and_then(|at| at.checked_add(FIRST));
                    values.resize(values.len() + bytes, UNKNOWN);
                    Some(Label(first.ok_or(Kind::Kernel {
                        what: "too many bytes",
                    })?))
                }
                Role::Out(..) | Role::Scratch => None,
            };
            spans.push((first, bytes));
            if let Role::Const(data) = &buffer.role
                && numeric.get(at) == Some(&true)
            {
                let from = values.len() - bytes;
                for (value, byte) in values[from..].iter_mut().zip(data.iter()) {
                    *value = u16::from(*byte);
                }
            }
        }
        Ok(Self { spans, values })
    }

    /// The label of the first byte of a source.
    pub(crate) fn first(&self, buffer: usize) -> Option<Label> {
        self.spans.get(buffer)?.0
    }

    /// Gives an input the contents of an index tensor.
    pub(crate) fn set(&mut self, buffer: usize, contents: &[u8]) {
        let Some(start) = self.first(buffer).and_then(Label::ordinal) else {
            return;
        };
        if let Some(values) = self.values.get_mut(start..) {
            for (value, byte) in values.iter_mut().zip(contents) {
                *value = u16::from(*byte);
            }
        }
    }

    /// A little-endian number of up to eight labels, if all are known; a literal is.
    pub(crate) fn number(&self, labels: &[Label]) -> Option<u64> {
        labels.iter().rev().try_fold(0u64, |number, label| {
            let byte = match label.as_literal() {
                Some(byte) => byte,
                None => u8::try_from(*self.values.get(label.ordinal()?)?).ok()?,
            };
            Some(number << 8 | u64::from(byte))
        })
    }

    /// A label for people.
    pub(crate) fn name(&self, label: Label) -> String {
        if label == Label::NOTHING {
            return "nothing".to_owned();
        }
        if label == Label::MIXED {
            return "bits of several bytes".to_owned();
        }
        if let Some(byte) = label.as_literal() {
            return format!("{byte:#04x}");
        }
        let at = self.spans.iter().enumerate().find_map(|(buffer, span)| {
            let offset = label.0.checked_sub(span.0?.0)? as usize;
            (offset < span.1).then(|| format!("b{buffer} byte {offset}"))
        });
        at.unwrap_or_else(|| "an unknown byte".to_owned())
    }
}
