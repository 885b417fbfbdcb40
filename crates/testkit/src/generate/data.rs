//! What inputs hold: labels that are all distinct, or given numbers.

use restride_graph::oracle::Tensor;
use restride_graph::{Sample, TensorType};

/// Odd, so that multiplying permutes the bit patterns of every width.
const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
/// How many labels lie between two inputs; prime, so that narrow elements differ as well.
const APART: u128 = 4099;
/// What elements hold that belong to no index.
const NOISE: u8 = 0xa5;

/// The buffer of an input of this type that holds a sample, and a little behind it. Movement is
/// parametric, so one run on labels stands for all data.
#[must_use]
pub fn buffer(sample: &Sample, ty: &TensorType) -> Vec<u8> {
    let width = ty.element().width();
    let elements = ty.required_elements();
    match sample {
        Sample::Labels(input) => {
            let first = u128::from(*input) * APART + 1;
            let mut buffer = Vec::with_capacity((elements + 2) * width);
            for k in 0..elements + 2 {
                let label = (first + k as u128).wrapping_mul(SPREAD);
                // The high bits of the product are the well mixed ones; the low bits are distinct.
                buffer.extend_from_slice(&label.to_le_bytes()[..width]);
            }
            buffer
        }
        Sample::Bits(bits) => {
            let mut buffer = vec![NOISE; (elements + 2) * width];
            let count = ty.numel();
            let all = (0..count).map(|k| bits.get(k % bits.len().max(1)).copied().unwrap_or(0));
            let dense = Tensor::from_bits(ty.clone(), all);
            if let Ok(dense) = dense {
                // The buffer is as long as the type asks for.
                let _ = dense.write_into(ty, &mut buffer);
            }
            buffer
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use restride_graph::ElementType;

    #[test]
    fn labels_are_distinct_wherever_the_width_allows() {
        for element in ElementType::ALL {
            let count = if element.width() == 1 { 200 } else { 5000 };
            let ty = TensorType::dense(element, [count]).expect("a small type");
            let buffer = buffer(&Sample::Labels(3), &ty);
            let mut labels: Vec<&[u8]> = buffer.chunks(element.width()).collect();
            labels.sort_unstable();
            labels.dedup();
            assert_eq!(labels.len(), count as usize + 2, "{element}");
        }
    }
}
