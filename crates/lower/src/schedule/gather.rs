//! Pieces that read through indices.
//!
//! The digits that move an index address become loops, in destination order, down to the last of
//! them. An index is loaded in the outermost loop that knows its address. Where only one is
//! loaded in the innermost, that loop is the rows of a `gather`, so that the indices ahead are
//! known. The digits that move no index are the row, unless they lie outside of all index digits
//! in the destination: those become loops too, so that the destination is written in order. But
//! where short rows share their indices, the outer digits stay in the `gather`.

use super::buffers::width;
use super::emit::{Emitter, constant};
use super::order::{self, BoxDims};
use super::{Decision, LowerError, StagePiece, Why};
use crate::plan::{Body, IndexColumn, PieceDigit};
use restride_loops::ir::{Addr, BufferId, Dim, Form, Gather, Move, Norm, Place, Stmt, Var};
use smallvec::SmallVec;

/// How many blocks share out a gather.
const BLOCKS: i64 = 12;

/// A loop of the nest around the rows.
struct RowLoop<'d> {
    digit: &'d PieceDigit,
    var: Var,
}

/// An index of the piece.
struct Column<'c> {
    buffer: BufferId,
    norm: Norm,
    column: &'c IndexColumn,
    var: Var,
    /// How many loops are around the place where it is loaded.
    depth: usize,
}

