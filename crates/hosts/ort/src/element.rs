//! Elements by ONNX's numbers.

use restride::ElementType;
use std::ffi::c_int;

const ELEMENTS: [(c_int, ElementType); 19] = [
    (1, ElementType::F32),
    (2, ElementType::U8),
    (3, ElementType::I8),
    (4, ElementType::U16),
    (5, ElementType::I16),
    (6, ElementType::I32),
    (7, ElementType::I64),
    (9, ElementType::Bool),
    (10, ElementType::F16),
    (11, ElementType::F64),
    (12, ElementType::U32),
    (13, ElementType::U64),
    (14, ElementType::C64),
    (15, ElementType::C128),
    (16, ElementType::Bf16),
    (17, ElementType::F8E4M3),
    (18, ElementType::F8E4M3Fnuz),
    (19, ElementType::F8E5M2),
    (20, ElementType::F8E5M2Fnuz),
];

/// Whether a number of ONNX's is this element.
#[inline]
pub(crate) fn is(number: c_int, element: ElementType) -> bool {
    let mut all = ELEMENTS.iter();
    all.any(|&(known, other)| known == number && other == element)
}

/// ONNX's number of an element.
pub(crate) fn number(element: ElementType) -> Option<c_int> {
    let mut all = ELEMENTS.iter();
    all.find_map(|&(number, other)| (other == element).then_some(number))
}
