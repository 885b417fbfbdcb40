//! From the text of a workloads file to [`Workload`]s.
//!
//! One bad workload does not spoil the others: each entry of the list is read on its own.

use super::{Checksum, Dtype, Input, Step, Tensor, Values, Workload, infer};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Why a file holds no workloads at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// There is no list named `workloads`.
    #[error("expected an object with a list `workloads`")]
    NoList,
}

/// Why one workload is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("workload {workload}: {at}: {problem}")]
pub struct WorkloadError {
    /// Its name, or its position in the list if it has none.
    pub workload: String,
    /// Which field, input or operator.
    pub at: String,
    /// What is wrong with it.
    pub problem: String,
}

/// Reads every workload of a file.
pub fn read(text: &str) -> Result<Vec<Result<Workload, WorkloadError>>, ReadError> {
    let mut file: Value = serde_json::from_str(text)?;
    let Some(Value::Array(list)) = file.get_mut("workloads").map(Value::take) else {
        return Err(ReadError::NoList);
    };
    let read = |(position, value): (usize, Value)| {
        let name = match value.get("id").and_then(Value::as_str) {
            Some(id) => id.to_owned(),
            None => format!("number {position}"),
        };
        workload(value).map_err(|(at, problem)| WorkloadError {
            workload: name,
            at,
            problem,
        })
    };
    Ok(list.into_iter().enumerate().map(read).collect())
}

/// Where, and what is wrong.
type Refusal = (String, String);

fn refuse<T>(at: impl Into<String>, problem: impl Into<String>) -> Result<T, Refusal> {
    Err((at.into(), problem.into()))
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    tags: BTreeMap<String, Value>,
    inputs: Vec<EntryInput>,
    ops: Vec<Value>,
    output: String,
    output_shape: Vec<i64>,
    output_dtype: String,
    out_bytes: Option<u64>,
    useful_bytes: Option<u64>,
    limit_ratio: Option<f64>,
    checksum: EntryChecksum,
}

#[derive(Deserialize)]
struct EntryInput {
    name: String,
    dtype: String,
    shape: Vec<i64>,
    r#gen: String,
    #[serde(rename = "const", default)]
    constant: bool,
    #[serde(rename = "mod")]
    modulus: Option<u32>,
    values: Option<Value>,
}

#[derive(Deserialize)]
struct EntryChecksum {
    crc32: String,
    fnv1a64: Option<String>,
}

#[derive(Deserialize)]
struct EntryOp {
    r#in: Vec<String>,
    out: String,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(tag = "op")]
enum Kind {
    StridedSlice {
        start: Vec<i64>,
        size: Vec<i64>,
        step: Vec<i64>,
    },
    Reshape {
        shape: Vec<i64>,
    },
    Transpose {
        perm: Vec<usize>,
    },
    Gather {
        axis: usize,
        #[serde(default)]
        batch_dims: usize,
    },
    Concat {
        axis: usize,
    },
}

fn workload(value: Value) -> Result<Workload, Refusal> {
    let entry = Entry::deserialize(value).map_err(|e| ("entry".to_owned(), e.to_string()))?;
    let mut names = HashMap::new();
    let mut tensors = Vec::new();
    let mut inputs = Vec::new();
    for raw in &entry.inputs {
        let input = input(raw).map_err(|(at, p)| (format!("input {}, {at}", raw.name), p))?;
        if names.insert(raw.name.clone(), tensors.len()).is_some() {
            return refuse(format!("input {}", raw.name), "the name is taken");
        }
        tensors.push(input.tensor.clone());
        inputs.push(input);
    }
    let mut steps = Vec::new();
    for (number, raw) in entry.ops.into_iter().enumerate() {
        let at = match raw.get("op").and_then(Value::as_str) {
            Some(word) => format!("op {number} ({word})"),
            None => format!("op {number}"),
        };
        let (step, out) = step(raw, &names).map_err(|problem| (at.clone(), problem))?;
        let made = infer(&step, &tensors).map_err(|e| (at.clone(), e.to_string()))?;
        if names.insert(out.clone(), tensors.len()).is_some() {
            return refuse(at, format!("the name {out} is taken"));
        }
        tensors.push(made);
        steps.push(step);
    }
    let Some(&output) = names.get(&entry.output) else {
        return refuse("output", format!("no value is named {}", entry.output));
    };
    let made = &tensors[output];
    if made.shape != entry.output_shape || made.dtype.name() != entry.output_dtype {
        return refuse(
            "output_shape",
            format!(
                "{:?} {}; the operators make {:?} {}",
                entry.output_shape,
                entry.output_dtype,
                made.shape,
                made.dtype.name()
            ),
        );
    }
    let bytes = made.bytes().map(|bytes| bytes as u64);
    if entry.out_bytes.is_some() && entry.out_bytes != bytes {
        return refuse(
            "out_bytes",
            format!("not the {} of the output", bytes.unwrap_or(0)),
        );
    }
    Ok(Workload {
        id: entry.id,
        title: entry.title,
        tags: words(entry.tags),
        inputs,
        steps,
        tensors,
        output,
        checksum: checksum(&entry.checksum)?,
        useful_bytes: entry.useful_bytes,
        limit_ratio: entry
            .limit_ratio
            .filter(|limit| limit.is_finite() && *limit > 0.0),
    })
}

