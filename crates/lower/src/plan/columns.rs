//! The columns of a gather while it is composed.
//!
//! Joining puts the columns of the data and of the index pieces side by side. What the result
//! reads are sums of those: an index that is known is no column but part of an address, and a
//! table has no address of its own but what an index gives it.

use super::Source;
use super::axis_addresses::{AxisAddresses, MAX_TABLE};
use super::gather::{Chosen, Reason};
use super::known::{self, KnownPiece};
use super::table::{IndexTable, IndexTables};
use super::value::{IndexRead, Reads, Through};
use restride_layout::{Break, Nested, Piece, Pieces};
use smallvec::{SmallVec, smallvec};

type Sum = SmallVec<[(usize, i64); 1]>;

/// An index column that the gather adds.
struct Added {
    read: IndexRead,
    /// The joined column with its address; none for a table.
    from: Option<usize>,
}

/// The columns of one slab of data and what a gather adds to them.
pub(super) struct Columns {
    /// The index columns of the data.
    data: Vec<IndexRead>,
    /// For the source and each index column of the data the joined columns that make its address.
    sums: SmallVec<[Sum; 2]>,
    /// What is added to the offset of each of those.
    known: SmallVec<[i64; 2]>,
    /// `(column of the data, added column, stride)`.
    feeds: SmallVec<[(usize, usize, i64); 1]>,
    added: SmallVec<[Added; 2]>,
    /// How many columns the operands so far have.
    joined: usize,
    /// Whether an index is known to be outside.
    pub(super) outside: bool,
}

impl Columns {
    pub(super) fn of(piece: &Piece, reads: &Reads) -> Columns {
        let data = match reads {
            Reads::Fill(_) => Vec::new(),
            Reads::Copy { indices, .. } => indices.clone(),
        };
        let count = piece.columns();
        Columns {
            data,
            sums: (0..count).map(|c| smallvec![(c, 1)]).collect(),
            known: SmallVec::from_elem(0, count),
            feeds: SmallVec::new(),
            added: SmallVec::new(),
            joined: count,
            outside: false,
        }
    }

    /// Chooses along an axis of the data by a piece of an index tensor. The piece to join instead
    /// of it, if it is not used as it is.
    pub(super) fn choose(
        &mut self,
        one: &Chosen<'_>,
        along: &AxisAddresses,
        index: &Piece,
        reads: &Reads,
        tables: &mut IndexTables<'_>,
    ) -> Result<Option<Piece>, Reason> {
        let still = self.is_still(along);
        match reads {
            Reads::Fill(bits) => {
                match one.known(*bits) {
                    Some(x) => self.shift(along, x)?,
                    None => self.outside = true,
                }
                return Ok(Some(index.without_columns()?));
            }
            Reads::Copy { .. } if still && (one.clamp || one.sure) => {
                return Ok(Some(index.without_columns()?));
            }
            Reads::Copy { .. } => {}
        }
        if let Some(Source::Constant(number)) = reads.plain()
            && let Some(constant) = tables.constant(number)
            && let Some(known) = known::read(constant, index, one, tables.meter)
            && let Some(instead) = self.choose_known(along, index, &known, tables)?
        {
            return Ok(Some(instead));
        }
        self.choose_read(one, along, index, reads, tables)?;
        Ok(None)
    }

    /// Whether every coordinate of an axis chooses the same.
    fn is_still(&self, along: &AxisAddresses) -> bool {
        (0..self.sums.len()).all(|c| along.stride(c) == Some(0)) && along.is_whole()
    }

    /// A coordinate that is known moves offsets.
    fn shift(&mut self, along: &AxisAddresses, x: i64) -> Result<(), Reason> {
        for c in 0..self.known.len() {
            match along.at(c, x)? {
                Some(by) => self.move_known(c, by)?,
                None => self.outside = true,
            }
        }
        Ok(())
    }

    fn move_known(&mut self, column: usize, by: i64) -> Result<(), Break> {
        self.known[column] = self.known[column].checked_add(by).ok_or(Break::Overflow)?;
        Ok(())
    }

