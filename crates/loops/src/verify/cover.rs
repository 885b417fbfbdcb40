//! Every element of an output's image is written exactly once, nothing else of the output is, and
//! no element of scratch is written twice: over all statements, iterations and phases.
//!
//! The proof counts: each write runs through no address twice, no two writes meet, none leaves the
//! image, and their sizes add up to the image's. An image with gaps is handled by taking the gaps
//! for writes that must not be met either.
//!
//! Two devices keep many pieces cheap. Pieces are sorted and fall into groups whose intervals
//! overlap; only within a group can two meet. And if all of a group count in the same outermost
//! step and fit into one step's window, they meet exactly if they do within one window, so the
//! step is dropped and the group falls apart further. What is left is decided pair by pair.

use smallvec::SmallVec;

use super::search::{Budget, Exhausted, meet, repeats};
use super::strided::Strided;
use super::walk::Write;
use super::{Flaw, Reason};
use crate::ir::{Buffer, BufferId, Kernel, Role};

/// Up to this length, what the search does not decide is decided by marking elements.
pub(super) const MARKED: i64 = 1 << 16;

/// A set of addresses with its owner: a statement, or nobody for a gap of the image.
#[derive(Clone)]
struct Piece {
    set: Strided,
    stmt: Option<u32>,
}

type Pieces = SmallVec<[Piece; 4]>;

/// All buffers. Sorts the writes by buffer.
pub(super) fn all(kernel: &Kernel, writes: &mut [Write], budget: &mut Budget) -> Result<(), Flaw> {
    writes.sort_by_key(|w| (w.buffer, w.stmt));
    let mut rest = &*writes;
    for (id, buffer) in kernel.numbered() {
        let (own, others) = rest.split_at(rest.partition_point(|w| w.buffer == id));
        rest = others;
        match &buffer.role {
            Role::In(_) | Role::Const(_) => {}
            Role::Out(_, image) if image.dims.iter().any(|d| d.0 == 0) => {
                if let Some(write) = own.first() {
                    return Err(Flaw::at(Reason::OutsideImage { buffer: id }, write.stmt));
                }
            }
            Role::Out(_, image) => {
                let image = Strided::new(image.offset, image.dims.iter().copied());
                exactly_once(id, buffer, &image, own, budget)?;
            }
            Role::Scratch => at_most_once(id, buffer, own, budget)?,
        }
    }
    Ok(())
}

fn exactly_once(
    id: BufferId,
    buffer: &Buffer,
    image: &Strided,
    writes: &[Write],
    budget: &mut Budget,
) -> Result<(), Flaw> {
    if let [only] = writes
        && only.set == *image
        && image.is_nested()
    {
        return Ok(());
    }
    let found = match repeats(image, budget) {
        Ok(true) => return Err(Flaw::in_buffer(Reason::ImageRepeats { buffer: id })),
        Ok(false) if !image.is_nested() => Err(Exhausted),
        Ok(false) => search(id, image, writes, budget),
        Err(exhausted) => Err(exhausted),
    };
    found.unwrap_or_else(|Exhausted| mark(id, buffer, Some(image), writes))?;
    let written = writes
        .iter()
        .fold(0i128, |n, w| n.saturating_add(w.set.count()));
    let expected = image.count();
    if written != expected {
        let reason = Reason::NotCovered {
            buffer: id,
            written,
            expected,
        };
        return Err(Flaw::in_buffer(reason));
    }
    Ok(())
}

fn at_most_once(
    id: BufferId,
    buffer: &Buffer,
    writes: &[Write],
    budget: &mut Budget,
) -> Result<(), Flaw> {
    let whole = Strided::new(0, [(buffer.len.max(1), 1)]);
    let found = search(id, &whole, writes, budget);
    found.unwrap_or_else(|Exhausted| mark(id, buffer, None, writes))
}

/// Whether the writes stay in a nested image and apart.
fn search(
    id: BufferId,
    image: &Strided,
    writes: &[Write],
    budget: &mut Budget,
) -> Result<Result<(), Flaw>, Exhausted> {
    let mut pieces = Pieces::new();
    for write in writes {
        if repeats(&write.set, budget)? {
            return Ok(Err(Flaw::at(
                Reason::WritesTwice { buffer: id },
                write.stmt,
            )));
        }
        if write.set.low < image.low || write.set.high() > image.high() {
            return Ok(Err(Flaw::at(
                Reason::OutsideImage { buffer: id },
                write.stmt,
            )));
        }
        pieces.push(Piece {
            set: write.set.clone(),
            stmt: Some(write.stmt),
        });
    }
    pieces.extend(
        image
            .gaps()
            .into_iter()
            .map(|set| Piece { set, stmt: None }),
    );
    Ok(match meeting(&mut pieces, budget)? {
        Some((Some(a), Some(b))) => Err(Flaw::overlap(id, a.min(b), a.max(b))),
        Some((Some(stmt), None) | (None, Some(stmt))) => {
            Err(Flaw::at(Reason::OutsideImage { buffer: id }, stmt))
        }
        Some((None, None)) | None => Ok(()),
    })
}

