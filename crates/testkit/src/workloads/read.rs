//! From the text of a workloads file to [`Workload`]s.
//!
//! One bad workload does not spoil the others: each entry of the list is read on its own.

use super::{Checksum, ELEMENTS, Values, Workload};
use restride_graph::{
    Constant, ElementType, Graph, IndexRule, Ints, Op, OutOfRange, ReshapeDialect, SliceDialect,
    TensorType, ValueId,
};
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
struct FileEntry {
    id: String,
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
    kind: ParameterKind,
}

#[derive(Deserialize)]
#[serde(tag = "op")]
enum ParameterKind {
    StridedSlice {
        start: Vec<i64>,
        size: Vec<i64>,
        step: Vec<i64>,
    },
    Reshape {
        shape: Vec<i64>,
    },
    Transpose {
        perm: Vec<u8>,
    },
    Gather {
        axis: u8,
        #[serde(default)]
        batch_dims: u8,
    },
    Concat {
        axis: u8,
    },
}

/// Indices of workloads are in range and not negative. `zero` without wrapping promises no more
/// than that: an index is compared once, and nothing has to be checked before the first write.
pub const IN_RANGE: IndexRule = IndexRule {
    out_of_range: OutOfRange::Zero,
    wrap: false,
};

/// The most bytes of constants that a workload may have.
const CONSTANTS: usize = 1 << 20;

