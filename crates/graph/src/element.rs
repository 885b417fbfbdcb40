//! Element types.
//!
//! Moving data never looks inside an element, so an element is a width and a name. Only integers
//! mean anything here, and only when they index.

use std::fmt;
use std::str::FromStr;

/// The name of an element: only its width matters to movement, only integers can index.
///
/// ```
/// # extern crate restride_graph as restride;
/// use restride::ElementType;
///
/// assert_eq!(ElementType::Bf16.width(), 2);
/// assert_eq!("u8".parse::<ElementType>(), Ok(ElementType::U8));
/// assert!(ElementType::I32.is_integer() && !ElementType::F32.is_integer());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ElementType {
    Bool,
    I8,
    U8,
    F8E4M3,
    F8E4M3Fnuz,
    F8E5M2,
    F8E5M2Fnuz,
    F8E8M0,
    I16,
    U16,
    F16,
    Bf16,
    I32,
    U32,
    F32,
    I64,
    U64,
    F64,
    C64,
    I128,
    U128,
    C128,
}

impl ElementType {
    /// Every element type, narrow to wide.
    pub const ALL: [ElementType; 22] = [
        ElementType::Bool,
        ElementType::I8,
        ElementType::U8,
        ElementType::F8E4M3,
        ElementType::F8E4M3Fnuz,
        ElementType::F8E5M2,
        ElementType::F8E5M2Fnuz,
        ElementType::F8E8M0,
        ElementType::I16,
        ElementType::U16,
        ElementType::F16,
        ElementType::Bf16,
        ElementType::I32,
        ElementType::U32,
        ElementType::F32,
        ElementType::I64,
        ElementType::U64,
        ElementType::F64,
        ElementType::C64,
        ElementType::I128,
        ElementType::U128,
        ElementType::C128,
    ];

