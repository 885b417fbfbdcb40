//! Element types by OpenVINO's words.

use restride_graph::ElementType;

/// The element of a word, such as `f32` in attributes or `FP32` at ports.
pub(crate) fn element(word: &str) -> Result<ElementType, String> {
    Ok(match word.to_ascii_lowercase().as_str() {
        "f32" | "fp32" => ElementType::F32,
        "f16" | "fp16" => ElementType::F16,
        "f64" | "fp64" => ElementType::F64,
        "bf16" => ElementType::Bf16,
        "i8" => ElementType::I8,
        "u8" => ElementType::U8,
        "i16" => ElementType::I16,
        "u16" => ElementType::U16,
        "i32" => ElementType::I32,
        "u32" => ElementType::U32,
        "i64" => ElementType::I64,
        "u64" => ElementType::U64,
        "bool" | "boolean" => ElementType::Bool,
        "f8e4m3" => ElementType::F8E4M3,
        "f8e5m2" => ElementType::F8E5M2,
        "f8e8m0" => ElementType::F8E8M0,
        "u1" | "u2" | "u3" | "u4" | "u6" | "i4" | "nf4" | "f4e2m1" => {
            return Err(format!("{word} elements are narrower than a byte"));
        }
        _ => {
            return Err(format!(
                "element type `{}` is not known",
                crate::error::shown(word)
            ));
        }
    })
}
