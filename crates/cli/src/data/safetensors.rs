//! `.safetensors` files: a length, a JSON header, and data. Only what is asked for is read.

use std::io::{Read, Seek, SeekFrom};

use restride_graph::oracle::Tensor;
use restride_graph::{ElementType, MAX_RANK, TensorType};
use restride_text::closest;
use serde_json::Value;

use crate::failure::Failure;
use crate::source::printable;

/// The longest header that is read, as the format itself has it.
const MAX_HEADER: u64 = 100_000_000;

/// Reads one tensor of a file.
pub(crate) fn read(path: &str, name: &str) -> Result<Tensor, Failure> {
    let (file, length) = super::open(path)?;
    parse(file, length, name).map_err(Failure::of_file(path))
}

fn parse(mut from: impl Read + Seek, length: u64, name: &str) -> Result<Tensor, String> {
    let start = super::take(&mut from, 8)?;
    let header = start.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
    let data_length = length
        .checked_sub(8)
        .and_then(|rest| rest.checked_sub(header))
        .ok_or("the file ends in its header")?;
    if header > MAX_HEADER {
        return Err(format!(
            "a header of {header} bytes; the limit is {MAX_HEADER}"
        ));
    }
    let text = super::take(&mut from, header)?;
    let header_value: Value = serde_json::from_slice(&text).map_err(|e| format!("header: {e}"))?;
    let Value::Object(tensors) = header_value else {
        return Err("the header is no object".into());
    };
    let Some(entry) = tensors.get(name).filter(|_| name != "__metadata__") else {
        let known = tensors.keys().map(String::as_str);
        let near = closest(name, known).map_or(String::new(), |near| {
            format!("; did you mean `{}`?", printable(near))
        });
        return Err(format!("there is no tensor `{}`{near}", printable(name)));
    };
    let element = entry
        .get("dtype")
        .and_then(Value::as_str)
        .ok_or("no dtype")?;
    let element = element_of(element)?;
    let shape = integers(entry.get("shape")).ok_or("`shape` is no list of sizes")?;
    if shape.len() > MAX_RANK {
        return Err(format!("a shape of more than {MAX_RANK} axes"));
    }
    let offsets = integers(entry.get("data_offsets")).ok_or("`data_offsets` is no pair")?;
    let [begin, end] = offsets.as_slice() else {
        return Err("`data_offsets` is no pair".into());
    };
    let ty = TensorType::dense(element, &shape).map_err(|error| error.to_string())?;
    let (begin, end) = (begin.unsigned_abs(), end.unsigned_abs());
    if begin > end || end > data_length {
        return Err(format!(
            "`data_offsets` {begin}..{end} of {data_length} bytes"
        ));
    }
    if end - begin != ty.byte_size() as u64 {
        let message = format!("{} bytes for a tensor of {}", end - begin, ty.byte_size());
        return Err(message);
    }
    let at = 8 + header + begin;
    from.seek(SeekFrom::Start(at))
        .map_err(|error| error.to_string())?;
    let bytes = super::take(from, end - begin)?;
    Tensor::new(ty, bytes).map_err(|error| error.to_string())
}

fn integers(value: Option<&Value>) -> Option<Vec<i64>> {
    let items = value?.as_array()?.iter();
    items
        .map(|item| item.as_i64().filter(|n| *n >= 0))
        .collect()
}

fn element_of(dtype: &str) -> Result<ElementType, String> {
    let lower = dtype.to_ascii_lowercase();
    let name = match lower.as_str() {
        "f8_e4m3" => "f8e4m3",
        "f8_e5m2" => "f8e5m2",
        "f8_e8m0" => "f8e8m0",
        "f8_e4m3fnuz" => "f8e4m3fnuz",
        "f8_e5m2fnuz" => "f8e5m2fnuz",
        other => other,
    };
    name.parse()
        .map_err(|_| format!("`{}` is not an element type here", printable(dtype)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn parsed(bytes: &[u8], name: &str) -> Result<Tensor, String> {
        parse(Cursor::new(bytes), bytes.len() as u64, name)
    }

    const GOOD: &str =
        r#"{"__metadata__":{"a":"b"},"w":{"dtype":"BF16","shape":[2],"data_offsets":[1,5]}}"#;

    #[test]
    fn reads_one_of_several() {
        let tensor = parsed(&file(GOOD, &[9, 1, 2, 3, 4, 9]), "w").expect("sound");
        assert_eq!(tensor.bytes(), [1, 2, 3, 4]);
        assert_eq!(tensor.element(), ElementType::Bf16);
        assert!(
            parsed(&file(GOOD, &[0; 6]), "v")
                .expect_err("none")
                .contains("mean `w`")
        );
        assert!(parsed(&file(GOOD, &[0; 6]), "__metadata__").is_err());
    }

    #[test]
    fn refuses_what_is_not_so() {
        for header in [
            r#"{"w":{"dtype":"BF16","shape":[2],"data_offsets":[1,6]}}"#,
            r#"{"w":{"dtype":"BF16","shape":[2],"data_offsets":[5,1]}}"#,
            r#"{"w":{"dtype":"BF16","shape":[2],"data_offsets":[1,9007199254740993]}}"#,
            r#"{"w":{"dtype":"BF16","shape":[-2],"data_offsets":[0,4]}}"#,
            r#"{"w":{"dtype":"BF16","shape":[4611686018427387904,4],"data_offsets":[0,4]}}"#,
            r#"{"w":{"dtype":"X","shape":[2],"data_offsets":[0,4]}}"#,
            r#"{"w":{"shape":[2],"data_offsets":[0,4]}}"#,
            r#"{"w":7}"#,
            "[]",
            "{",
        ] {
            assert!(parsed(&file(header, &[0; 6]), "w").is_err(), "{header}");
        }
        let whole = file(GOOD, &[9, 1, 2, 3, 4]);
        for length in 0..whole.len() {
            assert!(parsed(&whole[..length], "w").is_err(), "{length}");
        }
        assert!(parsed(&u64::MAX.to_le_bytes(), "w").is_err());
    }
}
