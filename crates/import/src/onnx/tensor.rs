//! Tensors of an ONNX file: their elements, their types, and what small ones hold.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path};

use restride_graph::{Constant, ElementType, TensorType};

use super::schema::TensorProto;
use crate::builder::{Fact, MAX_VALUE, unknown};
use crate::error::{ImportError, shown};
use crate::number::{encode, native};

/// The most elements of a tensor of floats that is looked at: larger ones are weights.
const MAX_FLOATS: usize = 1 << 12;

/// The element of ONNX's number, or its name if there is none here.
pub(crate) fn element(number: i64) -> Result<ElementType, String> {
    Ok(match number {
        1 => ElementType::F32,
        2 => ElementType::U8,
        3 => ElementType::I8,
        4 => ElementType::U16,
        5 => ElementType::I16,
        6 => ElementType::I32,
        7 => ElementType::I64,
        9 => ElementType::Bool,
        10 => ElementType::F16,
        11 => ElementType::F64,
        12 => ElementType::U32,
        13 => ElementType::U64,
        14 => ElementType::C64,
        15 => ElementType::C128,
        16 => ElementType::Bf16,
        17 => ElementType::F8E4M3,
        18 => ElementType::F8E4M3Fnuz,
        19 => ElementType::F8E5M2,
        20 => ElementType::F8E5M2Fnuz,
        24 => ElementType::F8E8M0,
        0 => return Err("its element type is not said".into()),
        8 => return Err("STRING elements are not moved".into()),
        21 => return Err(narrow("UINT4")),
        22 => return Err(narrow("INT4")),
        23 => return Err(narrow("FLOAT4E2M1")),
        25 => return Err(narrow("UINT2")),
        26 => return Err(narrow("INT2")),
        other => return Err(format!("element type {other} is not known")),
    })
}

/// The number of an element in a file.
pub(super) fn number(of: ElementType) -> Option<i64> {
    (1..=24).find(|&number| element(number) == Ok(of))
}

fn narrow(name: &str) -> String {
    format!("{name} elements are narrower than a byte")
}

/// What is known of a tensor that stands in a file.
pub(super) fn fact(tensor: &TensorProto<'_>, folder: Option<&Path>) -> Result<Fact, ImportError> {
    let external = external(tensor)?;
    let element = match element(tensor.data_type) {
        Ok(element) => element,
        Err(why) => {
            return Ok(Fact {
                ty: Err(unknown(&format!("\"{}\"", shown(tensor.name)), &why)),
                value: None,
                fixed: true,
            });
        }
    };
    let ty = TensorType::dense(element, &tensor.dims)
        .map_err(|error| ImportError::new(error.to_string()).inside("dims"))?;
    let most = if element.is_integer() {
        MAX_VALUE
    } else {
        MAX_FLOATS
    };
    let mut value = None;
    if ty.numel() <= most {
        let bytes = match external {
            None => Some(bytes(tensor, &ty)?),
            Some(place) => match folder {
                Some(folder) => Some(place.read(folder, ty.byte_size())?),
                None => None,
            },
        };
        if let Some(bytes) = bytes {
            let constant = Constant::new(ty.clone(), native(bytes, element));
            value = Some(constant.map_err(|error| ImportError::new(error.to_string()))?);
        }
    } else if let Some(raw) = tensor.raw_data
        && raw.len() != ty.byte_size()
    {
        let what = format!(
            "{} bytes for {ty}, which takes {}",
            raw.len(),
            ty.byte_size()
        );
        return Err(ImportError::new(what).inside("raw_data"));
    }
    Ok(Fact {
        ty: Ok(ty),
        value,
        fixed: true,
    })
}

/// What a tensor holds, whatever its size; its data has to be in it.
pub(super) fn constant(tensor: &TensorProto<'_>) -> Result<Constant, ImportError> {
    if external(tensor)?.is_some() {
        return Err(ImportError::new("its data is in another file"));
    }
    let element = element(tensor.data_type).map_err(ImportError::new)?;
    let ty = TensorType::dense(element, &tensor.dims)
        .map_err(|error| ImportError::new(error.to_string()).inside("dims"))?;
    let bytes = native(bytes(tensor, &ty)?, element);
    Constant::new(ty, bytes).map_err(|error| ImportError::new(error.to_string()))
}

