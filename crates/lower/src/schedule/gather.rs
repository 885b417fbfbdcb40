//! Pieces that read through indices.
//!
//! The digits that move an index address become loops, in destination order, down to the last of
//! them; with a single index column that one becomes the rows of a `gather`, so that the indices
//! ahead are known. The digits that move no index are the row, unless they lie outside of all
//! index digits in the destination: those become loops too, so that the destination is written
//! in order.

use super::buffers::{index_type, width};
use super::emit::{Emitter, constant};
use super::order;
use super::{Decision, LowerError, Part, Why};
use crate::plan::{Body, IndexColumn, PieceDigit};
use restride_loops::ir::{Addr, BufferId, Dim, Form, Gather, Move, Norm, Place, Stmt, Var};
use smallvec::SmallVec;

/// A loop of the nest around the rows.
struct Level<'d> {
    digit: &'d PieceDigit,
    var: Var,
}

impl Emitter<'_> {
    /// One piece with at least one index column.
    pub(super) fn gather(
        &mut self,
        part: &Part<'_>,
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
        let row = order::order(self.machine, row_dims, (part.piece.dst, *offset), width, 0);
        let row_bytes = row
            .dims
            .iter()
            .fold(width, |n, d| n.saturating_mul(d.extent));
        let columns: SmallVec<[(BufferId, Norm, &IndexColumn); 2]> = indices
            .iter()
            .map(|column| {
                let norm = Norm {
                    ty: index_type(column.element)?,
                    limit: column.limit,
                    wrap: column.wrap,
                    clamp: column.clamp,
                };
                Ok((self.buffers.source(column.source)?, norm, column))
            })
            .collect::<Result<_, LowerError>>()?;
        let rows = digits.iter().fold(1i64, |n, d| n.saturating_mul(d.extent));
        let worth = rows.saturating_mul(row_bytes) >= self.machine.parallel_from;

        // With one column, the innermost index digit is the gather's own.
        let own = if columns.len() == 1 {
            digits.pop()
        } else {
            None
        };
        let mut levels: SmallVec<[Level<'_>; 8]> = digits
            .iter()
            .map(|digit| Level {
                digit,
                var: self.fresh(),
            })
            .collect();
        let address = |levels: &[Level<'_>], base: i64, stride: &dyn Fn(&PieceDigit) -> i64| {
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
            Some(own) if worth && levels.is_empty() => {
                let block = (self.machine.grain / row_bytes.max(1)).clamp(1, own.extent);
                (own.extent / block >= 2).then_some(block)
            }
            Some(_) | None => None,
        };
        let dst = address(&levels, row.dst, &|d| d.dst);
        let src = address(&levels, row.src, &|d| d.src);
        let mut body = match own {
            Some(own) => {
                let (buffer, norm, column) = columns[0];
                let stride = own.indices.first().copied().unwrap_or(0);
                let index = address(&levels, column.offset, &|d| {
                    d.indices.first().copied().unwrap_or(0)
                });
                let gather = Gather {
                    extent: own.extent,
                    index: Place {
                        buffer,
                        addr: index,
                    },
                    index_stride: stride,
                    norm,
                    dst: Place {
                        buffer: destination,
                        addr: dst,
                    },
                    dst_stride: own.dst,
                    src: Place {
                        buffer: source,
                        addr: src,
                    },
                    coeff: column.coeff,
                    dims: row.dims.clone(),
                };
                match cut {
                    Some(block) => self.blocks(gather, block, own.src),
                    None if own.src != 0 => self.row_by_row(&gather, own.src),
                    None => vec![Stmt::Gather(gather)],
                }
            }
            None => {
                let mut src = src;
                let mut body = Vec::new();
                for (at, (buffer, norm, column)) in columns.iter().enumerate() {
                    let stride = |d: &PieceDigit| d.indices.get(at).copied().unwrap_or(0);
                    let addr = address(&levels, column.offset, &stride);
                    let var = self.fresh();
                    if column.coeff != 0 {
                        src.terms.push((var, column.coeff));
                    }
                    let place = Place {
                        buffer: *buffer,
                        addr,
                    };
                    body.push(Stmt::Index {
                        var,
                        place,
                        norm: *norm,
                    });
                }
                body.push(Stmt::Move(Move {
                    dst: Place {
                        buffer: destination,
                        addr: dst,
                    },
                    src: Place {
                        buffer: source,
                        addr: src,
                    },
                    dims: row.dims.clone(),
                    form: row.form,
                }));
                body
            }
        };
        let outermost = levels.first().map(|l| l.digit.extent);
        while let Some(Level { digit, var }) = levels.pop() {
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
            lines_read: row.lines_read.saturating_mul(rows),
            lines_written: row.lines_written.saturating_mul(rows),
            shared_with: 0,
            parallel: outermost.filter(|_| worth),
        });
        out.append(&mut body);
        Ok(())
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
            vec![Stmt::Gather(gather)]
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