/// The owners of two pieces that meet, if any do.
#[allow(clippy::type_complexity, reason = "two owners")]
fn meeting(
    pieces: &mut [Piece],
    budget: &mut Budget,
) -> Result<Option<(Option<u32>, Option<u32>)>, Exhausted> {
    pieces.sort_unstable_by_key(|p| p.set.low);
    let mut start = 0;
    while start < pieces.len() {
        budget.spend()?;
        let mut high = pieces[start].set.high();
        let mut end = start + 1;
        while end < pieces.len() && pieces[end].set.low <= high {
            high = high.max(pieces[end].set.high());
            end += 1;
        }
        let group = &pieces[start..end];
        start = end;
        if group.len() == 1 {
            continue;
        }
        let found = match within_one_window(group) {
            Some(mut inner) => meeting(&mut inner, budget)?,
            None => pairwise(group, budget)?,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The pieces without their outermost step, if it is the same for all and they fit into it.
fn within_one_window(group: &[Piece]) -> Option<Pieces> {
    let &(extent, stride) = group.first()?.set.dims.first()?;
    if group
        .iter()
        .any(|p| p.set.dims.first() != Some(&(extent, stride)))
    {
        return None;
    }
    let outer = (extent - 1) * stride;
    let low = group.iter().map(|p| p.set.low).min()?;
    let high = group.iter().map(|p| p.set.high() - outer).max()?;
    if high - low >= stride {
        return None;
    }
    let inner = group.iter().map(|p| {
        let dims = p.set.dims[1..].iter().copied().collect();
        let set = Strided {
            dims,
            span: p.set.span - outer,
            ..p.set
        };
        Piece { set, stmt: p.stmt }
    });
    Some(inner.collect())
}

#[allow(clippy::type_complexity, reason = "two owners")]
fn pairwise(
    group: &[Piece],
    budget: &mut Budget,
) -> Result<Option<(Option<u32>, Option<u32>)>, Exhausted> {
    for (at, a) in group.iter().enumerate() {
        for b in &group[at + 1..] {
            if b.set.low > a.set.high() {
                break;
            }
            let gaps = a.stmt.is_none() && b.stmt.is_none();
            if !gaps && meet(&a.set, &b.set, budget)? {
                return Ok(Some((a.stmt, b.stmt)));
            }
        }
    }
    Ok(None)
}

/// The same question as [`search`], element by element.
fn mark(
    id: BufferId,
    buffer: &Buffer,
    image: Option<&Strided>,
    writes: &[Write],
) -> Result<(), Flaw> {
    if buffer.len > MARKED {
        return Err(Flaw::in_buffer(Reason::Undecided { buffer: id }));
    }
    let len = usize::try_from(buffer.len).unwrap_or(0);
    let mut wanted = vec![image.is_none(); len];
    let mut writer: Vec<Option<u32>> = vec![None; len];
    if let Some(image) = image {
        let once = !image.repeats
            && image.all(|a| match wanted.get_mut(a as usize) {
                Some(seen) => !std::mem::replace(seen, true),
                None => false,
            });
        if !once {
            return Err(Flaw::in_buffer(Reason::ImageRepeats { buffer: id }));
        }
    }
    for write in writes {
        let twice = || Flaw::at(Reason::WritesTwice { buffer: id }, write.stmt);
        if write.set.repeats {
            return Err(twice());
        }
        let mut flaw = Ok(());
        write.set.all(|a| {
            let at = a as usize;
            flaw = if wanted.get(at) != Some(&true) {
                Err(Flaw::at(Reason::OutsideImage { buffer: id }, write.stmt))
            } else {
                match writer[at].replace(write.stmt) {
                    None => Ok(()),
                    Some(other) if other == write.stmt => Err(twice()),
                    Some(other) => Err(Flaw::overlap(id, other, write.stmt)),
                }
            };
            flaw.is_ok()
        });
        flaw?;
    }
    Ok(())
}
