//! The values of inputs: a hash of each position, so that no file has to carry data.

use super::{Dtype, Input, Values};

/// The hash of position `i`: the finaliser of MurmurHash3 on `i + 1`.
pub const fn fmix32(i: u32) -> u32 {
    let mut z = i.wrapping_add(1);
    z ^= z >> 16;
    z = z.wrapping_mul(0x85EB_CA6B);
    z ^= z >> 13;
    z = z.wrapping_mul(0xC2B2_AE35);
    z ^ (z >> 16)
}

/// Writes the values of `input`, little-endian, over all of `bytes`.
///
/// `bytes` holds whole elements; where a list of values is shorter than it, the rest becomes 0.
pub fn fill(input: &Input, bytes: &mut [u8]) {
    let dtype = input.tensor.dtype;
    match &input.values {
        Values::Data => match dtype {
            Dtype::F32 => put(bytes, |h, _| unit_f32(h).to_le_bytes()),
            Dtype::F16 => put(bytes, |h, _| f16_of_11_bits(h >> 21).to_le_bytes()),
            Dtype::U8 => put(bytes, |h, _| [(h >> 24).to_le_bytes()[0]]),
            Dtype::U16 => put(bytes, |h, _| {
                let [a, b, _, _] = (h >> 1).to_le_bytes();
                [a, b]
            }),
            Dtype::I32 => put(bytes, |h, _| (h >> 1).to_le_bytes()),
            Dtype::I64 => put(bytes, |h, _| u64::from(h >> 1).to_le_bytes()),
            Dtype::C128 => put(bytes, |h, i| {
                (u128::from(h) | u128::from(i) << 64).to_le_bytes()
            }),
        },
        Values::IndexHash(modulus) => {
            let modulus = (*modulus).max(1);
            put_integers(bytes, dtype, |h, _| i64::from((h >> 8) % modulus));
        }
        Values::Listed(values) => put_integers(bytes, dtype, |_, i| {
            values.get(i as usize).copied().unwrap_or(0)
        }),
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

fn put<const WIDTH: usize>(bytes: &mut [u8], value: impl Fn(u32, u32) -> [u8; WIDTH]) {
    let mut position = 0u32;
    for element in bytes.chunks_exact_mut(WIDTH) {
        element.copy_from_slice(&value(fmix32(position), position));
        position = position.wrapping_add(1);
    }
}

fn put_integers(bytes: &mut [u8], dtype: Dtype, value: impl Fn(u32, u32) -> i64) {
    let width = dtype.width();
    let mut position = 0u32;
    for element in bytes.chunks_exact_mut(width) {
        let value = i128::from(value(fmix32(position), position)).to_le_bytes();
        element.copy_from_slice(&value[..width]);
        position = position.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tensor;
    use super::*;

    fn made(dtype: Dtype, values: Values, count: usize) -> Vec<u8> {
        let input = Input {
            name: "x".into(),
            tensor: Tensor {
                dtype,
                shape: vec![count as i64],
            },
            values,
            constant: false,
        };
        let mut bytes = vec![0xAA; count * dtype.width()];
        fill(&input, &mut bytes);
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
        for dtype in Dtype::ALL {
            let bytes = made(dtype, Values::Data, 1000);
            assert!(
                bytes
                    .chunks(dtype.width())
                    .any(|e| e != &bytes[..dtype.width()])
            );
        }
        let wide = made(Dtype::C128, Values::Data, 5000);
        let distinct: std::collections::BTreeSet<_> = wide.chunks(16).collect();
        assert_eq!(distinct.len(), 5000);
    }

    #[test]
    fn indices_stay_below_the_modulus_and_lists_are_kept() {
        for i in made(Dtype::I32, Values::IndexHash(7), 1000).chunks(4) {
            assert!(u32::from_le_bytes([i[0], i[1], i[2], i[3]]) < 7);
        }
        let listed = made(Dtype::I64, Values::Listed(vec![3, -1]), 2);
        assert_eq!(listed[..8], 3i64.to_le_bytes());
        assert_eq!(listed[8..], (-1i64).to_le_bytes());
    }
}