    /// The name in the text form, such as `bf16`.
    pub const fn name(self) -> &'static str {
        match self {
            ElementType::Bool => "bool",
            ElementType::I8 => "i8",
            ElementType::U8 => "u8",
            ElementType::F8E4M3 => "f8e4m3",
            ElementType::F8E4M3Fnuz => "f8e4m3fnuz",
            ElementType::F8E5M2 => "f8e5m2",
            ElementType::F8E5M2Fnuz => "f8e5m2fnuz",
            ElementType::F8E8M0 => "f8e8m0",
            ElementType::I16 => "i16",
            ElementType::U16 => "u16",
            ElementType::F16 => "f16",
            ElementType::Bf16 => "bf16",
            ElementType::I32 => "i32",
            ElementType::U32 => "u32",
            ElementType::F32 => "f32",
            ElementType::I64 => "i64",
            ElementType::U64 => "u64",
            ElementType::F64 => "f64",
            ElementType::C64 => "c64",
            ElementType::I128 => "i128",
            ElementType::U128 => "u128",
            ElementType::C128 => "c128",
        }
    }

    /// The width in bytes: 1, 2, 4, 8 or 16.
    pub const fn width(self) -> usize {
        match self {
            ElementType::Bool
            | ElementType::I8
            | ElementType::U8
            | ElementType::F8E4M3
            | ElementType::F8E4M3Fnuz
            | ElementType::F8E5M2
            | ElementType::F8E5M2Fnuz
            | ElementType::F8E8M0 => 1,
            ElementType::I16 | ElementType::U16 | ElementType::F16 | ElementType::Bf16 => 2,
            ElementType::I32 | ElementType::U32 | ElementType::F32 => 4,
            ElementType::I64 | ElementType::U64 | ElementType::F64 | ElementType::C64 => 8,
            ElementType::I128 | ElementType::U128 | ElementType::C128 => 16,
        }
    }

    /// Whether this is an integer, signed or not. `bool` is not.
    pub const fn is_integer(self) -> bool {
        self.is_signed_integer() || self.is_unsigned_integer()
    }

    /// Whether this is a signed integer.
    pub const fn is_signed_integer(self) -> bool {
        matches!(
            self,
            ElementType::I8
                | ElementType::I16
                | ElementType::I32
                | ElementType::I64
                | ElementType::I128
        )
    }

    /// Whether this is an unsigned integer.
    pub const fn is_unsigned_integer(self) -> bool {
        matches!(
            self,
            ElementType::U8
                | ElementType::U16
                | ElementType::U32
                | ElementType::U64
                | ElementType::U128
        )
    }

    /// Whether a tensor of this element can index another: an integer of at most 64 bits.
    pub const fn is_index(self) -> bool {
        self.is_integer() && self.width() <= 8
    }

    /// The number that these bits are as an integer of this type.
    pub const fn number(self, bits: u128) -> i128 {
        let unused = 128 - 8 * self.width() as u32;
        match self.is_signed_integer() {
            true => ((bits << unused) as i128) >> unused,
            false => ((bits << unused) >> unused) as i128,
        }
    }

    /// Dense elements as integers, widened as the type says. What does not fit is the nearest
    /// number that does: for an index both are outside of any axis.
    pub fn integers(self, bytes: &[u8]) -> Vec<i64> {
        fn all<const N: usize>(bytes: &[u8], widen: impl Fn([u8; N]) -> i64) -> Vec<i64> {
            let whole = bytes.as_chunks::<N>().0;
            whole.iter().map(|&element| widen(element)).collect()
        }
        let signed = self.is_signed_integer();
        match (self.width(), signed) {
            (1, true) => all(bytes, |b| i64::from(i8::from_le_bytes(b))),
            (1, false) => all(bytes, |b| i64::from(u8::from_le_bytes(b))),
            (2, true) => all(bytes, |b| i64::from(i16::from_le_bytes(b))),
            (2, false) => all(bytes, |b| i64::from(u16::from_le_bytes(b))),
            (4, true) => all(bytes, |b| i64::from(i32::from_le_bytes(b))),
            (4, false) => all(bytes, |b| i64::from(u32::from_le_bytes(b))),
            (8, true) => all(bytes, i64::from_le_bytes),
            (8, false) => all(bytes, |b| u64::from_le_bytes(b).min(i64::MAX as u64) as i64),
            (_, true) => all(bytes, |b| {
                i128::from_le_bytes(b).clamp(i64::MIN.into(), i64::MAX.into()) as i64
            }),
            (_, false) => all(bytes, |b| {
                u128::from_le_bytes(b).min(i64::MAX as u128) as i64
            }),
        }
    }

    /// The bits that an element may have set: of a `bool` the lowest alone, of others all.
    pub const fn bit_mask(self) -> u128 {
        match (self, self.width()) {
            (Self::Bool, _) => 1,
            (_, 16) => u128::MAX,
            (_, width) => (1u128 << (8 * width)) - 1,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an element type")]
pub struct UnknownElement(pub Box<str>);

impl ElementType {
    /// The element type that other systems call by this word: `float32`, `half`, `uint8`.
    pub fn called(word: &str) -> Option<ElementType> {
        let own = match word {
            "double" => "f64".to_owned(),
            "float" => "f32".to_owned(),
            "half" => "f16".to_owned(),
            "long" | "int" => "i64".to_owned(),
            "short" => "i16".to_owned(),
            "char" => "i8".to_owned(),
            "byte" => "u8".to_owned(),
            "boolean" | "bool_" => "bool".to_owned(),
            _ => {
                let prefixes = [
                    ("bfloat", "bf"),
                    ("float", "f"),
                    ("uint", "u"),
                    ("int", "i"),
                    ("complex", "c"),
                ];
                let mut own = prefixes.iter().filter_map(|(theirs, ours)| {
                    let rest = word.strip_prefix(theirs)?;
                    Some(format!("{ours}{}", rest.replace('_', "")))
                });
                own.next()?
            }
        };
        // Some say that a format has no infinities.
        let finite = own.strip_suffix("fn").unwrap_or(&own);
        own.parse().or_else(|_| finite.parse()).ok()
    }
}

impl FromStr for ElementType {
    type Err = UnknownElement;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        ElementType::ALL
            .into_iter()
            .find(|element| element.name() == word)
            .ok_or_else(|| UnknownElement(word.chars().take(40).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::ElementType;

    #[test]
    fn words_of_other_systems_are_known() {
        let known = |word| ElementType::called(word).map(ElementType::name);
        assert_eq!(known("float32"), Some("f32"));
        assert_eq!(known("bfloat16"), Some("bf16"));
        assert_eq!(known("uint8"), Some("u8"));
        assert_eq!(known("int64"), Some("i64"));
        assert_eq!(known("complex128"), Some("c128"));
        assert_eq!(known("float8_e4m3fn"), Some("f8e4m3"));
        assert_eq!(known("float8_e5m2fnuz"), Some("f8e5m2fnuz"));
        assert_eq!(known("double"), Some("f64"));
        assert_eq!(known("float33"), None);
        assert_eq!(known("str"), None);
    }

    #[test]
    fn integers_widen_and_saturate() {
        let ones = [0xff; 16];
        let cases = [
            (ElementType::I8, vec![-1; 16]),
            (ElementType::U8, vec![255; 16]),
            (ElementType::U16, vec![65_535; 8]),
            (ElementType::I32, vec![-1; 4]),
            (ElementType::U32, vec![i64::from(u32::MAX); 4]),
            (ElementType::I64, vec![-1; 2]),
            (ElementType::U64, vec![i64::MAX; 2]),
            (ElementType::I128, vec![-1]),
            (ElementType::U128, vec![i64::MAX]),
        ];
        for (element, expected) in cases {
            assert_eq!(element.integers(&ones), expected, "{element}");
        }
        assert_eq!(ElementType::I16.integers(&[2, 0, 0, 0x80, 9]), [2, -32_768]);
    }

    #[test]
    fn every_name_parses_back_and_every_width_is_a_power_of_two() {
        for element in ElementType::ALL {
            assert_eq!(element.name().parse(), Ok(element));
            assert!(matches!(element.width(), 1 | 2 | 4 | 8 | 16));
        }
        assert!("f31".parse::<ElementType>().is_err());
    }
}
