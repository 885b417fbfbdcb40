//! Protocol buffers on the wire: fields of a message, without a copy and without recursion.

use crate::error::ImportError;

/// The most messages of a file: each is a structure in memory, however few bytes it takes.
const MAX_MESSAGES: u32 = 1 << 19;

/// How deep messages may nest.
pub(super) const MAX_DEPTH: u32 = 64;

/// What a file may still cost.
#[derive(Debug)]
pub(super) struct ReadBudget {
    messages: u32,
    depth: u32,
}

impl ReadBudget {
    pub(super) fn new() -> ReadBudget {
        ReadBudget {
            messages: MAX_MESSAGES,
            depth: 0,
        }
    }

    /// Reads a message inside of another.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut ReadBudget) -> Result<T, ImportError>,
    ) -> Result<T, ImportError> {
        self.messages = match self.messages.checked_sub(1) {
            Some(left) => left,
            None => return wrong(format!("more than {MAX_MESSAGES} messages")),
        };
        if self.depth == MAX_DEPTH {
            return wrong(format!("messages nest deeper than {MAX_DEPTH}"));
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }
}

fn wrong<T>(what: impl Into<String>) -> Result<T, ImportError> {
    Err(ImportError::new(what))
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum WireValue<'a> {
    /// A number of any length.
    Varint(u64),
    /// Four bytes.
    Fixed32([u8; 4]),
    /// Eight bytes.
    Fixed64([u8; 8]),
    /// Bytes: a text, a message or packed numbers.
    Bytes(&'a [u8]),
}

/// The number of a field, its value, and all of it as it stands in the file.
pub(super) type RawField<'a> = (u64, WireValue<'a>, &'a [u8]);

/// The fields of a message.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { rest: bytes }
    }

    /// The next field as it stands in the file, besides.
    pub(super) fn next_raw(&mut self) -> Result<Option<RawField<'a>>, ImportError> {
        let before = self.rest;
        let next = self.next()?;
        let raw = &before[..before.len() - self.rest.len()];
        Ok(next.map(|(number, value)| (number, value, raw)))
    }

    /// The number of the next field, and its value.
    pub(super) fn next(&mut self) -> Result<Option<(u64, WireValue<'a>)>, ImportError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let left = self.rest.len();
        let tag = varint(&mut self.rest)?;
        let value = match tag & 7 {
            0 => WireValue::Varint(varint(&mut self.rest)?),
            1 => WireValue::Fixed64(self.array()?),
            2 => {
                let length = varint(&mut self.rest)?;
                let split = usize::try_from(length)
                    .ok()
                    .and_then(|n| self.rest.split_at_checked(n));
                let Some((bytes, rest)) = split else {
                    return wrong(format!(
                        "field {} says it has {length} bytes, {} are left",
                        tag >> 3,
                        self.rest.len()
                    ));
                };
                self.rest = rest;
                WireValue::Bytes(bytes)
            }
            5 => WireValue::Fixed32(self.array()?),
            kind => {
                return wrong(format!(
                    "wire type {kind}, {left} bytes before the end: not a protocol buffer, and so not an ONNX model"
                ));
            }
        };
        Ok(Some((tag >> 3, value)))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ImportError> {
        match self.rest.split_first_chunk() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(*bytes)
            }
            None => wrong("the file ends inside of a number"),
        }
    }
}

fn varint(rest: &mut &[u8]) -> Result<u64, ImportError> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let Some((&byte, tail)) = rest.split_first() else {
            return wrong("the file ends inside of a number");
        };
        *rest = tail;
        // Of the tenth byte only one bit is left; what is above it is dropped, as everywhere.
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    wrong("a number of more than ten bytes")
}

/// Writes a number.
fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes a field that holds bytes.
pub(super) fn put_bytes(number: u64, content: impl AsRef<[u8]>, out: &mut Vec<u8>) {
    put_varint(number << 3 | 2, out);
    put_varint(content.as_ref().len() as u64, out);
    out.extend_from_slice(content.as_ref());
}

/// Writes a field that holds a whole number.
pub(super) fn put_int(number: u64, value: i64, out: &mut Vec<u8>) {
    put_varint(number << 3, out);
    put_varint(value.cast_unsigned(), out);
}

impl<'a> WireValue<'a> {
    /// A text.
    pub(super) fn text(self) -> Result<&'a str, ImportError> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes)
            .or_else(|error| wrong(format!("byte {} is no UTF-8", error.valid_up_to())))
    }

    /// Bytes.
    pub(super) fn bytes(self) -> Result<&'a [u8], ImportError> {
        match self {
            WireValue::Bytes(bytes) => Ok(bytes),
            WireValue::Varint(_) | WireValue::Fixed32(_) | WireValue::Fixed64(_) => {
                wrong("a number where bytes are expected")
            }
        }
    }

    /// A whole number.
    pub(super) fn int(self) -> Result<i64, ImportError> {
        match self {
            WireValue::Varint(value) => Ok(value.cast_signed()),
            WireValue::Bytes(_) | WireValue::Fixed32(_) | WireValue::Fixed64(_) => {
                wrong("a whole number is expected")
            }
        }
    }

    /// A float.
    pub(super) fn float(self) -> Result<f32, ImportError> {
        match self {
            WireValue::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            WireValue::Bytes(_) | WireValue::Varint(_) | WireValue::Fixed64(_) => {
                wrong("a float is expected")
            }
        }
    }

    /// Adds a whole number, or a packed list of them.
    pub(super) fn ints_into(self, list: &mut Vec<i64>) -> Result<(), ImportError> {
        let WireValue::Bytes(mut rest) = self else {
            list.push(self.int()?);
            return Ok(());
        };
        while !rest.is_empty() {
            list.push(varint(&mut rest)?.cast_signed());
        }
        Ok(())
    }

    /// Adds a float, or a packed list of them.
    pub(super) fn floats_into(self, list: &mut Vec<f32>) -> Result<(), ImportError> {
        let WireValue::Bytes(bytes) = self else {
            list.push(self.float()?);
            return Ok(());
        };
        let (whole, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return wrong("packed floats end inside of one");
        }
        list.extend(whole.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        Ok(())
    }

    /// Adds a double, or a packed list of them.
    pub(super) fn doubles_into(self, list: &mut Vec<f64>) -> Result<(), ImportError> {
        let (whole, rest) = match &self {
            WireValue::Fixed64(one) => (std::slice::from_ref(one), &[][..]),
            WireValue::Bytes(bytes) => bytes.as_chunks::<8>(),
            WireValue::Varint(_) | WireValue::Fixed32(_) => return wrong("a double is expected"),
        };
        if !rest.is_empty() {
            return wrong("packed doubles end inside of one");
        }
        list.extend(whole.iter().map(|bytes| f64::from_le_bytes(*bytes)));
        Ok(())
    }
}
