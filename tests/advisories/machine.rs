//! Machine code: where a code generator turned a right address into a wrong one.

use crate::support::{bytes, indexed, iota, value};

/// Indices that a register sign-extends, or does not, on the way to an address.
#[test]
fn cve_2021_32629_spilled_indices_keep_their_sign() {
    // Many indexed axes at once, so that some of what was loaded has to leave the registers.
    let text = indexed(
        "u8[2, 2, 2, 2, 2, 2]",
        "i32[5, 6]",
        "gather_nd %x, %i out_of_range zero wrap",
    );
    let i = [
        [-1, -1, -1, -1, -1, -1],
        [-2, 1, -2, 1, -2, 1],
        [0, 0, 0, 0, 0, -3],
        [i32::MIN, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 1, i32::MAX],
    ];
    let i = bytes(i.as_flattened(), i32::to_ne_bytes);
    assert_eq!(value(&text, &[&iota(64), &i]), [63, 21, 0, 0, 0]);
}

/// A shift folded into an address lost the bits above 32.
#[test]
fn cve_2023_26489_scaled_indices_are_64_bits() {
    // 16-byte elements and indices whose product with 16 is small again in 32 bits.
    let text = indexed(
        "c128[4]",
        "u32[4]",
        "gather %x, %i axis 0 out_of_range zero",
    );
    let i = bytes(&[0x1000_0001, 1, 0xf000_0002, 3], u32::to_ne_bytes);
    let x = iota(64);
    let wanted = [
        [0; 16],
        x[16..32].try_into().expect("16"),
        [0; 16],
        x[48..].try_into().expect("16"),
    ];
    assert_eq!(value(&text, &[&x, &i]), wanted.concat());
}

/// Loads were sunk into wider ones, constants into addresses: each width, each offset, exactly
/// fitting buffers.
#[test]
fn cve_2026_24116_34944_and_34971_loads_are_as_wide_as_their_elements() {
    for (element, width) in [("u8", 1), ("u16", 2), ("u32", 4), ("u64", 8), ("c128", 16)] {
        for offset in 0..4usize {
            for count in 1..=(200 / width - 4).min(12) {
                let text = format!(
                    "func @f(%x: {element}[{count}] strides [-1] offset {}) {{
                        %y = identity %x return %y }}",
                    count - 1 + offset
                );
                let x = iota(((count + offset) * width) as u8);
                let wanted: Vec<u8> = x[offset * width..]
                    .chunks(width)
                    .rev()
                    .flatten()
                    .copied()
                    .collect();
                assert_eq!(value(&text, &[&x]), wanted);
            }
        }
    }
}
