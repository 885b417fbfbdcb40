//! `.npy` files, read and written by hand: every field is looked at before it is believed.

use std::io::{Read, Write};

use restride_graph::oracle::Tensor;
use restride_graph::{ElementType, MAX_RANK, TensorType};

use crate::failure::Failure;
use crate::source::printable;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header that is read; numpy's own are below 200 bytes.
const MAX_HEADER: u64 = 1 << 16;

/// Reads a file.
pub(crate) fn read(path: &str) -> Result<Tensor, Failure> {
    let (file, length) = super::open(path)?;
    parse(file, length).map_err(Failure::of_file(path))
}

fn parse(mut from: impl Read, length: u64) -> Result<Tensor, String> {
    let start = super::take(&mut from, length.min(8))?;
    if start.len() < 8 || !start.starts_with(MAGIC) {
        return Err("this is no .npy file".into());
    }
    let size = match start.get(6) {
        Some(1) => 2,
        Some(2 | 3) => 4,
        Some(_) | None => return Err("the version of the format is none of 1, 2, 3".into()),
    };
    let header = super::take(&mut from, size)?;
    let header = header
        .iter()
        .rev()
        .fold(0u64, |n, b| n << 8 | u64::from(*b));
    if header > MAX_HEADER {
        return Err(format!(
            "a header of {header} bytes; the limit is {MAX_HEADER}"
        ));
    }
    let data_length = length
        .checked_sub(8 + size + header)
        .ok_or("the file ends in its header")?;
    let header = super::take(&mut from, header)?;
    let header = std::str::from_utf8(&header).map_err(|_| "the header is no text")?;
    let Header {
        element,
        columns,
        shape,
    } = Header::parse(header)?;
    let ty = TensorType::dense(element, &shape).map_err(|error| error.to_string())?;
    let expected = ty.byte_size() as u64;
    if data_length != expected {
        let message = format!("{data_length} bytes of data, the header says {expected}");
        return Err(message);
    }
    let mut bytes = super::take(from, expected)?;
    if columns {
        bytes = rows_from_columns(&bytes, &shape, element.width());
    }
    Tensor::new(ty, bytes).map_err(|error| error.to_string())
}

/// Writes a file.
pub(crate) fn write(path: &str, tensor: &Tensor) -> Result<(), Failure> {
    let wrong = |error: std::io::Error| Failure::of_file(path)(error);
    let Some(descr) = descr(tensor.element()) else {
        let message = format!("numpy has no {}; write it as bytes", tensor.element());
        return Err(Failure::of_file(path)(message));
    };
    let mut file = std::fs::File::create(path).map_err(wrong)?;
    let shape: String = tensor.shape().iter().map(|n| format!("{n}, ")).collect();
    let shape = match tensor.rank() {
        1 => shape.trim_end(),
        _ => shape.trim_end().trim_end_matches(','),
    };
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // The data starts at a multiple of 64; the header ends with a newline.
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.extend(std::iter::repeat_n(' ', padded - header.len() - 1));
    header.push('\n');
    let length = u16::try_from(header.len())
        .map_err(|_| Failure::Internal("a header too long for its format".into()))?;
    let mut start = MAGIC.to_vec();
    start.extend([1, 0]);
    start.extend(length.to_le_bytes());
    start.extend(header.as_bytes());
    file.write_all(&start).map_err(wrong)?;
    file.write_all(tensor.bytes()).map_err(wrong)
}

/// What the header says.
struct Header {
    element: ElementType,
    /// Column-major.
    columns: bool,
    shape: Vec<i64>,
}

impl Header {
    /// Reads the dictionary that the header is: three keys, in any order, each once.
    fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text
            .trim()
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
            .ok_or("the header is no dictionary")?
            .trim();
        let (mut element, mut columns, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            rest = after
                .trim_start()
                .strip_prefix(':')
                .ok_or("a key of the header has no value")?
                .trim_start();
            let fresh = match key {
                "descr" => {
                    let (word, after) = quoted(rest)?;
                    rest = after;
                    element.replace(element_of(word)?).is_none()
                }
                "fortran_order" => {
                    let (value, after) = boolean(rest)?;
                    rest = after;
                    columns.replace(value).is_none()
                }
                "shape" => {
                    let (sizes, after) = tuple(rest)?;
                    rest = after;
                    shape.replace(sizes).is_none()
                }
                other => return Err(format!("the header has a key `{}`", printable(other))),
            };
            if !fresh {
                return Err(format!("the header has `{key}` twice"));
            }
            rest = rest.trim_start();
            rest = match rest.strip_prefix(',') {
                Some(after) => after.trim_start(),
                None if rest.is_empty() => rest,
                None => return Err("the header lacks a comma".into()),
            };
        }
        match (element, columns, shape) {
            (Some(element), Some(columns), Some(shape)) => Ok(Self {
                element,
                columns,
                shape,
            }),
            _ => Err("the header lacks one of descr, fortran_order, shape".into()),
        }
    }
}

fn quoted(text: &str) -> Result<(&str, &str), String> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let quote = quote.ok_or("the header has something else where a string belongs")?;
    let rest = &text[1..];
    let end = rest
        .find(quote)
        .ok_or("a string of the header has no end")?;
    Ok((&rest[..end], &rest[end + 1..]))
}