/// The index that the innermost of the loops alone moves, if it can name rows of the source.
fn own_column(columns: &[Column<'_>], loops: usize) -> Option<usize> {
    let mut innermost = (0..columns.len()).filter(|&at| columns[at].depth == loops);
    let at = innermost.next().filter(|_| loops > 0)?;
    let feeds = |c: &Column<'_>| c.column.through.iter().any(|(k, _)| *k as usize == at);
    let alone = innermost.next().is_none() && !columns.iter().any(feeds);
    // What else is loaded needs a loop of its own around it.
    let fits = columns.len() == 1 || loops > 1;
    (alone && fits && columns[at].column.coeff != 0).then_some(at)
}

impl Emitter<'_> {
    /// One piece with at least one index column.
    pub(super) fn gather(
        &mut self,
        part: &StagePiece<'_>,
        destination: BufferId,
        out: &mut Vec<Stmt>,
        decisions: &mut Vec<Decision>,
    ) -> Result<(), LowerError> {
        let Body::Copy {
            source,
            offset,
            indices,
        } = &part.piece.body
        else {
            return Err(LowerError::Dangling);
        };
        // Each loop and each index is a statement, the row a few; terms are in their addresses.
        let moves = |d: &PieceDigit| 2 + d.indices.iter().filter(|s| **s != 0).count();
        let terms = part.piece.digits.iter().map(moves).sum::<usize>()
            + indices.iter().map(|c| 1 + c.through.len()).sum::<usize>();
        let words = 4 * (size_of::<Gather>() / size_of::<i64>()) + 2 * 2 * terms;
        self.spend(part.piece.digits.len() + indices.len() + 4, words)?;
        let width = width(part.element)?.bytes() as i64;
        let source = self.buffers.source(*source)?;
        let mut digits: SmallVec<[&PieceDigit; 8]> = part.piece.digits.iter().collect();
        digits.sort_by_key(|d| std::cmp::Reverse(d.dst.unsigned_abs()));
        let moves_index = |d: &&PieceDigit| d.indices.iter().any(|s| *s != 0);
        let last_index = digits.iter().rposition(moves_index);
        let loops = last_index.map_or(0, |at| at + 1);
        let row: SmallVec<[&PieceDigit; 8]> = digits.drain(loops..).collect();
        let row_dims = row.iter().map(|d| Dim {
            extent: d.extent,
            dst: d.dst,
            src: d.src,
        });
        let row = order::order(self.target, row_dims, (part.piece.dst, *offset), width, 0);
        let row_bytes = row
            .dims
            .iter()
            .fold(width, |n, d| n.saturating_mul(d.extent));
        let columns = self.columns(indices, &digits)?;
        let rows = digits.iter().fold(1i64, |n, d| n.saturating_mul(d.extent));
        let worth = rows.saturating_mul(row_bytes) >= self.target.parallel_from;
        let most = self.lines_within_reach(indices, &part.piece.digits, width);

        // The innermost index digit is the gather's own, if it moves a single index.
        let own = match own_column(&columns, digits.len()) {
            Some(column) => digits.pop().map(|digit| (digit, column)),
            None => None,
        };
        let shared = match own {
            Some((own, at)) if own.src == 0 && row_bytes < self.target.line => {
                self.sharing(&columns, at, width, &mut digits)
            }
            Some(_) | None => SmallVec::new(),
        };
        let mut levels: SmallVec<[RowLoop<'_>; 8]> = digits
            .iter()
            .map(|digit| RowLoop {
                digit,
                var: self.fresh(),
            })
            .collect();
        let address = |levels: &[RowLoop<'_>], base: i64, stride: &dyn Fn(&PieceDigit) -> i64| {
            let mut addr = constant(base);
            for level in levels {
                let coeff = stride(level.digit);
                if coeff != 0 {
                    addr.terms.push((level.var, coeff));
                }
            }
            addr
        };
        // A parallel gather with no loop around it is cut into blocks of rows.
        let cut = match own {
            Some((own, _)) if worth && levels.is_empty() && shared.is_empty() => {
                let whole = rows.saturating_mul(row_bytes);
                // Few and long blocks: rows ahead are known only within one, and what no cache
                // holds is stored past them only by long ones.
                let grain = self.target.grain.max(whole / BLOCKS);
                let block = (grain / row_bytes.max(1)).clamp(1, own.extent);
                (own.extent / block >= 2).then_some(block)
            }
            Some(_) | None => None,
        };
        let dst = address(&levels, row.dst, &|d| d.dst);
        let mut src = address(&levels, row.src, &|d| d.src);
        let place = |levels: &[RowLoop<'_>], at: usize| {
            let Column { buffer, column, .. } = &columns[at];
            let stride = |d: &PieceDigit| d.indices.get(at).copied().unwrap_or(0);
            let mut addr = address(levels, column.offset, &stride);
            for &(earlier, stride) in &column.through {
                if let Some(earlier) = columns.get(earlier as usize) {
                    addr.terms.push((earlier.var, stride));
                }
            }
            Place {
                buffer: *buffer,
                addr,
            }
        };
        let rows_of = own.map(|(_, at)| at);
        for (at, column) in columns.iter().enumerate() {
            if column.column.coeff != 0 && Some(at) != rows_of {
                src.terms.push((column.var, column.column.coeff));
            }
        }
        let moved = |src: Addr| Move {
            dst: Place {
                buffer: destination,
                addr: dst.clone(),
            },
            src: Place {
                buffer: source,
                addr: src,
            },
            dims: row.dims.clone(),
            form: row.form,
        };
        let mut body = match own {
            Some((own, at)) => {
                let Move { dst, src, .. } = moved(src);
                let dims = shared.iter().chain(&row.dims).copied().collect();
                let gather = Gather {
                    extent: own.extent,
                    index: place(&levels, at),
                    index_stride: own.indices.get(at).copied().unwrap_or(0),
                    norm: columns[at].norm,
                    dst,
                    dst_stride: own.dst,
                    src,
                    coeff: columns[at].column.coeff,
                    dims,
                };
                match cut {
                    Some(block) => self.blocks(gather, block, own.src),
                    None if worth && levels.is_empty() && !shared.is_empty() => {
                        self.blocks_of_sharing(gather, width)
                    }
                    None if own.src != 0 => self.row_by_row(&gather, own.src),
                    None => vec![Stmt::Gather(Box::new(gather))],
                }
            }
            None => vec![Stmt::Move(moved(src))],
        };
        let load = |levels: &[RowLoop<'_>], depth: usize| {
            let here = columns.iter().enumerate();
            here.filter(|(at, column)| column.depth == depth && Some(*at) != rows_of)
                .map(|(at, column)| Stmt::Index {
                    var: column.var,
                    place: place(levels, at),
                    norm: column.norm,
                })
                .collect::<Vec<Stmt>>()
        };
        let outermost = levels.first().map(|l| l.digit.extent);
        loop {
            body.splice(0..0, load(&levels, levels.len()));
            let Some(RowLoop { digit, var }) = levels.pop() else {
                break;
            };
            let parallel = worth && levels.is_empty();
            body = vec![Stmt::For {
                var,
                extent: digit.extent,
                parallel,
                body,
            }];
        }
        decisions.push(Decision {
            stage: part.stage,
            piece: part.index,
            form: None,
            why: Why::Indexed(row_bytes),
            lines_read: row.lines_read.saturating_mul(rows).min(most),
            lines_written: order::lines(
                self.target,
                part.piece.digits.iter().map(|d| (d.extent, d.dst)),
                width,
            ),
            shared_with: 0,
            parallel: outermost.filter(|_| worth),
        });
        out.append(&mut body);
        Ok(())
    }

    /// Where each index is loaded and what it means. `loops` are the digits that move one.
    fn columns<'c>(
        &mut self,
        indices: &'c [IndexColumn],
        loops: &[&PieceDigit],
    ) -> Result<SmallVec<[Column<'c>; 2]>, LowerError> {
        let mut columns: SmallVec<[Column<'c>; 2]> = SmallVec::new();
        for (at, column) in indices.iter().enumerate() {
            let moves = |d: &&PieceDigit| d.indices.get(at).is_some_and(|s| *s != 0);
            let mut depth = loops.iter().rposition(moves).map_or(0, |last| last + 1);
            for &(earlier, _) in &column.through {
                let earlier = columns.get(earlier as usize).ok_or(LowerError::Dangling)?;
                depth = depth.max(earlier.depth);
            }
            columns.push(Column {
                buffer: self.buffers.source(column.source)?,
                norm: column.norm()?,
                column,
                var: self.fresh(),
                // A loop that is shared out has its indices inside.
                depth: depth.max(loops.len().min(1)),
            });
        }
        Ok(columns)
    }

    /// How many lines of its source a gather can read at all, if it keeps those in a cache: what
    /// is named again is not read again.
    fn lines_within_reach(
        &self,
        indices: &[IndexColumn],
        digits: &[PieceDigit],
        width: i64,
    ) -> i64 {
        let named = indices.iter().map(|column| (column.limit, column.coeff));
        let walked = digits.iter().map(|digit| (digit.extent, digit.src));
        let elements = named.chain(walked).fold(1i64, |sum, (extent, stride)| {
            sum.saturating_add((extent - 1).saturating_mul(stride.saturating_abs()))
        });
        let bytes = elements.saturating_mul(width);
        match bytes <= self.target.l2 {
            true => bytes / self.target.line + i64::from(bytes % self.target.line != 0),
            false => i64::MAX,
        }
    }

    /// Takes the innermost digits that move no index out of `digits`: boxes that the same indices
    /// serve. A single gather then resolves them once. Only of rows of the source that stay in the
    /// first-level cache, since it goes from box to box for every few of its indices.
    fn sharing(
        &self,
        columns: &[Column<'_>],
        own: usize,
        width: i64,
        digits: &mut SmallVec<[&PieceDigit; 8]>,
    ) -> BoxDims {
        let mut shared = BoxDims::new();
        let Column { norm, column, .. } = &columns[own];
        let table = column.coeff.saturating_abs().saturating_mul(norm.limit);
        if columns.len() > 1 || table.saturating_mul(width) > self.target.l1 / 4 {
            return shared;
        }
        while let Some(digit) = digits.last().copied()
            && digit.indices.iter().all(|s| *s == 0)
        {
            digits.pop();
            let dim = Dim {
                extent: digit.extent,
                dst: digit.dst,
                src: digit.src,
            };
            shared.insert(0, dim);
        }
        shared
    }

    /// A gather whose outermost dimension shares the indices, in blocks of that dimension.
    fn blocks_of_sharing(&mut self, gather: Gather, width: i64) -> Vec<Stmt> {
        let outer = gather.dims[0];
        let others = gather.dims[1..]
            .iter()
            .fold(gather.extent.saturating_mul(width), |n, d| {
                n.saturating_mul(d.extent)
            });
        // Each block resolves the indices anew.
        let target = self.target.grain.saturating_mul(8);
        let block = (target / others.max(1)).clamp(1, outer.extent);
        let iterations = outer.extent / block;
        if iterations < 2 {
            return vec![Stmt::Gather(Box::new(gather))];
        }
        let rest = outer.extent % block;
        let var = self.fresh();
        let mut inner = gather.clone();
        inner.dims[0].extent = block;
        for (place, stride) in [(&mut inner.dst, outer.dst), (&mut inner.src, outer.src)] {
            if stride != 0 {
                place.addr.terms.push((var, stride * block));
            }
        }
        let mut out = vec![Stmt::For {
            var,
            extent: iterations,
            parallel: true,
            body: vec![Stmt::Gather(Box::new(inner))],
        }];
        if rest > 0 {
            let mut last = gather;
            last.dims[0].extent = rest;
            last.dst.addr.base += outer.dst * block * iterations;
            last.src.addr.base += outer.src * block * iterations;
            out.push(Stmt::Gather(Box::new(last)));
        }
        out
    }

    /// A gather in blocks of rows under a parallel loop, and the rows that are left over.
    fn blocks(&mut self, gather: Gather, block: i64, src_step: i64) -> Vec<Stmt> {
        let var = self.fresh();
        let iterations = gather.extent / block;
        let shifted = |from: Addr, coeff: i64| {
            let mut addr = from;
            if coeff != 0 {
                addr.terms.push((var, coeff));
            }
            addr
        };
        let at = |done: i64, g: &Gather| {
            let mut g = g.clone();
            g.dst.addr.base += g.dst_stride * done;
            g.index.addr.base += g.index_stride * done;
            g.src.addr.base += src_step * done;
            g
        };
        let rest = gather.extent % block;
        let mut last = at(iterations * block, &gather);
        last.extent = rest;
        let mut inner = gather;
        inner.extent = block;
        inner.dst.addr = shifted(inner.dst.addr, inner.dst_stride * block);
        inner.index.addr = shifted(inner.index.addr, inner.index_stride * block);
        inner.src.addr = shifted(inner.src.addr, src_step * block);
        let body = self.rows_of(inner, src_step);
        let mut out = vec![Stmt::For {
            var,
            extent: iterations,
            parallel: true,
            body,
        }];
        if rest > 0 {
            out.extend(self.rows_of(last, src_step));
        }
        out
    }

    fn rows_of(&mut self, gather: Gather, src_step: i64) -> Vec<Stmt> {
        if src_step == 0 {
            vec![Stmt::Gather(Box::new(gather))]
        } else {
            self.row_by_row(&gather, src_step)
        }
    }

    /// Rows whose source also moves with the row's number: a loop around one index and one move.
    fn row_by_row(&mut self, gather: &Gather, src_step: i64) -> Vec<Stmt> {
        let (row, index) = (self.fresh(), self.fresh());
        let with = |addr: &Addr, terms: &[(Var, i64)]| {
            let mut addr = addr.clone();
            addr.terms
                .extend(terms.iter().copied().filter(|(_, c)| *c != 0));
            addr
        };
        let place = |p: &Place, terms: &[(Var, i64)]| Place {
            buffer: p.buffer,
            addr: with(&p.addr, terms),
        };
        let body = vec![
            Stmt::Index {
                var: index,
                place: place(&gather.index, &[(row, gather.index_stride)]),
                norm: gather.norm,
            },
            Stmt::Move(Move {
                dst: place(&gather.dst, &[(row, gather.dst_stride)]),
                src: place(&gather.src, &[(row, src_step), (index, gather.coeff)]),
                dims: gather.dims.clone(),
                form: best_form(&gather.dims),
            }),
        ];
        vec![Stmt::For {
            var: row,
            extent: gather.extent,
            parallel: false,
            body,
        }]
    }
}

fn best_form(dims: &[Dim]) -> Form {
    let options = [Form::Rows, Form::Strided, Form::Transpose];
    options
        .into_iter()
        .find(|form| form.fits(dims))
        .unwrap_or(Form::Elements)
}