fn workload(value: Value) -> Result<Workload, Refusal> {
    let entry = FileEntry::deserialize(value).map_err(|e| ("entry".to_owned(), e.to_string()))?;
    let mut graph = Graph::new(entry.id.as_str());
    let (mut names, mut values, mut constants) = (HashMap::new(), Vec::new(), 0);
    for (number, raw) in entry.inputs.iter().enumerate() {
        let of_input = |(at, problem)| (format!("input {}, {at}", raw.name), problem);
        let (ty, made) = input(raw).map_err(of_input)?;
        let refused = |problem: String| (format!("input {}", raw.name), problem);
        let value = if raw.constant {
            constants += ty.byte_size();
            if constants > CONSTANTS {
                let problem = format!("more than {CONSTANTS} bytes of constants");
                return Err(refused(problem));
            }
            let mut bytes = vec![0; ty.byte_size()];
            made.fill(ty.element(), &mut bytes);
            let constant = Constant::new(ty, bytes).map_err(|e| refused(e.to_string()))?;
            graph.constant(constant)
        } else {
            values.push(made);
            // Names of a file may be anything; those of a graph are identifiers.
            let named = graph.typed_input(&raw.name, ty.clone());
            named.or_else(|_| graph.typed_input(&format!("input_{number}"), ty))
        };
        let value = value.map_err(|e| refused(e.to_string()))?;
        if names.insert(raw.name.clone(), value).is_some() {
            return Err(refused("the name is taken".into()));
        }
    }
    for (number, raw) in entry.ops.into_iter().enumerate() {
        let at = match raw.get("op").and_then(Value::as_str) {
            Some(word) => format!("op {number} ({word})"),
            None => format!("op {number}"),
        };
        let (op, out) = operator(raw, &graph, &names).map_err(|problem| (at.clone(), problem))?;
        let value = graph.push(op).map_err(|e| (at.clone(), e.to_string()))?;
        if names.insert(out.clone(), value).is_some() {
            return refuse(at, format!("the name {out} is taken"));
        }
    }
    let Some(&output) = names.get(&entry.output) else {
        return refuse("output", format!("no value is named {}", entry.output));
    };
    graph
        .output(output)
        .map_err(|e| ("output".to_owned(), e.to_string()))?;
    let made = graph.ty(output);
    if made.shape() != entry.output_shape || made.element().name() != entry.output_dtype {
        let (shape, dtype) = (&entry.output_shape, &entry.output_dtype);
        return refuse(
            "output_shape",
            format!("{dtype}{shape:?}; the operators make {made}"),
        );
    }
    let bytes = made.byte_size() as u64;
    if entry.out_bytes.is_some_and(|stated| stated != bytes) {
        return refuse("out_bytes", format!("not the {bytes} of the output"));
    }
    Ok(Workload {
        id: entry.id,
        tags: words(entry.tags),
        graph,
        values,
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

fn input(raw: &EntryInput) -> Result<(TensorType, Values), Refusal> {
    let mut known = ELEMENTS.into_iter();
    let Some(element) = known.find(|element| element.name() == raw.dtype) else {
        let known = ELEMENTS.map(ElementType::name).join(", ");
        return refuse("dtype", format!("{}; known are {known}", raw.dtype));
    };
    let ty = TensorType::dense(element, &raw.shape);
    let ty = ty.map_err(|error| ("shape".to_owned(), error.to_string()))?;
    let whole = |at: &str| match element.is_integer() {
        true => Ok(()),
        false => refuse(at, format!("{} holds no integers", element.name())),
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
                Some(values) => flatten(values, element, &mut listed)?,
                None => return refuse("values", "missing"),
            }
            if listed.len() != ty.numel() {
                return refuse("values", format!("{} of them for {ty}", listed.len()));
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
    Ok((ty, values))
}

/// Values in row-major order, nested or not.
fn flatten(value: &Value, element: ElementType, listed: &mut Vec<i64>) -> Result<(), Refusal> {
    match value {
        Value::Array(parts) => parts
            .iter()
            .try_for_each(|part| flatten(part, element, listed)),
        Value::Number(number) => {
            let fits = |it: &i64| element.number(*it as u128 & element.bit_mask()) == (*it).into();
            match number.as_i64().filter(fits) {
                Some(value) => listed.push(value),
                None => return refuse("values", format!("{number} is no {}", element.name())),
            }
            Ok(())
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_) => {
            refuse("values", format!("{value} is no integer"))
        }
    }
}

fn operator(
    raw: Value,
    graph: &Graph,
    names: &HashMap<String, ValueId>,
) -> Result<(Op, String), String> {
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
    let op = match raw.kind {
        ParameterKind::StridedSlice { start, size, step } => {
            count(1)?;
            region(graph, operands[0], &start, &size, &step)?
        }
        ParameterKind::Reshape { shape } => {
            count(1)?;
            Op::Reshape {
                x: operands[0],
                dialect: ReshapeDialect::Plain,
                pattern: shape.into(),
            }
        }
        ParameterKind::Transpose { perm } => {
            count(1)?;
            let x = operands[0];
            match perm.is_empty() && graph.ty(x).rank() == 0 {
                true => Op::Identity { x },
                false => Op::Transpose {
                    x,
                    perm: perm.into_iter().map(i64::from).collect(),
                },
            }
        }
        ParameterKind::Gather { axis, batch_dims } => {
            count(2)?;
            Op::Gather {
                x: operands[0],
                indices: operands[1],
                axis: axis.into(),
                batch_dims: batch_dims.into(),
                rule: IN_RANGE,
            }
        }
        ParameterKind::Concat { axis } => Op::Concat {
            parts: operands.into(),
            axis: axis.into(),
        },
    };
    Ok((op, raw.out))
}

/// The slice of so many elements along each axis, all of which are there.
pub fn region(
    graph: &Graph,
    x: ValueId,
    start: &[i64],
    size: &[i64],
    step: &[i64],
) -> Result<Op, String> {
    let shape = graph.ty(x).shape();
    if [start, size, step].iter().any(|it| it.len() != shape.len()) {
        return Err(format!("{start:?}, {size:?}, {step:?} of {shape:?}"));
    }
    let mut range = [Ints::new(), Ints::new(), Ints::new()];
    for (axis, &extent) in shape.iter().enumerate() {
        let (start, size, step) = (start[axis], size[axis], step[axis]);
        let last = i128::from(start) + (i128::from(size) - 1) * i128::from(step);
        let inside = 0..i128::from(extent);
        let there = inside.contains(&start.into()) && inside.contains(&last);
        if step == 0 || size < 0 || (size > 0 && !there) {
            return Err(format!(
                "axis {axis}: {size} elements from {start} by {step} of {extent}"
            ));
        }
        // A negative stop would count from the end, so one before the first element is as far away
        // as can be. Where there is at most one element, any step is the same as 1.
        let spelled = match size {
            0 => [0, 0, 1],
            1 => [start, start + 1, 1],
            _ => {
                let stop = match last + i128::from(step) {
                    before if before < 0 => i64::MIN,
                    stop => i64::try_from(stop).unwrap_or(i64::MAX),
                };
                [start, stop, step]
            }
        };
        range
            .iter_mut()
            .zip(spelled)
            .for_each(|(all, it)| all.push(it));
    }
    let [start, stop, step] = range;
    Ok(Op::Slice {
        x,
        dialect: SliceDialect::OpenVino,
        start,
        stop,
        step,
        axes: None,
    })
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
        let shapes = workload
            .graph
            .values()
            .map(|v| workload.graph.ty(v).shape());
        let shapes: Vec<_> = shapes.map(<[i64]>::to_vec).collect();
        assert_eq!(
            shapes[2..],
            [vec![2, 6], vec![2, 2], vec![4, 2], vec![2, 4], vec![8]]
        );
        assert_eq!(workload.values, [Values::Data]);
        let constant = workload.graph.values().nth(1).expect("the indices");
        assert!(matches!(workload.graph.op(constant), Op::Constant(c) if c.integer(0) == Some(1)));
        assert_eq!(workload.tags.keys().collect::<Vec<_>>(), ["kind"]);
        assert_eq!(workload.checksum.fnv1a64, Some(1));
        assert!(!workload.is_view());
    }

    #[test]
    fn each_fault_is_refused_where_it_stands() {
        let faults = [
            (r#""dtype":"f32""#, r#""dtype":"f33""#, "input x, dtype"),
            (r#""shape":[4,6]"#, r#""shape":[4,-6]"#, "input x, shape"),
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