fn boolean(text: &str) -> Result<(bool, &str), String> {
    match (text.strip_prefix("True"), text.strip_prefix("False")) {
        (Some(rest), _) => Ok((true, rest)),
        (_, Some(rest)) => Ok((false, rest)),
        (None, None) => Err("`fortran_order` is neither True nor False".into()),
    }
}

fn tuple(text: &str) -> Result<(Vec<i64>, &str), String> {
    let inside = text.strip_prefix('(').ok_or("`shape` is no tuple")?;
    let end = inside.find(')').ok_or("`shape` has no end")?;
    let mut sizes = Vec::new();
    let mut words = inside[..end].split(',').map(str::trim).peekable();
    while let Some(word) = words.next() {
        if word.is_empty() && words.peek().is_none() {
            break;
        }
        let size: Option<i64> = word.parse().ok().filter(|n| *n >= 0);
        let size = size.ok_or_else(|| format!("`{}` in `shape`", printable(word)))?;
        if sizes.len() == MAX_RANK {
            return Err(format!("a shape of more than {MAX_RANK} axes"));
        }
        sizes.push(size);
    }
    Ok((sizes, &inside[end + 1..]))
}

/// The element types that numpy has, by their names there.
const NAMES: [(&str, ElementType); 15] = [
    ("|b1", ElementType::Bool),
    ("|i1", ElementType::I8),
    ("|u1", ElementType::U8),
    ("<i2", ElementType::I16),
    ("<u2", ElementType::U16),
    ("<i4", ElementType::I32),
    ("<u4", ElementType::U32),
    ("<i8", ElementType::I64),
    ("<u8", ElementType::U64),
    ("<f2", ElementType::F16),
    ("<f4", ElementType::F32),
    ("<f8", ElementType::F64),
    ("<c8", ElementType::C64),
    ("<c16", ElementType::C128),
    // Numpy writes what it has no name for as plain bytes.
    ("|V2", ElementType::Bf16),
];

fn element_of(descr: &str) -> Result<ElementType, String> {
    let found = NAMES.iter().find(|(name, _)| {
        // Bytes have no order, so any mark will do for them.
        *name == descr || name.starts_with('|') && descr.get(1..) == name.get(1..)
    });
    match found {
        Some((_, element)) => Ok(*element),
        None if descr.starts_with('>') => {
            Err("the data is big-endian; save it as little-endian".into())
        }
        None => Err(format!(
            "`{}` is not an element type here",
            printable(descr)
        )),
    }
}

fn descr(element: ElementType) -> Option<&'static str> {
    let found = NAMES.iter().find(|(_, other)| *other == element);
    found.map(|(name, _)| *name)
}

/// Row-major bytes from column-major ones.
fn rows_from_columns(bytes: &[u8], shape: &[i64], width: usize) -> Vec<u8> {
    let mut strides = Vec::new();
    let mut step = width;
    for size in shape {
        strides.push(step);
        step *= *size as usize;
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = vec![0i64; shape.len()];
    let mut at = 0;
    while out.len() < bytes.len() {
        out.extend_from_slice(&bytes[at..at + width]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * shape[axis] as usize;
            index[axis] = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn parsed(bytes: &[u8]) -> Result<Tensor, String> {
        parse(bytes, bytes.len() as u64)
    }

    #[test]
    fn reads_rows_and_columns() {
        let rows = file(
            "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n",
            &[0, 1, 2, 3, 4, 5],
        );
        let columns = file(
            "{'shape':(2,3),'fortran_order':True,'descr':'|u1'}",
            &[0, 3, 1, 4, 2, 5],
        );
        assert_eq!(
            parsed(&rows).expect("sound"),
            parsed(&columns).expect("sound")
        );
        let scalar = file(
            "{'descr': '<i2', 'fortran_order': False, 'shape': ()}",
            &[1, 2],
        );
        assert_eq!(parsed(&scalar).expect("sound").rank(), 0);
        let empty = file(
            "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 0, 2)}",
            &[],
        );
        assert_eq!(parsed(&empty).expect("sound").shape(), [3, 0, 2]);
    }

    #[test]
    fn refuses_what_is_not_so() {
        let good = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}";
        for (header, data) in [
            (good, 1),
            (good, 3),
            ("{'descr': '|u1', 'fortran_order': False}", 2),
            (
                "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (2,)}",
                2,
            ),
            ("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", 2),
            ("{'descr': '>i2', 'fortran_order': False, 'shape': (1,)}", 2),
            ("{'descr': '|u1', 'fortran_order': 0, 'shape': (2,)}", 2),
            (
                "{'descr': '|u1', 'fortran_order': False, 'shape': (-2,)}",
                2,
            ),
            (
                "{'descr': '|u1', 'fortran_order': False, 'shape': (4611686018427387904, 8)}",
                2,
            ),
            (
                "{'descr': '|u1', 'fortran_order': False, 'shape': (2,) 'x': 1}",
                2,
            ),
            ("{'descr", 2),
            ("", 2),
        ] {
            assert!(parsed(&file(header, &vec![0; data])).is_err(), "{header}");
        }
        let whole = file(good, &[1, 2]);
        for length in 0..whole.len() {
            assert!(parsed(&whole[..length]).is_err(), "{length}");
        }
        // A header that announces 4 GB costs nothing.
        let mut huge = MAGIC.to_vec();
        huge.extend([2, 0, 0xff, 0xff, 0xff, 0xff]);
        assert!(parsed(&huge).is_err());
    }
}
