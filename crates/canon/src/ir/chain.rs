//! Layouts as chains of views: which there may be, and what each prints as.

use super::MAX_AXES;
use restride_budget::Meter;
use restride_graph::MAX_RANK;
use restride_layout::{Axes, Break, Chain, Layout, Piece, View};

/// The one chain of views that gives a layout over a dense source of this shape.
///
/// Where the axes of the source stand in the way, or cut it into more axes than a value may have, they
/// are joined first.
pub fn chain_of(layout: &Layout, source: &[i64], meter: &Meter) -> Result<Chain, Break> {
    let digits = layout.piece().map_or(0, |piece| piece.digits().len());
    meter.work(500 + 300 * (digits + source.len()) as u64);
    let direct = layout.reify(source);
    match direct {
        Ok(chain) if fits(&chain, source.len()) => Ok(chain),
        Ok(_) | Err(_) if source.len() > 1 => {
            let groups = Axes::from_slice(&[source.len()]);
            let mut chain = Chain::new();
            chain.push(View::Collapse { groups });
            chain.extend(layout.reify(&[source.iter().product()])?);
            match fits(&chain, source.len()) {
                true => Ok(chain),
                false => Err(Break::NoChain),
            }
        }
        Ok(_) => Err(Break::NoChain),
        Err(why) => Err(why),
    }
}

/// The layout over a source of this shape that a step makes of another, if it is one and a chain
/// of views of the source.
///
/// Two ends of a repeated axis may make one layout of digits that no chain of views gives. Only
/// steps that cut an axis of several digits can do so, so only they are looked at, and layouts
/// whose chain may need more axes than a value may have.
pub(crate) fn composed(
    layout: &Layout,
    source: &[i64],
    step: &View,
    meter: &Meter,
) -> Result<Layout, Break> {
    let mut made = 1;
    let composed = layout.view_by_pieces(step, &mut made);
    meter.work(550 * made as u64);
    let composed = composed?;
    let Some(piece) = composed.piece() else {
        return Ok(composed);
    };
    let cuts = match step {
        View::Slice(_) | View::Expand { .. } => true,
        View::Permute(_)
        | View::Collapse { .. }
        | View::Broadcast { .. }
        | View::Windows { .. } => false,
    };
    let several = |piece: &Piece| piece.axes().any(|axis| axis.digits.len() > 1);
    let many = !is_short(piece) || source.len().max(composed.shape().len()) > MAX_RANK;
    let windows = matches!(step, View::Windows { .. }) || cuts && layout.overlaps();
    if many || windows || cuts && layout.piece().is_some_and(several) {
        chain_of(&composed, source, meter)?;
    }
    Ok(composed)
}

/// Whether a chain of views of so few digits, between tensors, has no step with more axes than a
/// value may have: every digit, and what lies between two of them, may need an axis, and so do
/// the axes of size 1 of both ends.
fn is_short(piece: &Piece) -> bool {
    3 * piece.digits().len() <= MAX_AXES - 2 * MAX_RANK
}

/// Whether no step has more axes than a value may have.
fn fits(chain: &Chain, mut rank: usize) -> bool {
    chain.iter().all(|step| {
        rank = match step {
            View::Slice(_) | View::Permute(_) => rank,
            View::Collapse { groups } => groups.len(),
            View::Expand { sizes, .. } | View::Broadcast { sizes } => sizes.len(),
            View::Windows { .. } => rank + 1,
        };
        rank <= MAX_AXES
    })
}
