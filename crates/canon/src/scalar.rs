//! Single elements of dense byte strings, in native byte order.

use restride_graph::ElementType;

/// The bits of element `at`; `None` past the end.
pub(crate) fn bits(bytes: &[u8], at: usize, width: usize) -> Option<u128> {
    let start = at.checked_mul(width)?;
    let element = bytes.get(start..start.checked_add(width)?)?;
    let mut wide = [0u8; 16];
    if cfg!(target_endian = "little") {
        wide.get_mut(..width)?.copy_from_slice(element);
    } else {
        wide.get_mut(16usize.checked_sub(width)?..)?
            .copy_from_slice(element);
    }
    Some(u128::from_ne_bytes(wide))
}

/// Appends an element.
pub(crate) fn push(bytes: &mut Vec<u8>, width: usize, bits: u128) {
    if cfg!(target_endian = "little") {
        bytes.extend(bits.to_le_bytes().into_iter().take(width));
    } else {
        bytes.extend(bits.to_be_bytes().into_iter().skip(16 - width));
    }
}

/// The bits of a number in this type; `None` if it does not fit.
pub(crate) fn encode(element: ElementType, value: i128) -> Option<u128> {
    let bits = value as u128 & element.bit_mask();
    (element.number(bits) == value).then_some(bits)
}

/// Row `index` of an axis of size `limit` after wrapping; `None` outside.
pub(crate) fn normalise(index: i128, limit: i64, wrap: bool) -> Option<i64> {
    let limit = i128::from(limit);
    let index = if wrap && index < 0 {
        index.checked_add(limit)?
    } else {
        index
    };
    (0..limit).contains(&index).then_some(index as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for (element, value) in [
            (ElementType::I8, -1),
            (ElementType::I8, -128),
            (ElementType::U8, 255),
            (ElementType::I64, i128::from(i64::MIN)),
            (ElementType::U64, i128::from(u64::MAX)),
        ] {
            let mut bytes = vec![];
            push(&mut bytes, element.width(), encode(element, value).unwrap());
            assert_eq!(bytes.len(), element.width());
            let back = bits(&bytes, 0, element.width()).unwrap();
            assert_eq!(element.number(back), value);
            assert_eq!(bits(&bytes, 1, element.width()), None);
        }
        assert_eq!(encode(ElementType::I8, 128), None);
        assert_eq!(encode(ElementType::U8, -1), None);
    }

    #[test]
    fn an_index_wraps_once() {
        assert_eq!(normalise(-1, 4, true), Some(3));
        assert_eq!(normalise(-4, 4, true), Some(0));
        assert_eq!(normalise(-5, 4, true), None);
        assert_eq!(normalise(-1, 4, false), None);
        assert_eq!(normalise(4, 4, true), None);
        assert_eq!(normalise(0, 0, true), None);
        assert_eq!(normalise(i128::from(i64::MIN), 4, true), None);
    }
}
