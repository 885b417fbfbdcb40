//! What lines are put together from.

use std::mem::MaybeUninit;

use restride_moves::{PICKED_LINES, PICKED_WINDOWS, PickWindows, ROW_WINDOWS, line_from};

use super::LINE;
use super::register::Register;
use crate::index::OUTSIDE;

/// What a line has of one window of the source.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Portion {
    /// Where in it each byte of the line is; the highest bit says whether it is there.
    pub(super) table: [u8; LINE],
    pub(super) src: isize,
}

/// A line of the destination, and of which portions it is put together.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) dst: isize,
    pub(super) first: usize,
    pub(super) portions: usize,
    /// Which bytes of it are stored.
    pub(super) store: u64,
}

/// A mask of the first so many bytes, one at least, of a line.
fn first_bytes(bytes: usize) -> u64 {
    u64::MAX >> LINE.saturating_sub(bytes).min(LINE - 1)
}

/// The smallest and the largest offset of those that exist.
fn hull(offsets: &[isize]) -> Option<(isize, isize)> {
    let mut hull: Option<(isize, isize)> = None;
    for &offset in offsets {
        if offset != OUTSIDE {
            let (low, high) = hull.unwrap_or((offset, offset));
            hull = Some((low.min(offset), high.max(offset)));
        }
    }
    hull
}

/// The lines of a chunk being prepared.
pub(super) struct Tables {
    portions: [MaybeUninit<Portion>; PICKED_WINDOWS],
    lines: [MaybeUninit<Line>; PICKED_LINES],
    portions_used: usize,
    lines_used: usize,
    /// Which portion has a window.
    of: [u8; ROW_WINDOWS],
}

/// The windows of elements at offsets from a source at an address; nothing if there are too many, or too few elements.
#[inline(always)]
pub(super) fn windows_of<V: Register>(
    src: usize,
    offsets: &[isize],
    run: usize,
) -> Option<PickWindows> {
    let hull = hull(offsets).unwrap_or((0, 0));
    PickWindows::of(hull, (offsets.len(), run), src, V::BYTES)
}

/// What may be loaded of a window.
pub(super) fn mask_of(windows: PickWindows) -> u64 {
    first_bytes(windows.hull())
}

impl Tables {
    /// Tables in a place that nothing was written to, and which nothing is copied to.
    #[inline(always)]
    pub(super) fn at(place: &mut MaybeUninit<Tables>) -> &mut Tables {
        let tables = place.as_mut_ptr();
        // SAFETY: it lies in the place, and portions and lines need not be written.
        unsafe {
            (&raw mut (*tables).portions_used).write(0);
            (&raw mut (*tables).lines_used).write(0);
            (&raw mut (*tables).of).write([0; ROW_WINDOWS]);
            &mut *tables
        }
    }

    pub(super) fn clear(&mut self) {
        (self.portions_used, self.lines_used) = (0, 0);
    }

    /// What was added.
    #[inline(always)]
    pub(super) fn filled(&self) -> (&[Portion], &[Line]) {
        // SAFETY: so many of both were written.
        unsafe {
            (
                self.portions[..self.portions_used].assume_init_ref(),
                self.lines[..self.lines_used].assume_init_ref(),
            )
        }
    }

    /// Adds lines of elements, of so many bytes, from one of these on; `worth` says as how many of them a line counts that begins
    /// at one and has so many. Says to which, and whether what is left is worth that as well.
    #[inline(always)]
    pub(super) fn fill<V: Register>(
        &mut self,
        offsets: &[isize],
        mut done: usize,
        run: usize,
        windows: PickWindows,
        worth: impl Fn(usize, usize) -> usize,
    ) -> (usize, bool) {
        let per_line = V::BYTES / run;
        while done < offsets.len() {
            let begin = line_from(done, offsets.len(), per_line, V::BYTES);
            let next = offsets.len().min(begin + per_line);
            let (line, to) = (&offsets[begin..next], (begin * run) as isize);
            let worth = worth(begin, line.len());
            let added = match run {
                1 => self.add::<V, 1>(line, worth, to, windows),
                2 => self.add::<V, 2>(line, worth, to, windows),
                4 => self.add::<V, 4>(line, worth, to, windows),
                8 => self.add::<V, 8>(line, worth, to, windows),
                _ => self.add::<V, 16>(line, worth, to, windows),
            };
            match added {
                Added::Yes => done = next,
                Added::Full => return (done, true),
                Added::Dear => return (done, false),
            }
        }
        (done, true)
    }

    /// Adds the line of elements of so many bytes at `offsets`, if it is worth that as one of so many.
    #[inline(always)]
    fn add<V: Register, const RUN: usize>(
        &mut self,
        offsets: &[isize],
        worth: usize,
        dst: isize,
        windows: PickWindows,
    ) -> Added {
        let mut used = 0u128;
        for &offset in offsets {
            if offset != OUTSIDE {
                used |= 1 << windows.number(offset, V::BYTES);
            }
        }
        let (first, portions) = (self.portions_used, used.count_ones() as usize);
        let (lines, elements) = V::AS_LONG;
        if elements * (portions + 1) > lines * worth {
            return Added::Dear;
        }
        if self.lines_used == PICKED_LINES || first + portions > PICKED_WINDOWS {
            return Added::Full;
        }
        for (at, portion) in (first..).zip(&mut self.portions[first..first + portions]) {
            let window = used.trailing_zeros() as usize % ROW_WINDOWS;
            used &= used.wrapping_sub(1);
            self.of[window] = at as u8;
            portion.write(Portion {
                table: [V::ELSEWHERE; LINE],
                src: windows.start(window, V::BYTES),
            });
        }
        for (to, &offset) in offsets.iter().enumerate() {
            if offset == OUTSIDE {
                continue;
            }
            let portion =
                &mut self.portions[usize::from(self.of[windows.number(offset, V::BYTES)])];
            // SAFETY: a portion was written above for every window of the line, and elements end within it.
            unsafe {
                let portion = portion.assume_init_mut();
                let from = offset.wrapping_sub(portion.src) as u8 | (V::ELSEWHERE ^ 0x80);
                count_from::<RUN>(portion.table.as_mut_ptr().add(to * RUN), from);
            }
        }
        self.lines[self.lines_used].write(Line {
            dst,
            first,
            portions,
            store: first_bytes(offsets.len() * RUN),
        });
        self.portions_used += portions;
        self.lines_used += 1;
        Added::Yes
    }
}

/// Writes so many bytes, a power of two up to 16: `from` and those after it.
///
/// # Safety
/// They are writable.
#[inline]
unsafe fn count_from<const RUN: usize>(to: *mut u8, from: u8) {
    const ONES: u128 = u128::MAX / 0xff;
    const COUNT: u128 = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100;
    let bytes = ONES.wrapping_mul(u128::from(from)).wrapping_add(COUNT);
    // SAFETY: the caller's.
    unsafe {
        match RUN {
            1 => to.write(from),
            2 => to.cast::<u16>().write_unaligned(bytes as u16),
            4 => to.cast::<u32>().write_unaligned(bytes as u32),
            8 => to.cast::<u64>().write_unaligned(bytes as u64),
            _ => to.cast::<u128>().write_unaligned(bytes),
        }
    }
}

enum Added {
    Yes,
    /// There is no room.
    Full,
    /// It takes too many windows to be worth it.
    Dear,
}
