//! Runs at every point of a nest, stored past the caches.
//!
//! Where source and destination exceed the last cache, a line that is stored the usual way is
//! first read and later written back; one that is stored past the caches is only written, and
//! takes nothing from what the source has in them. What is left to wait for are loads: the hardware
//! asks ahead within a page of four kilobytes and in one direction only, so rows that are short,
//! far apart or taken backwards are asked for here, at a fixed distance along the walk.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use crate::copy::{Copier, LINE, short};
use crate::leaf::Leaf;
use crate::level::{Body, Level};
use crate::nest::{Nest, walk};
use crate::vector::{Vector, fence, prefetch};
use restride_moves::ByteBox;

/// How many bytes ahead of the copy the source is asked for.
const LEAD: usize = 4096;

struct StreamParams {
    nest: Nest,
    run: usize,
    ahead: Ahead,
}

/// Where the walk will be after so many bytes more: at one distance from a line while it is
/// before the turn, and at another after it.
struct Ahead {
    turn: usize,
    near: isize,
    far: isize,
}

impl Ahead {
    /// The walk takes runs one after the other, along the innermost dimension. Near the end of that
    /// dimension the distances lead nowhere; with few rows they are short, so this is rarely so.
    fn new(shape: &ByteBox) -> Ahead {
        let (extent, step) = match shape.steps.last() {
            Some(inner) => (inner.extent, inner.src),
            None => (1, 0),
        };
        let lead = match extent {
            1 => LEAD,
            rows => LEAD.min((rows / 4).max(1).saturating_mul(shape.run)),
        };
        let (rows, rest) = (lead / shape.run, lead % shape.run);
        let after = |rows: usize| (rows as isize).wrapping_mul(step);
        let near = after(rows).wrapping_add(rest as isize);
        let far = after(rows.wrapping_add(1)).wrapping_add(rest as isize);
        Ahead {
            turn: shape.run.wrapping_sub(rest),
            near,
            far: far.wrapping_sub(shape.run as isize),
        }
    }

    /// How far ahead of what lies at `at` of a run.
    #[inline(always)]
    fn from(&self, at: usize) -> isize {
        match at < self.turn {
            true => self.near,
            false => self.far,
        }
    }
}

struct StreamRows<L>(PhantomData<L>);

impl<L: Level> Body for StreamRows<L> {
    type Params = StreamParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &StreamParams) {
        let run = params.run;
        let mut seam = Seam::none();
        walk!(&params.nest, dst, src, |d, s| {
            let head = (d.addr().wrapping_neg() % LINE).min(run);
            // SAFETY: every point of the nest is a run of the caller's box, and what the seam
            // holds belongs to such runs.
            unsafe {
                seam.go_on(d, s, head);
                let whole = run.wrapping_sub(head) / LINE * LINE;
                lines::<L::Wide>(d.add(head), s.add(head), whole, head, Some(&params.ahead));
                seam.store::<L::Wide>();
                let done = head.wrapping_add(whole);
                seam.begin(d.add(done), s.add(done), run.wrapping_sub(done));
            }
        });
        // SAFETY: as above.
        unsafe { seam.end() };
        fence();
    }
}

/// The line in which one run ends and the next begins: collected apart, so that it is stored past
/// the caches as well. Otherwise every short run would wait for a line from memory.
#[repr(align(64))]
struct Seam {
    line: [MaybeUninit<u8>; LINE],
    /// How much of the line is there, from its start.
    bytes: usize,
    /// Where the run ended whose last bytes these are; null if no run is waited for.
    end: *mut u8,
    /// Where a line that is complete goes; null if there is none.
    complete: *mut u8,
}

impl Seam {
    fn none() -> Seam {
        Seam {
            line: [MaybeUninit::uninit(); LINE],
            bytes: 0,
            end: ptr::null_mut(),
            complete: ptr::null_mut(),
        }
    }

