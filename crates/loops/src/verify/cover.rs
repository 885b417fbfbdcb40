//! Every element of an output's image is written exactly once, nothing else of the output is, and
//! no element of scratch is written twice: over all statements, iterations and phases.
//!
//! The proof counts: each write runs through no address twice, no two writes meet, none leaves the
//! image, and their sizes add up to the image's. An image with gaps is handled by taking the gaps
//! for writes that must not be met either.

use super::apart::{Owners, Piece, Pieces, meeting};
use super::search::{Budget, Exhausted, repeats};
use super::strided::Strided;
use super::walk::Write;
use super::{Flaw, Reason};
use crate::ir::{Buffer, BufferId, Kernel, Role};

/// Up to this length, what the search does not decide is decided by marking elements.
pub(super) const MARKED: i64 = 1 << 16;

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
        Some(Owners(Some(a), Some(b))) => Err(Flaw::overlap(id, a.min(b), a.max(b))),
        Some(Owners(Some(stmt), None) | Owners(None, Some(stmt))) => {
            Err(Flaw::at(Reason::OutsideImage { buffer: id }, stmt))
        }
        Some(Owners(None, None)) | None => Ok(()),
    })
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