/// The tags that are words; flags and numbers group nothing.
fn words(tags: BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let word = |(key, value)| match value {
        Value::String(word) => Some((key, word)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    };
    tags.into_iter().filter_map(word).collect()
}

fn input(raw: &EntryInput) -> Result<Input, Refusal> {
    let Some(dtype) = Dtype::named(&raw.dtype) else {
        let known = Dtype::ALL.map(Dtype::name).join(", ");
        return refuse("dtype", format!("{}; known are {known}", raw.dtype));
    };
    if let Some(axis) = raw.shape.iter().position(|&size| size < 0) {
        return refuse(
            format!("shape, axis {axis}"),
            format!("{} is negative", raw.shape[axis]),
        );
    }
    let tensor = Tensor {
        dtype,
        shape: raw.shape.clone(),
    };
    let Some(bytes) = tensor.bytes() else {
        return refuse("shape", format!("{:?} has too many bytes", raw.shape));
    };
    let whole = |at: &str| match dtype.is_integer() {
        true => Ok(()),
        false => refuse(at, format!("{} holds no integers", dtype.name())),
    };
    let values = match raw.r#gen.as_str() {
        "data" => Values::Data,
        "index_hash" => match raw.modulus {
            None | Some(0) => return refuse("mod", "missing or 0; at least 1"),
            Some(modulus) => {
                whole("gen")?;
                Values::IndexHash(modulus)
            }
        },
        "values" => {
            whole("gen")?;
            let mut listed = Vec::new();
            match &raw.values {
                Some(values) => flatten(values, dtype, &mut listed)?,
                None => return refuse("values", "missing"),
            }
            if listed.len() != bytes / dtype.width() {
                return refuse(
                    "values",
                    format!(
                        "{} of them; the shape {:?} holds {}",
                        listed.len(),
                        raw.shape,
                        bytes / dtype.width()
                    ),
                );
            }
            Values::Listed(listed)
        }
        other => {
            return refuse(
                "gen",
                format!("{other}; known are data, index_hash, values"),
            );
        }
    };
    Ok(Input {
        name: raw.name.clone(),
        tensor,
        values,
        constant: raw.constant,
    })
}

/// Values in row-major order, nested or not.
fn flatten(value: &Value, dtype: Dtype, listed: &mut Vec<i64>) -> Result<(), Refusal> {
    match value {
        Value::Array(parts) => parts
            .iter()
            .try_for_each(|part| flatten(part, dtype, listed)),
        Value::Number(number) => {
            let range = match dtype {
                Dtype::U8 => 0..=i64::from(u8::MAX),
                Dtype::U16 => 0..=i64::from(u16::MAX),
                Dtype::I32 => i64::from(i32::MIN)..=i64::from(i32::MAX),
                Dtype::I64 | Dtype::F16 | Dtype::F32 | Dtype::C128 => i64::MIN..=i64::MAX,
            };
            match number.as_i64().filter(|value| range.contains(value)) {
                Some(value) => listed.push(value),
                None => return refuse("values", format!("{number} is no {}", dtype.name())),
            }
            Ok(())
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_) => {
            refuse("values", format!("{value} is no integer"))
        }
    }
}