    /// A run begins with so many bytes before its first whole line.
    ///
    /// # Safety
    /// The bytes are readable at `src` and writable at `dst`, as is what the seam holds.
    #[inline(always)]
    unsafe fn go_on(&mut self, dst: *mut u8, src: *const u8, head: usize) {
        // SAFETY: the caller's. What was begun ended at `dst`, which is as far from the end of the
        // line as `head` says, and runs have a whole line at least.
        unsafe {
            if self.end == dst {
                let line = self.line.as_mut_ptr().cast::<u8>();
                short(line.add(self.bytes), src, head);
                self.complete = self.end.wrapping_sub(self.bytes);
                self.end = ptr::null_mut();
            } else {
                self.end();
                short(dst, src, head);
            }
        }
    }

    /// Stores the line if it is complete. By now the stores that collected it are done.
    ///
    /// # Safety
    /// What the seam holds is writable where it belongs.
    #[inline(always)]
    unsafe fn store<V: Vector>(&mut self) {
        if self.complete.is_null() {
            return;
        }
        // SAFETY: the caller's; a complete line has been written whole.
        unsafe { lines::<V>(self.complete, self.line.as_ptr().cast(), LINE, 0, None) };
        self.complete = ptr::null_mut();
    }

    /// A run ends with so many bytes, fewer than a line, at the start of a line.
    ///
    /// # Safety
    /// They are readable at `src`; nothing is in the seam.
    #[inline(always)]
    unsafe fn begin(&mut self, dst: *mut u8, src: *const u8, bytes: usize) {
        if bytes == 0 {
            return;
        }
        // SAFETY: the caller's; it is less than a line.
        unsafe { short(self.line.as_mut_ptr().cast(), src, bytes) };
        self.bytes = bytes;
        self.end = dst.wrapping_add(bytes);
    }

    /// No run goes on where the last one ended: its last bytes are stored by themselves.
    ///
    /// # Safety
    /// What the seam holds is writable where it belongs.
    #[inline(always)]
    unsafe fn end(&mut self) {
        if self.end.is_null() {
            return;
        }
        let dst = self.end.wrapping_sub(self.bytes);
        // SAFETY: the caller's; so many bytes were written to the line.
        unsafe { short(dst, self.line.as_ptr().cast(), self.bytes) };
        self.end = ptr::null_mut();
    }
}

/// Stores whole lines past the caches. They begin `at` bytes into a run.
///
/// # Safety
/// So many bytes, a multiple of a line, are readable at `src` and writable at `dst`, which is where
/// a line begins.
#[inline(always)]
unsafe fn lines<V: Vector>(
    dst: *mut u8,
    src: *const u8,
    bytes: usize,
    at: usize,
    ahead: Option<&Ahead>,
) {
    let mut done = 0;
    while done < bytes {
        // SAFETY: the caller's.
        unsafe {
            let (dst, src) = (dst.add(done), src.add(done));
            if let Some(ahead) = ahead {
                prefetch(src.wrapping_offset(ahead.from(at.wrapping_add(done))));
            }
            for part in 0..LINE / V::BYTES {
                V::load(src.add(part * V::BYTES)).stream(dst.add(part * V::BYTES));
            }
        }
        done = done.wrapping_add(LINE);
    }
}

/// Any run, from what the smallest cache holds: whole lines of the destination are stored past the
/// caches, and no line of it in both ways. What a line has in a cache must leave it before it can
/// be stored past it.
pub(crate) struct Streamed<V>(PhantomData<V>);

impl<V: Vector> Copier for Streamed<V> {
    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize) {
        let head = (dst.addr().wrapping_neg() % LINE).min(n);
        let whole = n.wrapping_sub(head) / LINE * LINE;
        let done = head.wrapping_add(whole);
        // SAFETY: all of it lies in the run: before the first whole line, these, and after them.
        unsafe {
            short(dst, src, head);
            lines::<V>(dst.add(head), src.add(head), whole, 0, None);
            short(dst.add(done), src.add(done), n.wrapping_sub(done));
        }
    }
}

/// Copies the runs of any shape past the caches; they have a whole line at least.
pub(crate) fn prepare<L: Level>(shape: &ByteBox) -> Leaf {
    Leaf::new::<L, StreamRows<L>>(StreamParams {
        nest: Nest::new(shape, (0, 0), &shape.steps),
        run: shape.run,
        ahead: Ahead::new(shape),
    })
}
