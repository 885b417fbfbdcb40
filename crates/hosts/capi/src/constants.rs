//! Numbers that stand for something, and what they stand for.

use restride::ElementType;

/// How a call ended: one of the `RESTRIDE_` statuses.
pub type restride_status = i32;

/// It did what it was asked to.
pub const RESTRIDE_OK: restride_status = 0;
/// An argument is null that may not be, or names nothing.
pub const RESTRIDE_INVALID_ARGUMENT: restride_status = 1;
/// The text is no program.
pub const RESTRIDE_PARSE: restride_status = 2;
/// The program cannot be compiled for these shapes.
pub const RESTRIDE_COMPILE: restride_status = 3;
/// Compiling it would cost more than the budget.
pub const RESTRIDE_TOO_COSTLY: restride_status = 4;
/// A buffer is too short, overlaps another, or there are too many or too few.
pub const RESTRIDE_BUFFERS: restride_status = 5;
/// An index lies outside its axis. No output was written.
pub const RESTRIDE_INDEX: restride_status = 6;
/// Memory is not to be had, or would exceed the limit for scratch.
pub const RESTRIDE_OUT_OF_MEMORY: restride_status = 7;
/// A function of the host's own failed.
pub const RESTRIDE_CALLBACK: restride_status = 8;
/// The host's threads ended in the middle of their work. Outputs may be written in part.
pub const RESTRIDE_INCOMPLETE: restride_status = 9;
/// A defect of restride.
pub const RESTRIDE_PANIC: restride_status = 10;

/// Machine code where that is faster.
pub const RESTRIDE_CODE_NATIVE: u32 = 0;
/// The same, made by a thread of the engine's own.
pub const RESTRIDE_CODE_BACKGROUND: u32 = 1;
/// No machine code.
pub const RESTRIDE_CODE_GENERIC: u32 = 2;
/// Machine code always, which calls nothing.
pub const RESTRIDE_CODE_SELF_CONTAINED: u32 = 3;

/// An output may be any view of an input.
pub const RESTRIDE_VIEWS_ANY: u32 = 0;
/// An output may be all of an input, in order, under another shape.
pub const RESTRIDE_VIEWS_DENSE: u32 = 1;
/// Every output is written.
pub const RESTRIDE_VIEWS_COPY: u32 = 2;

/// The loops of a program.
pub const RESTRIDE_TEXT_KERNEL: u32 = 0;
/// The assembly of its machine code; empty if it has none.
pub const RESTRIDE_TEXT_ASSEMBLY: u32 = 1;

/// `bool`, one byte.
pub const RESTRIDE_BOOL: u32 = 0;
/// `i8`.
pub const RESTRIDE_I8: u32 = 1;
/// `u8`.
pub const RESTRIDE_U8: u32 = 2;
/// `f8e4m3`.
pub const RESTRIDE_F8E4M3: u32 = 3;
/// `f8e4m3fnuz`.
pub const RESTRIDE_F8E4M3FNUZ: u32 = 4;
/// `f8e5m2`.
pub const RESTRIDE_F8E5M2: u32 = 5;
/// `f8e5m2fnuz`.
pub const RESTRIDE_F8E5M2FNUZ: u32 = 6;
/// `f8e8m0`.
pub const RESTRIDE_F8E8M0: u32 = 7;
/// `i16`.
pub const RESTRIDE_I16: u32 = 8;
/// `u16`.
pub const RESTRIDE_U16: u32 = 9;
/// `f16`.
pub const RESTRIDE_F16: u32 = 10;
/// `bf16`.
pub const RESTRIDE_BF16: u32 = 11;
/// `i32`.
pub const RESTRIDE_I32: u32 = 12;
/// `u32`.
pub const RESTRIDE_U32: u32 = 13;
/// `f32`.
pub const RESTRIDE_F32: u32 = 14;
/// `i64`.
pub const RESTRIDE_I64: u32 = 15;
/// `u64`.
pub const RESTRIDE_U64: u32 = 16;
/// `f64`.
pub const RESTRIDE_F64: u32 = 17;
/// `c64`, two `f32`.
pub const RESTRIDE_C64: u32 = 18;
/// `i128`.
pub const RESTRIDE_I128: u32 = 19;
/// `u128`.
pub const RESTRIDE_U128: u32 = 20;
/// `c128`, two `f64`.
pub const RESTRIDE_C128: u32 = 21;

macro_rules! elements {
    ($($name:ident $element:ident,)*) => {
        /// The number of an element type.
        pub(crate) fn number(element: ElementType) -> u32 {
            match element {
                $(ElementType::$element => $name,)*
            }
        }

        /// The element type of a number.
        pub(crate) fn element(number: u32) -> Option<ElementType> {
            match number {
                $($name => Some(ElementType::$element),)*
                _ => None,
            }
        }
    };
}

elements! {
    RESTRIDE_BOOL Bool,
    RESTRIDE_I8 I8,
    RESTRIDE_U8 U8,
    RESTRIDE_F8E4M3 F8E4M3,
    RESTRIDE_F8E4M3FNUZ F8E4M3Fnuz,
    RESTRIDE_F8E5M2 F8E5M2,
    RESTRIDE_F8E5M2FNUZ F8E5M2Fnuz,
    RESTRIDE_F8E8M0 F8E8M0,
    RESTRIDE_I16 I16,
    RESTRIDE_U16 U16,
    RESTRIDE_F16 F16,
    RESTRIDE_BF16 Bf16,
    RESTRIDE_I32 I32,
    RESTRIDE_U32 U32,
    RESTRIDE_F32 F32,
    RESTRIDE_I64 I64,
    RESTRIDE_U64 U64,
    RESTRIDE_F64 F64,
    RESTRIDE_C64 C64,
    RESTRIDE_I128 I128,
    RESTRIDE_U128 U128,
    RESTRIDE_C128 C128,
}

#[cfg(test)]
mod tests {
    use super::{element, number};
    use restride::ElementType;

    #[test]
    fn every_element_has_a_number_of_its_own() {
        for each in ElementType::ALL {
            assert_eq!(element(number(each)), Some(each));
        }
        assert_eq!(element(ElementType::ALL.len() as u32), None);
    }
}