    /// Indices that are known: digits and strides, or one table from their places to addresses.
    /// Nothing when they are best read as they are.
    fn choose_known(
        &mut self,
        along: &AxisAddresses,
        index: &Piece,
        known: &KnownPiece,
        tables: &mut IndexTables<'_>,
    ) -> Result<Option<Piece>, Reason> {
        if known.all_outside {
            self.outside = true;
            return Ok(Some(index.without_columns()?));
        }
        if known.all_inside && self.is_still(along) {
            return Ok(Some(index.without_columns()?));
        }
        let moves = |&c: &usize| c == 0 || along.stride(c) != Some(0);
        let moving: SmallVec<[usize; 2]> = (0..self.sums.len()).filter(moves).collect();
        let fits_table = known.len() as i64 <= MAX_TABLE;
        let mut entries: SmallVec<[Vec<Option<i64>>; 1]> = SmallVec::new();
        if !matches!((along, &moving[..]), (AxisAddresses::Linear(_), [_])) {
            let all = known.len() as u64 * moving.len() as u64;
            if (moving.len() > 1 && !fits_table) || tables.meter.table(all, 24).is_err() {
                return Ok(None);
            }
            for &c in &moving {
                entries.push(known.entries(along, c)?);
            }
        }
        let linear = match (&moving[..], &entries[..]) {
            ([c], []) if known.all_inside => {
                let stride = along.stride(*c).unwrap_or(0);
                known.strided(stride, index)
            }
            ([_], [entries]) => {
                let all = entries.iter().copied().collect::<Option<Vec<i64>>>();
                all.and_then(|all| known.linear(&all, index))
            }
            _ => None,
        };
        if let Some((first, nested)) = linear {
            let piece = index.with_columns(&[first], &nested)?;
            self.sums[moving[0]].push((self.joined, 1));
            self.joined += 1;
            return Ok(Some(piece));
        }
        let plain = along.stride(0).is_some_and(|s| s != 0) && moving.len() == 1;
        if plain || !fits_table {
            return Ok(None);
        }
        let piece = index.with_columns(&[0], &known.dense(index))?;
        if entries.is_empty() {
            entries.push(known.entries(along, 0)?);
        }
        for (&c, entries) in moving.iter().zip(&entries) {
            let table = tables.keep(entries).ok_or(Break::Overflow)?;
            self.move_known(c, table.least)?;
            let (coeff, fed) = if c == 0 {
                (table.coeff, 0)
            } else {
                (0, table.coeff)
            };
            let at = self.add(look_up(&table, coeff, Through::new()), Some(self.joined));
            if fed != 0 {
                self.feeds.push((c, at, fed));
            }
        }
        self.joined += 1;
        Ok(Some(piece))
    }

    /// Indices that are read while the kernel runs.
    fn choose_read(
        &mut self,
        one: &Chosen<'_>,
        along: &AxisAddresses,
        index: &Piece,
        reads: &Reads,
        tables: &mut IndexTables<'_>,
    ) -> Result<(), Reason> {
        let Reads::Copy { source, indices } = reads else {
            return Ok(());
        };
        if !indices.iter().all(|own| own.sure) {
            return Err(Reason::ThroughIndex);
        }
        let column = self.joined;
        self.joined += index.columns();
        // What the index is read through comes first.
        let base = self.added.len() as u32;
        let mut through = Through::new();
        for (k, own) in indices.iter().enumerate() {
            if own.coeff != 0 {
                through.push((base + k as u32, own.coeff));
            }
            let mut read = own.clone();
            read.coeff = 0;
            read.through
                .iter_mut()
                .for_each(|(earlier, _)| *earlier += base);
            self.add(read, Some(column + 1 + k));
        }
        let at = self.add(
            IndexRead {
                source: *source,
                element: one.element,
                coeff: 0,
                limit: one.limit,
                wrap: one.index.wrap,
                clamp: one.clamp,
                sure: one.sure,
                through,
            },
            Some(column),
        );
        let mut used = false;
        for c in 0..self.sums.len() {
            let (table, stride) = match (along, along.stride(c)) {
                (_, Some(0)) => continue,
                (_, Some(stride)) => (None, stride),
                (AxisAddresses::Table(columns), None) => {
                    let table = tables.keep(&columns[c]).ok_or(Break::Overflow)?;
                    self.move_known(c, table.least)?;
                    (Some(table), table.coeff)
                }
                (AxisAddresses::Linear(_), None) => continue,
            };
            let from = match table {
                None => at,
                Some(table) => self.add(look_up(&table, 0, smallvec![(at as u32, 1)]), None),
            };
            match c {
                0 => self.added[from].read.coeff = stride,
                _ => self.feeds.push((c, from, stride)),
            }
            used = true;
        }
        if !used {
            // No address depends on it, but whether there is anything to read.
            self.mask(one, at, tables)?;
        }
        Ok(())
    }

