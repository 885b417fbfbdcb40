//! Inputs made up on the spot.

use restride_graph::oracle::Tensor;
use restride_graph::{ElementType, TensorType};

use super::element::encode;

/// How the elements of a generated input follow from their position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recipe {
    /// 0, 1, 2, ...
    Iota,
    /// 1, 2, 3, ...
    IotaFromOne,
    /// Bits that look random, the same every time.
    Hash,
    /// All zero bits.
    Zeros,
    /// 0, 1, ... `n - 1`, 0, 1, ...: indices that are in range.
    Modulo(u64),
}

impl Recipe {
    /// The recipe of a name: `iota`, `iota1`, `hash`, `zeros`, or `mod` and a number.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "iota" => Some(Self::Iota),
            "iota1" => Some(Self::IotaFromOne),
            "hash" => Some(Self::Hash),
            "zeros" => Some(Self::Zeros),
            other => {
                let n: u64 = other.strip_prefix("mod")?.parse().ok()?;
                (n > 0).then_some(Self::Modulo(n))
            }
        }
    }

    fn bits(self, element: ElementType, position: u64) -> u128 {
        match self {
            Self::Iota => encode(element, position),
            Self::IotaFromOne => encode(element, position.saturating_add(1)),
            Self::Zeros => 0,
            Self::Modulo(n) => encode(element, position % n),
            Self::Hash => {
                let low = scramble(2 * position);
                let high = scramble(2 * position + 1);
                let bits = u128::from(high) << 64 | u128::from(low);
                match element {
                    ElementType::Bool => bits & 1,
                    _ => bits & element.bit_mask(),
                }
            }
        }
    }

    /// A tensor of a type; nothing when there is no memory for it.
    pub(crate) fn make(self, ty: &TensorType) -> Option<Tensor> {
        let ty = ty.clone().without_layout();
        let width = ty.element().width();
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(ty.byte_size()).ok()?;
        for position in 0..ty.numel() as u64 {
            let bits = self.bits(ty.element(), position);
            bytes.extend_from_slice(&bits.to_le_bytes()[..width]);
        }
        Tensor::new(ty, bytes).ok()
    }
}

/// Splitmix64.
fn scramble(position: u64) -> u64 {
    let mut z = position.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