fn step(raw: Value, names: &HashMap<String, usize>) -> Result<(Step, String), String> {
    let raw = EntryOp::deserialize(raw).map_err(|e| e.to_string())?;
    let operand = |name: &String| match names.get(name) {
        Some(&value) => Ok(value),
        None => Err(format!("no value is named {name} before this operator")),
    };
    let operands = raw
        .r#in
        .iter()
        .map(operand)
        .collect::<Result<Vec<_>, _>>()?;
    let count = |expected: usize| match operands.len() == expected {
        true => Ok(()),
        false => Err(format!("{} operands; it takes {expected}", operands.len())),
    };
    let step = match raw.kind {
        Kind::StridedSlice { start, size, step } => {
            count(1)?;
            Step::StridedSlice {
                x: operands[0],
                start,
                size,
                step,
            }
        }
        Kind::Reshape { shape } => {
            count(1)?;
            Step::Reshape {
                x: operands[0],
                shape,
            }
        }
        Kind::Transpose { perm } => {
            count(1)?;
            Step::Transpose {
                x: operands[0],
                perm,
            }
        }
        Kind::Gather { axis, batch_dims } => {
            count(2)?;
            Step::Gather {
                x: operands[0],
                indices: operands[1],
                axis,
                batch_dims,
            }
        }
        Kind::Concat { axis } => Step::Concat {
            parts: operands,
            axis,
        },
    };
    Ok((step, raw.out))
}

