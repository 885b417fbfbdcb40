//! ONNX Runtime's channels in blocks: `N C H W` as `N C/b H W b`, which it still calls `N C H W`, with C
//! rounded up to whole blocks. What its files say of that is no standard: they hold for the machine that
//! wrote them, which also decides how large a block is.

use restride_graph::{Ints, Op, PadMode, ReshapeDialect, SliceDialect, ValueId};

use super::call::SpelledCall;
use super::{SpellError, require};

/// Where the operators are.
pub(crate) const DOMAIN: &str = "com.microsoft.nchwc";

/// The attribute that whoever reads a file adds: how many channels a block has.
pub(crate) const BLOCK: &str = "block";

/// The channels of a block where this runs.
pub(crate) fn of_this_machine() -> i64 {
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("avx512f") {
        return 8;
    }
    16
}

/// Into blocks, from channels first or last.
pub(super) fn input(call: &mut SpelledCall<'_>) -> Result<(), SpellError> {
    let (x, block, last) = start(call)?;
    let axis = if last { 3 } else { 1 };
    let channels = call.shape(x)[axis];
    let whole = self::whole(channels, block);
    let mut high = Ints::from_elem(0, 4);
    high[axis] = whole - channels;
    let padded = call.push(Op::Pad {
        x,
        low: Ints::from_elem(0, 4),
        high,
        mode: PadMode::Constant(0),
    })?;
    let [batch, height, width] = plane(call, padded, last);
    let (split, perm) = match last {
        false => (
            [batch, whole / block, block, height, width],
            [0, 1, 3, 4, 2],
        ),
        true => (
            [batch, height, width, whole / block, block],
            [0, 3, 1, 2, 4],
        ),
    };
    let all = reordered(call, padded, &split, &perm, &[batch, whole, height, width])?;
    call.output(all);
    Ok(())
}

/// Out of blocks, without what filled the last one up.
pub(super) fn output(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let (x, block, last) = start(call)?;
    let channels = call.attr_int("channels", None)?;
    let whole = call.shape(x)[1];
    require!(
        channels > 0 && self::whole(channels, block) == whole,
        "{channels} channels in blocks of {block} are not {whole}"
    );
    let [batch, height, width] = plane(call, x, false);
    let split = [batch, whole / block, height, width, block];
    let (perm, shape, axis) = match last {
        false => ([0, 1, 4, 2, 3], [batch, whole, height, width], 1),
        true => ([0, 2, 3, 1, 4], [batch, height, width, whole], 3),
    };
    let all = reordered(call, x, &split, &perm, &shape)?;
    Ok(Op::Slice {
        x: all,
        dialect: SliceDialect::Onnx,
        start: Ints::from_slice(&[0]),
        stop: Ints::from_slice(&[channels]),
        step: Ints::from_slice(&[1]),
        axes: Some(Ints::from_slice(&[axis])),
    })
}

/// The image, the size of a block, and whether channels stand last.
fn start(call: &mut SpelledCall<'_>) -> Result<(ValueId, i64, bool), SpellError> {
    let x = call.operand("data")?;
    let rank = call.shape(x).len();
    require!(rank == 4, "an image of rank {rank}");
    let block = call.attr_int(BLOCK, None)?;
    require!((1..=1 << 10).contains(&block), "blocks of {block} channels");
    Ok((x, block, call.attr_int("channels_last", Some(0))? != 0))
}

/// So many channels and what fills their last block up.
fn whole(channels: i64, block: i64) -> i64 {
    channels.saturating_add(block - 1) / block * block
}

/// Batch, height and width.
fn plane(call: &SpelledCall<'_>, x: ValueId, last: bool) -> [i64; 3] {
    let shape = call.shape(x);
    let at = if last { 1 } else { 2 };
    [shape[0], shape[at], shape[at + 1]]
}

/// An image with one axis made two, which change their places, as an image again.
fn reordered(
    call: &mut SpelledCall<'_>,
    x: ValueId,
    split: &[i64],
    perm: &[i64],
    shape: &[i64],
) -> Result<ValueId, SpellError> {
    let dialect = ReshapeDialect::Onnx { allow_zero: true };
    let x = call.push(Op::Reshape {
        x,
        dialect,
        pattern: Ints::from_slice(split),
    })?;
    let x = call.push(Op::Transpose {
        x,
        perm: Ints::from_slice(perm),
    })?;
    call.push(Op::Reshape {
        x,
        dialect,
        pattern: Ints::from_slice(shape),
    })
}
