//! Inputs made up on the spot.

use restride_graph::oracle::Tensor;
use restride_graph::{ElementType, Sample, TensorType};
use restride_testkit::generate::buffer;

use super::element::encode;

/// How the elements of a generated input follow from their position.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Numbers below `n` in no order, the same every time: indices that are in range.
    HashModulo(u64),
    /// Labels that differ, or given bits.
    Said(Sample),
}

/// The recipes, for the help text.
pub(crate) const RECIPES: &str = "\
Sources of inputs:
  FILE.npy                   an array that numpy has saved
  FILE.safetensors:TENSOR    a tensor of such a file
  iota, iota1                0, 1, 2, ... or 1, 2, 3, ... in row-major order
  modN                       0, 1, ... N-1, 0, 1, ...
  hash, hashN                bits that look random, or such numbers below N; always the same
  zeros                      zero bits
  'labels N'                 every element another; N tells inputs apart
  'bits [3, -1, 0x7f]'       elements as bits, again from the first where there are more places
An input that nobody names holds what the program says of it: `%x: i32[2] = bits [3, -1]`.";

impl Recipe {
    /// The recipe of a name, as [`RECIPES`] has them.
    pub(crate) fn named(name: &str, element: ElementType) -> Option<Self> {
        match name {
            "iota" => Some(Self::Iota),
            "iota1" => Some(Self::IotaFromOne),
            "hash" => Some(Self::Hash),
            "zeros" => Some(Self::Zeros),
            other => {
                let below = |kind: &str| {
                    let n: u64 = other.strip_prefix(kind)?.parse().ok()?;
                    (n > 0).then_some(n)
                };
                let modulo = below("mod").map(Self::Modulo);
                let hashed = || below("hash").map(Self::HashModulo);
                let said = || Sample::parse(other, element).ok().map(Self::Said);
                modulo.or_else(hashed).or_else(said)
            }
        }
    }

    fn bits(&self, element: ElementType, position: u64) -> u128 {
        match self {
            Self::Iota => encode(element, position),
            Self::IotaFromOne => encode(element, position.saturating_add(1)),
            Self::Zeros => 0,
            Self::Modulo(n) => encode(element, position % n),
            Self::HashModulo(n) => encode(element, scramble(position) % n),
            // Not made position by position.
            Self::Said(_) => 0,
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
    pub(crate) fn make(&self, ty: &TensorType) -> Option<Tensor> {
        let ty = ty.clone().without_layout();
        if let Self::Said(sample) = self {
            return Tensor::read(&ty, &buffer(sample, &ty)).ok();
        }
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
