//! What a workload is once it has been read.

use restride_graph::oracle::{self, Tensor};
use restride_graph::{ElementType, Graph, TensorType};
use std::collections::BTreeMap;

/// How the values of an input are made, as a function of the row-major position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Values {
    /// A hash of the position, in the form that suits the element type.
    Data,
    /// `(hash >> 8) % modulus`: indices into an axis of that size.
    IndexHash(u32),
    /// These integers.
    Listed(Vec<i64>),
}

/// Checksums of the bytes of the right output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Checksum {
    /// CRC-32 as zlib has it.
    pub crc32: u32,
    /// FNV-1a, 64 bits, if the file states it.
    pub fnv1a64: Option<u64>,
}

impl Checksum {
    /// The checksums of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self {
            crc32: super::crc32(bytes),
            fnv1a64: Some(super::fnv1a64(bytes)),
        }
    }

    /// Whether bytes with the checksums `found` may be the right ones.
    pub fn accepts(&self, found: &Self) -> bool {
        self.crc32 == found.crc32
            && match (self.fnv1a64, found.fnv1a64) {
                (Some(expected), Some(got)) => expected == got,
                (None, _) | (_, None) => true,
            }
    }
}

/// One use of data movement.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name.
    pub id: String,
    /// Groups it belongs to: `cls`, `tier`, `kind`, and whatever else the file says in words.
    pub tags: BTreeMap<String, String>,
    /// What it does, with one output. What is known when a kernel is compiled is a constant of it.
    pub graph: Graph,
    /// How each of the graph's inputs is made.
    pub values: Vec<Values>,
    /// What the bytes of the output must come to.
    pub checksum: Checksum,
    /// Bytes a perfect pass reads and writes, if the file states it.
    pub useful_bytes: Option<u64>,
    /// Speed of a perfect pass relative to a memcpy of the output, if the file states it.
    pub limit_ratio: Option<f64>,
}

impl Workload {
    /// A graph with one output whose inputs are made so, and with its right result.
    pub fn of(id: String, graph: Graph, values: Vec<Values>) -> Result<Self, String> {
        let mut workload = Self {
            id,
            tags: BTreeMap::new(),
            graph,
            values,
            checksum: Checksum::of(&[]),
            useful_bytes: None,
            limit_ratio: None,
        };
        workload.checksum = Checksum::of(&workload.evaluate()?);
        workload.limit_ratio = super::limit_ratio(&workload)?;
        Ok(workload)
    }

    /// The types of the inputs, and how their values are made.
    pub fn inputs(&self) -> impl Iterator<Item = (&TensorType, &Values)> {
        let types = self.graph.inputs().iter().map(|&it| self.graph.ty(it));
        types.zip(&self.values)
    }

    /// The values of the inputs.
    pub fn tensors(&self) -> Result<Vec<Tensor>, String> {
        let tensor = |(ty, values): (&TensorType, &Values)| {
            let mut bytes = Vec::new();
            let reserved = bytes.try_reserve_exact(ty.byte_size());
            reserved.map_err(|_| format!("no memory for {ty}"))?;
            bytes.resize(ty.byte_size(), 0);
            values.fill(ty.element(), &mut bytes);
            Tensor::new(ty.clone(), bytes).map_err(|error| error.to_string())
        };
        self.inputs().map(tensor).collect()
    }

    /// The bytes of the output by the operators' definitions.
    pub fn evaluate(&self) -> Result<Vec<u8>, String> {
        let outputs = oracle::eval(&self.graph, &self.tensors()?);
        let output = outputs.map_err(|error| error.to_string())?.pop();
        output.map(Tensor::into_bytes).ok_or("no output".into())
    }

    /// The type of the output.
    pub fn output(&self) -> TensorType {
        self.graph.output_type(&self.graph.outputs()[0])
    }

    /// Whether the output need not be dense: a view of the input is a full answer.
    pub fn is_view(&self) -> bool {
        self.tags.get("kind").is_some_and(|kind| kind == "view")
    }
}

/// The element types whose values a file can describe. `u16` and `c128` are there for sweeps over
/// widths.
pub const ELEMENTS: [ElementType; 7] = [
    ElementType::U8,
    ElementType::U16,
    ElementType::F16,
    ElementType::I32,
    ElementType::F32,
    ElementType::I64,
    ElementType::C128,
];