    /// An index along an axis that is repeated: a table of zeros that it looks into.
    fn mask(
        &mut self,
        one: &Chosen<'_>,
        at: usize,
        tables: &mut IndexTables<'_>,
    ) -> Result<(), Reason> {
        if one.limit == 1 {
            // An axis of one element has no stride; any will do, its index being 0.
            self.added[at].read.coeff = 1;
            return Ok(());
        }
        if one.limit > MAX_TABLE {
            return Err(Reason::Repeated(one.axis));
        }
        let zeros = vec![Some(0); one.limit as usize];
        let table = tables.keep(&zeros).ok_or(Break::Overflow)?;
        self.add(look_up(&table, 1, smallvec![(at as u32, 1)]), None);
        Ok(())
    }

    fn add(&mut self, read: IndexRead, from: Option<usize>) -> usize {
        self.added.push(Added { read, from });
        self.added.len() - 1
    }

    /// The joined pieces with the columns that the result reads.
    pub(super) fn finish(
        self,
        pieces: Pieces,
        reads: &Reads,
    ) -> Result<SmallVec<[(Piece, Reads); 1]>, Break> {
        let source = match reads {
            Reads::Copy { source, .. } if !self.outside => *source,
            Reads::Copy { .. } | Reads::Fill(_) => {
                let bits = match reads {
                    Reads::Fill(bits) if !self.outside => *bits,
                    Reads::Fill(_) | Reads::Copy { .. } => 0,
                };
                let filled = |piece: Piece| Ok((piece.without_columns()?, Reads::Fill(bits)));
                return pieces.into_iter().map(filled).collect();
            }
        };
        // Columns come after those that move them.
        let first = !self.feeds.is_empty();
        let (added, held) = (self.added.len() as u32, self.data.len() as u32);
        let mut indices: Vec<IndexRead> = Vec::new();
        let mut sums = self.sums.into_iter();
        let mut out: SmallVec<[Sum; 4]> = sums.next().into_iter().collect();
        let mut data = self.data;
        for &(column, from, stride) in &self.feeds {
            data[column - 1].through.push((from as u32, stride));
        }
        for (column, read) in data.iter_mut().enumerate() {
            let fed = self.feeds.iter().filter(|f| f.0 == column + 1).count();
            let old = read.through.len() - fed;
            if first {
                read.through[..old]
                    .iter_mut()
                    .for_each(|(k, _)| *k += added);
            }
        }
        let fresh = self.added.into_iter().map(|one| {
            let mut read = one.read;
            if !first {
                read.through.iter_mut().for_each(|(k, _)| *k += held);
            }
            let sum = one.from.map_or_else(Sum::new, |c| smallvec![(c, 1)]);
            (read, sum)
        });
        let kept = data.into_iter().zip(sums);
        let all: SmallVec<[(IndexRead, Sum); 4]> = match first {
            true => fresh.chain(kept).collect(),
            false => kept.chain(fresh).collect(),
        };
        for (read, sum) in all {
            indices.push(read);
            out.push(sum);
        }
        let order = if first { added as usize } else { 0 };
        let mut parts = SmallVec::new();
        for piece in pieces {
            let same = out.len() == piece.columns()
                && out.iter().enumerate().all(|(c, sum)| sum[..] == [(c, 1)]);
            let mut piece = match same {
                true => piece,
                false => piece.with_sums(&out)?,
            };
            for (c, &by) in self.known.iter().enumerate().filter(|(_, by)| **by != 0) {
                let column = if c == 0 { 0 } else { c + order };
                piece.move_column(column, by)?;
            }
            let indices = indices.clone();
            parts.push((piece, Reads::Copy { source, indices }));
        }
        Ok(parts)
    }
}

fn look_up(table: &IndexTable, coeff: i64, through: Through) -> IndexRead {
    IndexRead {
        source: table.source,
        element: table.element,
        coeff,
        limit: table.limit,
        wrap: false,
        clamp: false,
        sure: table.whole,
        through,
    }
}

impl KnownPiece {
    /// What each digit of the piece becomes in a table of the rows.
    fn dense(&self, piece: &Piece) -> Vec<Nested> {
        let digit = |d: &restride_layout::Digit| Nested::from_elem((d.extent, smallvec![0]), 1);
        let mut nested: Vec<Nested> = piece.digits().iter().map(digit).collect();
        let mut stride = 1;
        for &d in self.digits.iter().rev() {
            nested[d][0].1[0] = stride;
            stride *= piece.digits()[d].extent;
        }
        nested
    }
}
