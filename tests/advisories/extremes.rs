//! The extremes of `i64` in every integer of every operator.

use crate::support::{answer, indices, iota};
use restride::Graph;
use restride_loops::Random;

/// Operators on `%x: u8[2, 3]`, `%i: i64[2, 1]` and `%d: u8[1, 4, 2, 2]`, with `#` where an
/// integer goes.
const OPERATORS: &[&str] = &[
    "strided_slice %x begin [#, #] end [#, #] strides [#, #]",
    "strided_slice %x begin [0, #] end [#, 3] strides [1, 1] dialect openvino",
    "strided_slice %x begin [0, #] end [#, 3] strides [1, 1] dialect mindspore",
    "strided_slice %x begin [0, 0] end [2, 3] strides [1, 1] begin_mask # end_mask # ellipsis_mask #
        new_axis_mask # shrink_axis_mask #",
    "slice %x start [#] stop [#] step [#] axes [#]",
    "slice %x starts [#] ends [#] steps [#] axes [#]",
    "gather %x, %i axis # batch_dims # out_of_range zero",
    "gather_elements %x, %i axis # out_of_range clamp",
    "gather_nd %x, %i batch_dims # out_of_range zero",
    "reshape %x shape [#, #]",
    "reshape %x shape [#, #] dialect openvino special_zero",
    "reshape %x shape [#, #] dialect onnx",
    "reshape %x shape [#, #] dialect onnx allow_zero",
    "reshape %x shape [#, #] dialect tensorflow",
    "reshape %x shape [#, #] dialect mindspore",
    "transpose %x perm [#, #]",
    "squeeze %d axes [#, #]",
    "unsqueeze %x axes [#, #]",
    "flatten %x axis #",
    "broadcast %x shape [#, #, #]",
    "broadcast %x shape [#, #, #] mode bidirectional",
    "broadcast %x shape [#, #, #] mode explicit axes [#, #]",
    "reverse %x axes [#, #]",
    "roll %x shift [#, #] axes [#, #]",
    "split %x axis # lengths [#, #] part #",
    "concat %x, %x axis #",
    "tile %x repeats [#, #, #]",
    "pad %x low [#, #] high [#, #] constant #",
    "pad %x low [#, #] high [#, #] mode edge",
    "pad %x low [#, #] high [#, #] mode reflect",
    "pad %x low [#, #] high [#, #] mode symmetric",
    "pad %x low [#, #] high [#, #] mode wrap",
    "depth_to_space %d block # order blocks_first",
    "space_to_depth %d block # order depth_first channels last",
    "shuffle_channels %d axis # groups #",
    "center_crop_pad %x shape [#, #] axes [#, #]",
    "reverse_sequence %x lengths [#, #] batch_axis # seq_axis #",
];

const EXTREMES: [i64; 14] = [
    i64::MIN,
    i64::MIN + 1,
    -(1 << 32),
    -(1 << 31) - 1,
    -(1 << 31),
    -2,
    -1,
    0,
    1,
    2,
    1 << 31,
    1 << 32,
    i64::MAX - 1,
    i64::MAX,
];

/// Whether a graph's outputs are small enough to be computed here.
fn small(graph: &Graph) -> bool {
    let outputs = graph.outputs().iter();
    outputs
        .map(|output| graph.output_type(output).byte_size())
        .sum::<usize>()
        < 1 << 16
}

/// Each integer alone is extreme, the others in place; then all of them at random. Each is
/// refused, or means what the definition says, or is too large to be tried.
#[test]
fn i64_min_wherever_an_integer_goes() {
    let (x, i, d) = (iota(6), indices(&[1, 0]), iota(16));
    let (mut refused, mut ran, mut large) = (0u32, 0u32, 0u32);
    let mut random = Random::new(1);
    for operator in OPERATORS {
        let slots = operator.matches('#').count();
        for round in 0..40 * slots {
            let mut text = String::new();
            for (slot, part) in operator.split('#').enumerate() {
                text += part;
                if slot < slots {
                    let extreme = round / 40 == slot && round % 40 < EXTREMES.len();
                    let number = match round % 40 {
                        r if extreme => EXTREMES[r],
                        r if r < EXTREMES.len() => [0, 1, 2][random.below(3)],
                        _ if random.below(3) == 0 => EXTREMES[random.below(EXTREMES.len())],
                        _ => [-1, 0, 1, 2, 3][random.below(5)],
                    };
                    text += &number.to_string();
                }
            }
            let text = format!(
                "func @f(%x: u8[2, 3], %i: i64[2, 1], %d: u8[1, 4, 2, 2]) {{
                    %y = {text} return %y }}"
            );
            match Graph::parse(&text) {
                Err(diagnostics) => {
                    assert!(!diagnostics.to_string().is_empty());
                    refused += 1;
                }
                Ok(graph) if small(&graph) => {
                    let outputs = answer(&text, &[&x, &i, &d]);
                    outputs.unwrap_or_else(|error| panic!("{text}\n{error}"));
                    ran += 1;
                }
                Ok(graph) => {
                    // Compiled, not run. Buffers that fit one by one need not fit together.
                    for engine in crate::support::engines() {
                        if let Err(error) = engine.compile(&graph) {
                            let error = error.to_string();
                            assert!(error.contains(" bytes together"), "{text}\n{error}");
                        }
                    }
                    large += 1;
                }
            }
        }
    }
    println!("{refused} refused, {ran} ran, {large} compiled and too large to run");
    assert!(
        refused > 1000 && ran > 500 && large > 20,
        "{refused} {ran} {large}"
    );
}
