//! Every element of an output's image is written exactly once, nothing else of the output is, and
//! no element of scratch is written twice: over all statements, iterations and phases.
//!
//! One write that has the image's normal form is the image, and so are a few that become one when
//! neighbours are joined, see [`joined`]. Else the writes are added up, see
//! [`fingerprint`](super::fingerprint): this takes time linear in their number however irregular
//! they are, and refuses nothing that is right. Only when they do not add up are they looked at
//! one by one, to say what is wrong; and so are those of scratch that is written in part.

use super::fingerprint::Point;
use super::search::{Exhausted, SearchBudget, meet, repeats};
use super::strided::Strided;
use super::walk::Write;
use super::{Flaw, Reason, joined};
use crate::ir::{BufferId, Kernel, Role};

/// The buffers of scratch whose every element is written, in order.
pub(super) type Whole = Vec<BufferId>;

/// All buffers. Sorts the writes by buffer.
pub(super) fn all(
    kernel: &Kernel,
    writes: &mut [Write],
    budget: &mut SearchBudget,
) -> Result<Whole, Flaw> {
    writes.sort_by_key(|w| (w.buffer, w.stmt));
    let mut rest = &*writes;
    let mut point = None;
    let mut whole = Whole::new();
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
                match repeats(&image, budget) {
                    Ok(false) => {}
                    Ok(true) => return Err(Flaw::in_buffer(Reason::ImageRepeats { buffer: id })),
                    Err(Exhausted) => {
                        return Err(Flaw::in_buffer(Reason::Undecided { buffer: id }));
                    }
                }
                if !is_whole(own, &image, &mut point) {
                    return Err(flaw(id, own, &image, budget));
                }
            }
            Role::Scratch => {
                let all = Strided::new(0, [(buffer.len.max(1), 1)]);
                if is_whole(own, &all, &mut point) {
                    whole.push(id);
                } else {
                    apart(id, own, &all, budget)?;
                }
            }
        }
    }
    Ok(whole)
}

/// Whether the writes hold every element of an image once, and no other.
fn is_whole(writes: &[Write], image: &Strided, point: &mut Option<Point>) -> bool {
    if let [only] = writes
        && only.set == *image
        && image.is_nested()
    {
        return true;
    }
    if joined::is_image(writes.iter().map(|write| &write.set), image) {
        return true;
    }
    let point = point.get_or_insert_with(Point::random);
    point.add_up(writes.iter().map(|write| &write.set), image)
}

/// What is wrong with writes that do not add up to an image.
#[cold]
fn flaw(id: BufferId, writes: &[Write], image: &Strided, budget: &mut SearchBudget) -> Flaw {
    if let Err(flaw) = apart(id, writes, image, budget)
        && !matches!(flaw.reason, Reason::Undecided { .. })
    {
        return flaw;
    }
    for gap in image.gaps() {
        let outside = |write: &&Write| matches!(meet(&write.set, &gap, budget), Ok(true));
        if let Some(write) = writes.iter().find(outside) {
            return Flaw::at(Reason::OutsideImage { buffer: id }, write.stmt);
        }
    }
    let count = |n: i128, write: &Write| n.saturating_add(write.set.count());
    Flaw::in_buffer(Reason::NotCovered {
        buffer: id,
        written: writes.iter().fold(0, count),
        expected: image.count(),
    })
}

/// Whether no write leaves the hull of an image, runs through an address twice or meets another.
fn apart(
    id: BufferId,
    writes: &[Write],
    image: &Strided,
    budget: &mut SearchBudget,
) -> Result<(), Flaw> {
    let undecided = |Exhausted| Flaw::in_buffer(Reason::Undecided { buffer: id });
    for write in writes {
        if repeats(&write.set, budget).map_err(undecided)? {
            return Err(Flaw::at(Reason::WritesTwice { buffer: id }, write.stmt));
        }
        if write.set.low < image.low || write.set.high() > image.high() {
            return Err(Flaw::at(Reason::OutsideImage { buffer: id }, write.stmt));
        }
    }
    let mut sorted: Vec<&Write> = writes.iter().collect();
    sorted.sort_unstable_by_key(|write| write.set.low);
    for (at, a) in sorted.iter().enumerate() {
        for b in &sorted[at + 1..] {
            if b.set.low > a.set.high() {
                break;
            }
            if meet(&a.set, &b.set, budget).map_err(undecided)? {
                return Err(Flaw::overlap(id, a.stmt.min(b.stmt), a.stmt.max(b.stmt)));
            }
        }
    }
    Ok(())
}
