//! The values of inputs: a hash of each position, so that no file has to carry data.

use super::Values;
use restride_graph::ElementType;

/// The hash of position `i`: the finaliser of MurmurHash3 on `i + 1`.
const fn fmix32(i: u32) -> u32 {
    let mut z = i.wrapping_add(1);
    z ^= z >> 16;
    z = z.wrapping_mul(0x85EB_CA6B);
    z ^= z >> 13;
    z = z.wrapping_mul(0xC2B2_AE35);
    z ^ (z >> 16)
}

impl Values {
    /// Writes the values of an input, little-endian, over all of `bytes`.
    ///
    /// `bytes` holds whole elements; where a list of values is shorter than it, the rest becomes 0.
    pub fn fill(&self, element: ElementType, bytes: &mut [u8]) {
        let mut put = |value: &dyn Fn(u32, u32) -> u128| {
            let width = element.width();
            for (position, place) in bytes.chunks_exact_mut(width).enumerate() {
                let position = position as u32;
                let bits = value(fmix32(position), position);
                place.copy_from_slice(&bits.to_le_bytes()[..width]);
            }
        };
        match (self, element) {
            (Self::Data, ElementType::F32) => put(&|h, _| unit_f32(h).to_bits().into()),
            (Self::Data, ElementType::F16) => put(&|h, _| f16_of_11_bits(h >> 21).into()),
            (Self::Data, ElementType::U8) => put(&|h, _| (h >> 24).into()),
            (Self::Data, ElementType::C128) => {
                put(&|h, i| u128::from(h) | u128::from(i) << 64);
            }
            (Self::Data, _) => put(&|h, _| (h >> 1).into()),
            (Self::IndexHash(modulus), _) => put(&|h, _| ((h >> 8) % (*modulus).max(1)).into()),
            (Self::Listed(values), _) => {
                let at = |i: u32| values.get(i as usize).copied().unwrap_or(0);
                put(&|_, i| i128::from(at(i)) as u128);
            }
        }
    }
}

/// `h >> 8` scaled into `0..1`, exact.
fn unit_f32(h: u32) -> f32 {
    (h >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// The bits of an integer below 2048 as a half-precision number, exact.
const fn f16_of_11_bits(value: u32) -> u16 {
    if value == 0 {
        return 0;
    }
    let exponent = value.ilog2();
    (((exponent + 15) << 10) | ((value << (10 - exponent)) & 0x3FF)) as u16
}

#[cfg(test)]
mod tests {
    use super::super::ELEMENTS;
    use super::*;

    fn made(element: ElementType, values: Values, count: usize) -> Vec<u8> {
        let mut bytes = vec![0xAA; count * element.width()];
        values.fill(element, &mut bytes);
        bytes
    }

    #[test]
    fn the_hash_is_the_published_finaliser() {
        assert_eq!(fmix32(0), 0x514E_28B7);
        assert_eq!(fmix32(u32::MAX), 0);
    }

    #[test]
    fn halves_are_exact_integers() {
        for value in 0..2048u32 {
            let bits = f16_of_11_bits(value);
            let (exponent, fraction) = (i32::from(bits >> 10), f64::from(bits & 0x3FF));
            let back = if bits == 0 {
                0.0
            } else {
                (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15)
            };
            assert_eq!(back, f64::from(value));
        }
    }

    #[test]
    fn every_width_is_filled_and_labels_differ() {
        for element in ELEMENTS {
            let bytes = made(element, Values::Data, 1000);
            let mut elements = bytes.chunks(element.width());
            assert!(elements.any(|it| it != &bytes[..element.width()]));
        }
        let wide = made(ElementType::C128, Values::Data, 5000);
        let distinct: std::collections::BTreeSet<_> = wide.chunks(16).collect();
        assert_eq!(distinct.len(), 5000);
    }

    #[test]
    fn indices_stay_below_the_modulus_and_lists_are_kept() {
        for i in made(ElementType::I32, Values::IndexHash(7), 1000).chunks(4) {
            assert!(u32::from_le_bytes([i[0], i[1], i[2], i[3]]) < 7);
        }
        let listed = made(ElementType::I64, Values::Listed(vec![3, -1]), 2);
        assert_eq!(listed[..8], 3i64.to_le_bytes());
        assert_eq!(listed[8..], (-1i64).to_le_bytes());
    }
}
