//! From composed values to stages and answers.

use super::compose::{Composer, PlanOptions};
use super::value::{Reads, Unmoved, obstacle, single};
use super::{Answer, Body, Destination, Digits, IndexColumn, Piece, PieceDigit, Source, Stage};
use restride_canon::ir::CanonicalOutput;
use restride_graph::{Shape, Strided, ViewPolicy};
use restride_layout::{Break, Layout, Piece as Map};
use smallvec::SmallVec;
use std::borrow::Cow;

impl Composer<'_> {
    /// Answers one output: with a view if that is what it is, else with a stage that writes it.
    pub(super) fn output(
        &mut self,
        number: usize,
        output: &CanonicalOutput,
        options: PlanOptions,
    ) -> Result<(), Break> {
        let ty = self.graph.ty(output.node);
        let (element, shape) = (ty.element, Shape::from_slice(&ty.shape));
        let in_order = self.in_order(output.node)?;
        let own = self.composed(output.node);
        let own = own.filter(|own| own.parts().len() <= in_order.parts().len());
        let policy = output.views.max(options.views);
        let answer = match self.answered_by_view(own, output, policy) {
            Ok((input, layout)) => Answer::View { input, layout },
            Err(why) => {
                self.spend(in_order);
                let pieces = match &output.layout {
                    Some(layout) => pieces(self.value(output.node)?, Some(layout))?,
                    None => pieces(in_order, None)?,
                };
                let stage = Stage {
                    destination: Destination::Output(number as u32),
                    element,
                    count: ty.count(),
                    pieces,
                    reason: None,
                };
                self.plan.stages.push(stage);
                let stage = (self.plan.stages.len() - 1) as u32;
                Answer::Computed { stage, why }
            }
        };
        self.plan.answers.push(answer);
        let layout = output.layout.clone();
        self.plan.outputs.push((element, shape, layout));
        Ok(())
    }

    /// The view that answers an output, or why none does.
    fn answered_by_view(
        &self,
        value: Option<&Unmoved>,
        output: &CanonicalOutput,
        policy: ViewPolicy,
    ) -> Result<(u32, Strided), Cow<'static, str>> {
        if policy == ViewPolicy::Copy {
            return Err("a copy is asked for".into());
        }
        if output.layout.is_some() {
            return Err("the caller says where it lies".into());
        }
        let (input, layout) = as_view(value)?;
        if policy == ViewPolicy::Dense {
            let (held, to_be) = (self.graph.inputs(), self.graph.ty(output.node));
            let node = held.get(input as usize).map(|input| input.node);
            let all = node.is_some_and(|node| self.graph.ty(node).count() == to_be.count());
            let lies = Layout::strided(&to_be.shape, &[layout.offset], &layout.strides);
            if !(all && lies.is_ok_and(|lies| lies.is_dense())) {
                return Err("it is not all of an input in order".into());
            }
        }
        Ok((input, layout))
    }
}

/// Why a value is no view that might be one if some size were another.
pub(super) const DOES_NOT_DIVIDE: &str = "its sizes do not divide the digits";

/// The view that a value is, or why it is none. There is no value where its operand, in another
/// shape, says the same with fewer pieces.
fn as_view(value: Option<&Unmoved>) -> Result<(u32, Strided), Cow<'static, str>> {
    let Some(value) = value else {
        return Err(DOES_NOT_DIVIDE.into());
    };
    if let Some(obstacle) = obstacle(value) {
        return Err(obstacle);
    }
    let Some((piece, source)) = single(value) else {
        return Err("it is empty".into());
    };
    let input = match source {
        Source::Input(input) => input,
        Source::Constant(_) => return Err("it reads a constant".into()),
        Source::Stage(_) => return Err("it reads a temporary".into()),
    };
    let mut strides = Shape::new();
    for axis in piece.axes() {
        let stride = axis
            .digits
            .first()
            .map_or(0, |_| piece.strides(axis.first)[0]);
        strides.push(stride);
    }
    let offset = piece.offset(0);
    Ok((input, Strided { offset, strides }))
}

/// The pieces of a stage that writes a value, dense or where a layout says.
pub(super) fn pieces(value: &Unmoved, layout: Option<&Strided>) -> Result<Vec<Piece>, Break> {
    let mut strides: Shape = SmallVec::from_elem(1, value.shape().len());
    let mut start = 0;
    match layout {
        Some(layout) => {
            start = layout.offset;
            strides.copy_from_slice(&layout.strides);
        }
        None => {
            for a in (1..strides.len()).rev() {
                strides[a - 1] = strides[a].saturating_mul(value.shape()[a]);
            }
        }
    }
    let mut pieces = Vec::with_capacity(value.parts().len());
    for (map, reads) in value.parts() {
        pieces.push(placed(map, reads, start, &strides)?);
    }
    Ok(pieces)
}

fn placed(map: &Map, reads: &Reads, start: i64, strides: &[i64]) -> Result<Piece, Break> {
    let mut dst = start;
    let mut digits: Digits = SmallVec::new();
    let copies = matches!(reads, Reads::Copy { .. });
    for (axis, &stride) in map.axes().zip(strides) {
        let first = axis.start.checked_mul(stride).ok_or(Break::Overflow)?;
        dst = dst.checked_add(first).ok_or(Break::Overflow)?;
        for (k, digit) in axis.digits.iter().enumerate() {
            let (src, indices) = match map.strides(axis.first + k) {
                [src, indices @ ..] if copies => (*src, indices),
                _ => (0, &[][..]),
            };
            digits.push(PieceDigit {
                extent: digit.extent,
                dst: digit.coord.checked_mul(stride).ok_or(Break::Overflow)?,
                src,
                indices: SmallVec::from_slice(indices),
            });
        }
    }
    digits.sort_by_key(|d| std::cmp::Reverse(d.dst.unsigned_abs()));
    digits.dedup_by(|inner, outer| {
        let Some(extent) = inner.joins(outer) else {
            return false;
        };
        *outer = PieceDigit {
            extent,
            dst: inner.dst,
            src: inner.src,
            indices: std::mem::take(&mut inner.indices),
        };
        true
    });
    let body = match reads {
        Reads::Fill(bits) => Body::Fill(*bits),
        Reads::Copy { source, indices } => Body::Copy {
            source: *source,
            offset: map.offset(0),
            indices: indices
                .iter()
                .enumerate()
                .map(|(k, index)| IndexColumn {
                    source: index.source,
                    element: index.element,
                    offset: map.offset(1 + k),
                    coeff: index.coeff,
                    limit: index.limit,
                    wrap: index.wrap,
                    clamp: index.clamp,
                    through: index.through.clone(),
                })
                .collect(),
        },
    };
    Ok(Piece { dst, digits, body })
}

impl PieceDigit {
    /// The extent of this digit and the one around it together, if they are one.
    pub(super) fn joins(&self, outer: &Self) -> Option<i64> {
        let joins = |o: i64, i: i64| self.extent.checked_mul(i) == Some(o);
        let indices = outer.indices.iter().zip(&self.indices);
        let all = joins(outer.dst, self.dst)
            && joins(outer.src, self.src)
            && indices.into_iter().all(|(&o, &i)| joins(o, i));
        self.extent.checked_mul(outer.extent).filter(|_| all)
    }
}