fn checksum(raw: &EntryChecksum) -> Result<Checksum, Refusal> {
    let Ok(crc32) = u32::from_str_radix(&raw.crc32, 16) else {
        return refuse(
            "checksum, crc32",
            format!("{} is not 32 bits in hex", raw.crc32),
        );
    };
    let fnv1a64 = match &raw.fnv1a64 {
        None => None,
        Some(hex) => match u64::from_str_radix(hex, 16) {
            Ok(hash) => Some(hash),
            Err(_) => return refuse("checksum, fnv1a64", format!("{hex} is not 64 bits in hex")),
        },
    };
    Ok(Checksum { crc32, fnv1a64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"workloads":[{"id":"w","title":"t","tags":{"kind":"chain","core":true},
      "inputs":[{"name":"x","dtype":"f32","shape":[4,6],"gen":"data","const":false},
                {"name":"i","dtype":"i32","shape":[2],"gen":"values","const":true,"values":[[1],[0]]}],
      "ops":[{"op":"StridedSlice","in":["x"],"out":"a","start":[3,0],"size":[2,6],"step":[-2,1]},
             {"op":"Gather","in":["a","i"],"out":"b","axis":1,"batch_dims":0},
             {"op":"Concat","in":["b","b"],"out":"c","axis":0},
             {"op":"Transpose","in":["c"],"out":"d","perm":[1,0]},
             {"op":"Reshape","in":["d"],"out":"e","shape":[8]}],
      "output":"e","output_shape":[8],"output_dtype":"f32","out_bytes":32,
      "checksum":{"crc32":"00000000","fnv1a64":"0000000000000001"}}]}"#;

    fn one(text: &str) -> Result<Workload, WorkloadError> {
        read(text).expect("JSON with a list").remove(0)
    }

    #[test]
    fn a_workload_is_read_with_every_shape_inferred() {
        let workload = one(GOOD).expect("a good workload");
        let shapes: Vec<_> = workload.tensors.iter().map(|t| t.shape.clone()).collect();
        assert_eq!(
            shapes[2..],
            [vec![2, 6], vec![2, 2], vec![4, 2], vec![2, 4], vec![8]]
        );
        assert_eq!(workload.inputs[1].values, Values::Listed(vec![1, 0]));
        assert_eq!(workload.tags.keys().collect::<Vec<_>>(), ["kind"]);
        assert_eq!(workload.checksum.fnv1a64, Some(1));
        assert!(!workload.is_view());
    }

    #[test]
    fn each_fault_is_refused_where_it_stands() {
        let faults = [
            (r#""dtype":"f32""#, r#""dtype":"f33""#, "input x, dtype"),
            (
                r#""shape":[4,6]"#,
                r#""shape":[4,-6]"#,
                "input x, shape, axis 1",
            ),
            (
                r#""shape":[4,6]"#,
                r#""shape":[9223372036854775807,6]"#,
                "input x, shape",
            ),
            (r#"[[1],[0]]"#, r#"[[1],[0],2]"#, "input i, values"),
            (r#"[[1],[0]]"#, r#"[[1],[4294967296]]"#, "input i, values"),
            (r#"[[1],[0]]"#, r#"[[1],["0"]]"#, "input i, values"),
            (
                r#""gen":"data""#,
                r#""gen":"index_hash","mod":0"#,
                "input x, mod",
            ),
            (
                r#""gen":"data""#,
                r#""gen":"index_hash","mod":5"#,
                "input x, gen",
            ),
            (r#""name":"i""#, r#""name":"x""#, "input x"),
            (
                r#""start":[3,0]"#,
                r#""start":[1,0]"#,
                "op 0 (StridedSlice)",
            ),
            (r#""start":[3,0]"#, r#""start":[3]"#, "op 0 (StridedSlice)"),
            (r#""step":[-2,1]"#, r#""step":[0,1]"#, "op 0 (StridedSlice)"),
            (
                r#""step":[-2,1]"#,
                r#""step":[-9223372036854775808,1]"#,
                "op 0 (StridedSlice)",
            ),
            (r#""in":["a","i"]"#, r#""in":["a"]"#, "op 1 (Gather)"),
            (r#""in":["a","i"]"#, r#""in":["a","a"]"#, "op 1 (Gather)"),
            (r#""in":["a","i"]"#, r#""in":["a","q"]"#, "op 1 (Gather)"),
            (
                r#""axis":1,"batch_dims":0"#,
                r#""axis":2,"batch_dims":0"#,
                "op 1 (Gather)",
            ),
            (
                r#""axis":1,"batch_dims":0"#,
                r#""axis":1,"batch_dims":2"#,
                "op 1 (Gather)",
            ),
            (r#""in":["b","b"]"#, r#""in":["b","x"]"#, "op 2 (Concat)"),
            (r#""in":["b","b"]"#, r#""in":[]"#, "op 2 (Concat)"),
            (r#""perm":[1,0]"#, r#""perm":[1,1]"#, "op 3 (Transpose)"),
            (r#""perm":[1,0]"#, r#""perm":[1]"#, "op 3 (Transpose)"),
            (r#""shape":[8]}"#, r#""shape":[7]}"#, "op 4 (Reshape)"),
            (r#""op":"Reshape""#, r#""op":"Resize""#, "op 4 (Resize)"),
            (r#""out":"e""#, r#""out":"d""#, "op 4 (Reshape)"),
            (r#""output":"e""#, r#""output":"f""#, "output"),
            (
                r#""output_shape":[8]"#,
                r#""output_shape":[2,4]"#,
                "output_shape",
            ),
            (r#""out_bytes":32"#, r#""out_bytes":31"#, "out_bytes"),
            (
                r#""crc32":"00000000""#,
                r#""crc32":"0x00""#,
                "checksum, crc32",
            ),
            (r#""inputs""#, r#""in_puts""#, "entry"),
        ];
        for (good, bad, at) in faults {
            let text = GOOD.replacen(good, bad, 1);
            assert_ne!(text, GOOD, "{good}");
            let refused = one(&text).expect_err(bad);
            assert_eq!(
                (refused.workload.as_str(), refused.at.as_str()),
                ("w", at),
                "{refused}"
            );
        }
    }

    #[test]
    fn one_bad_workload_leaves_the_others() {
        let good = GOOD
            .trim_start_matches(r#"{"workloads":["#)
            .trim_end_matches("]}");
        let text = format!(r#"{{"workloads":[{{"inputs":[]}},{good},7]}}"#);
        let list = read(&text).expect("JSON with a list");
        assert_eq!(
            list.iter().map(Result::is_ok).collect::<Vec<_>>(),
            [false, true, false]
        );
        assert_eq!(list[2].as_ref().expect_err("a number").workload, "number 2");
    }

    #[test]
    fn what_is_no_such_file_says_so() {
        assert!(matches!(read("{"), Err(ReadError::Json(_))));
        assert!(matches!(read("[]"), Err(ReadError::NoList)));
        assert!(matches!(
            read(r#"{"workloads":{}}"#),
            Err(ReadError::NoList)
        ));
    }
}
