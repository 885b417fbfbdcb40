//! Where the constants of x86-64 instructions are, to be changed.

use iced_x86::{Decoder, DecoderOptions};

/// Bytes and bits of the constants of an instruction.
pub(crate) fn constants(code: &[u8], at: usize) -> Vec<(usize, u8)> {
    let mut decoder = Decoder::with_ip(64, &code[at..], at as u64, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let offsets = decoder.get_constant_offsets(&instruction);
    let mut places = Vec::new();
    let fields = [
        (
            offsets.has_displacement(),
            offsets.displacement_offset(),
            offsets.displacement_size(),
        ),
        (
            offsets.has_immediate(),
            offsets.immediate_offset(),
            offsets.immediate_size(),
        ),
    ];
    for (present, offset, size) in fields {
        if !present {
            continue;
        }
        let first = at + offset;
        places.extend([
            (first, 1),
            (first, 8),
            (first, 0x80),
            (first + size - 1, 0x40),
        ]);
        if size > 1 {
            places.push((first + 1, 1));
        }
    }
    places
}
