//! What a workload is once it has been read.

use restride_graph::ElementType;
use std::collections::BTreeMap;

/// The element types that workloads use. `u16` and `c128` are there for sweeps over widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Dtype {
    U8,
    U16,
    F16,
    I32,
    F32,
    I64,
    C128,
}

impl Dtype {
    /// All of them, narrow to wide.
    pub const ALL: [Self; 7] = [
        Self::U8,
        Self::U16,
        Self::F16,
        Self::I32,
        Self::F32,
        Self::I64,
        Self::C128,
    ];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::F16 => "f16",
            Self::I32 => "i32",
            Self::F32 => "f32",
            Self::I64 => "i64",
            Self::C128 => "c128",
        }
    }

    /// The element type of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Bytes per element.
    pub const fn width(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 => 8,
            Self::C128 => 16,
        }
    }

    /// Whether its values are integers, so that they can index.
    pub const fn is_integer(self) -> bool {
        match self {
            Self::U8 | Self::U16 | Self::I32 | Self::I64 => true,
            Self::F16 | Self::F32 | Self::C128 => false,
        }
    }

    /// The same type in the tensor IR.
    pub const fn element(self) -> ElementType {
        match self {
            Self::U8 => ElementType::U8,
            Self::U16 => ElementType::U16,
            Self::F16 => ElementType::F16,
            Self::I32 => ElementType::I32,
            Self::F32 => ElementType::F32,
            Self::I64 => ElementType::I64,
            Self::C128 => ElementType::C128,
        }
    }
}

/// The type of a value: dense, row-major.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    /// What an element is.
    pub dtype: Dtype,
    /// The size of each axis, none negative.
    pub shape: Vec<i64>,
}

impl Tensor {
    /// How many bytes it has; `None` past `isize::MAX`.
    pub fn bytes(&self) -> Option<usize> {
        let width = i64::try_from(self.dtype.width()).ok()?;
        if self.shape.contains(&0) {
            return Some(0);
        }
        let bytes = self
            .shape
            .iter()
            .try_fold(width, |product, &size| product.checked_mul(size))?;
        usize::try_from(isize::try_from(bytes).ok()?).ok()
    }
}

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

/// One input of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// Its name in the file.
    pub name: String,
    /// Its type.
    pub tensor: Tensor,
    /// Its values.
    pub values: Values,
    /// Whether the values are known when the kernel is compiled.
    pub constant: bool,
}

/// One operator. Operands are positions in the list of values: inputs first, then one per step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Step {
    StridedSlice {
        x: usize,
        start: Vec<i64>,
        size: Vec<i64>,
        step: Vec<i64>,
    },
    Reshape {
        x: usize,
        shape: Vec<i64>,
    },
    Transpose {
        x: usize,
        perm: Vec<usize>,
    },
    Gather {
        x: usize,
        indices: usize,
        axis: usize,
        batch_dims: usize,
    },
    Concat {
        parts: Vec<usize>,
        axis: usize,
    },
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
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Its name.
    pub id: String,
    /// What it is, in words.
    pub title: String,
    /// Groups it belongs to: `cls`, `tier`, `kind`, and whatever else the file says in words.
    pub tags: BTreeMap<String, String>,
    /// Inputs.
    pub inputs: Vec<Input>,
    /// Operators, in order.
    pub steps: Vec<Step>,
    /// The type of every value: inputs first, then one per step.
    pub tensors: Vec<Tensor>,
    /// Which value is the output.
    pub output: usize,
    /// What its bytes must come to.
    pub checksum: Checksum,
    /// Bytes a perfect pass reads and writes, if the file states it.
    pub useful_bytes: Option<u64>,
    /// Speed of a perfect pass relative to a memcpy of the output, if the file states it.
    pub limit_ratio: Option<f64>,
}

impl Workload {
    /// The type of the output.
    pub fn output_tensor(&self) -> &Tensor {
        &self.tensors[self.output]
    }

    /// Whether the output need not be dense: a view of the input is a full answer.
    pub fn is_view(&self) -> bool {
        self.tags.get("kind").is_some_and(|kind| kind == "view")
    }
}