/// The bytes of a tensor, little-endian.
fn bytes(tensor: &TensorProto<'_>, ty: &TensorType) -> Result<Vec<u8>, ImportError> {
    let wrong = |what: String, field: &str| Err(ImportError::new(what).inside(field));
    if let Some(raw) = tensor.raw_data {
        return match raw.len() == ty.byte_size() {
            true => Ok(raw.to_vec()),
            false => wrong(
                format!(
                    "{} bytes for {ty}, which takes {}",
                    raw.len(),
                    ty.byte_size()
                ),
                "raw_data",
            ),
        };
    }
    let (element, width) = (ty.element(), ty.element().width());
    let mut bytes = Vec::new();
    let field = match element {
        // Complex numbers are two floats each.
        ElementType::F32 | ElementType::C64 => {
            bytes.extend(tensor.float_data.iter().flat_map(|n| n.to_le_bytes()));
            "float_data"
        }
        ElementType::F64 | ElementType::C128 => {
            bytes.extend(tensor.double_data.iter().flat_map(|n| n.to_le_bytes()));
            "double_data"
        }
        ElementType::I64 => {
            bytes.extend(tensor.int64_data.iter().flat_map(|n| n.to_le_bytes()));
            "int64_data"
        }
        ElementType::U64 | ElementType::U32 => {
            let numbers = tensor.uint64_data.iter();
            bytes.extend(numbers.flat_map(|n| n.to_le_bytes()[..width].to_vec()));
            "uint64_data"
        }
        // Narrow elements, halves among them, stand as bits in whole numbers.
        _ => {
            let numbers = tensor.int32_data.iter();
            bytes.extend(numbers.flat_map(|n| n.to_le_bytes()[..width].to_vec()));
            "int32_data"
        }
    };
    match bytes.len() == ty.byte_size() {
        true => Ok(bytes),
        false => wrong(
            format!("{} elements for {ty}", bytes.len() / width.max(1)),
            field,
        ),
    }
}

/// Where the data of a tensor lie in another file.
struct External<'a> {
    location: &'a str,
    offset: u64,
}

/// Whether its data lie in another file, and where; refused if that is not beside the model.
fn external<'a>(tensor: &TensorProto<'a>) -> Result<Option<External<'a>>, ImportError> {
    if tensor.data_location != 1 {
        return Ok(None);
    }
    let entry = |key: &str| {
        let found = tensor.external_data.iter().find(|entry| entry.key == key);
        found.map(|entry| entry.value)
    };
    let wrong = |what: String| Err(ImportError::new(what).inside("external_data"));
    let Some(location) = entry("location") else {
        return wrong("it names no file".into());
    };
    let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if location.is_empty() || !Path::new(location).components().all(inside) {
        return wrong(format!("`{}` is not beside the model", shown(location)));
    }
    let offset = match entry("offset") {
        None => 0,
        Some(text) => match text.parse() {
            Ok(offset) => offset,
            Err(_) => return wrong(format!("offset `{}` is no number", shown(text))),
        },
    };
    Ok(Some(External { location, offset }))
}

impl External<'_> {
    fn read(&self, folder: &Path, bytes: usize) -> Result<Vec<u8>, ImportError> {
        let wrong = |what: String| {
            let what = format!("`{}`: {what}", shown(self.location));
            ImportError::new(what).inside("external_data")
        };
        let io = |error: std::io::Error| wrong(error.to_string());
        // A link may lead elsewhere.
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        let folder = folder.canonicalize().map_err(io)?;
        let path = folder.join(self.location).canonicalize().map_err(io)?;
        if !path.starts_with(&folder) {
            return Err(wrong("is not beside the model".into()));
        }
        let mut file = std::fs::File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let end = self.offset.checked_add(bytes as u64);
        if end.is_none_or(|end| end > length) {
            let what = format!("{bytes} bytes at {} of {length}", self.offset);
            return Err(wrong(what));
        }
        file.seek(SeekFrom::Start(self.offset)).map_err(io)?;
        let mut data = vec![0; bytes];
        file.read_exact(&mut data).map_err(io)?;
        Ok(data)
    }
}

/// A list of floats as a constant.
pub(super) fn floats(list: &[f32], shape: &[i64]) -> Result<Constant, ImportError> {
    let ty = TensorType::dense(ElementType::F32, shape);
    let ty = ty.map_err(|error| ImportError::new(error.to_string()))?;
    let bits = |n: &f32| encode(ElementType::F32, f64::from(*n), None).unwrap_or_default() as u32;
    let bytes: Vec<u8> = list.iter().flat_map(|n| bits(n).to_ne_bytes()).collect();
    Constant::new(ty, bytes).map_err(|error| ImportError::new(error.to_string()))
}

/// A list of whole numbers as a constant.
pub(super) fn ints(list: &[i64], shape: &[i64]) -> Result<Constant, ImportError> {
    let numbers: Vec<i128> = list.iter().copied().map(i128::from).collect();
    Constant::from_integers(ElementType::I64, shape, &numbers)
        .map_err(|error| ImportError::new(error.to_string()))
}
