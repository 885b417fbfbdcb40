//! A move between guard pages, at every width of vectors of all cores.

use super::{Guarded, hull, points};
use restride_leaves::{Core, Features, Leaf, Planner, Target};
use restride_loops::{Dim, Form, Random};
use restride_moves::{ByteBox, Manner};

pub struct Arena {
    dst: Guarded,
    src: Guarded,
    want: Vec<u8>,
    /// One for every machine.
    pub planners: Vec<Planner>,
    /// For each manner, one for every machine that is held to it.
    held: Vec<Vec<Planner>>,
    /// Picks the manner.
    random: Random,
}

/// For every width of vectors that there is, on every core, and on a machine that there is not, whose caches hold next to
/// nothing: whatever a target says, what is moved is right.
pub fn planners() -> Vec<Planner> {
    let planner = |features, core| {
        let target = Target::with(features);
        Planner::new(&Target { core, ..target })
    };
    let widths = Features::WIDTHS.into_iter();
    let widths = widths.filter(|&cpu| cpu <= Features::detect());
    let all = widths.flat_map(|cpu| Core::ALL.map(|core| planner(cpu, core)));
    let nothing = [Features::Sse2, Features::detect()].map(|features| {
        Planner::new(&Target {
            line: 0,
            l1: 0,
            l1_way: 0,
            l2: 0,
            last: 0,
            past_from: 0,
            core: Core::Zen,
            ..Target::with(features)
        })
    });
    all.chain(nothing).collect()
}

fn held_to(manner: Manner) -> Vec<Planner> {
    let planners = planners().into_iter();
    planners.map(|planner| planner.held_to(manner)).collect()
}

impl Arena {
    pub fn new(bytes: usize) -> Arena {
        let mut src = Guarded::new(bytes);
        let mut random = Random::new(77);
        for byte in src.bytes() {
            *byte = random.bits() as u8;
        }
        let dst = Guarded::new(bytes);
        let want = vec![0; dst.len()];
        Arena {
            dst,
            src,
            want,
            planners: planners(),
            held: Manner::ALL.map(|(manner, _)| held_to(manner)).into(),
            random: Random::new(78),
        }
    }

    /// Moves one box at every level, as is chosen and, now and then, in another way that it has, against the upper or the lower guard
    /// pages, and says in which ways it is by choice.
    pub fn check(
        &mut self,
        dims: &[Dim],
        width: usize,
        form: Form,
        low: bool,
        shift: usize,
    ) -> Vec<&'static str> {
        let of = |f: fn(&Dim) -> i64| dims.iter().map(|d| (d.extent, f(d))).collect::<Vec<_>>();
        let (dst_low, dst_len) = hull(&of(|d| d.dst), width);
        let (src_low, src_len) = hull(&of(|d| d.src), width);
        assert!(dst_len + shift <= self.dst.len() && src_len + shift <= self.src.len());
        let at = |len: usize, room: usize| if low { shift } else { room - len - shift };
        // Only one of the two is shifted, so the other touches its guard page.
        let dst_at = at(dst_len, self.dst.len()) as i64 - dst_low;
        let src_at = if low { 0 } else { self.src.len() - src_len } as i64 - src_low;
        let box_: Vec<_> = dims.iter().map(|d| (d.extent, d.dst, d.src)).collect();
        let mut ways = Vec::new();
        let manners = self.held.len();
        let held = (0..self.planners.len()).filter_map(|nth| {
            let held = self.held.get(self.random.below(4 * manners))?;
            Some(&held[nth])
        });
        for planner in self.planners.iter().chain(held) {
            let plan = planner.plan(ByteBox::of_move(dims, width).unwrap(), form);
            let (alone, way) = (Leaf::of(&plan), plan.way().name());
            ways.push(way);
            let after = match way {
                "lines" => after(dims, width, form, planner),
                _ => None,
            };
            for leaf in after.into_iter().chain([alone]) {
                self.dst.bytes().fill(0xa5);
                self.want.fill(0xa5);
                let src = self.src.bytes();
                points(&box_, &mut |d, s| {
                    let d = (dst_at + d * width as i64) as usize;
                    let s = (src_at + s * width as i64) as usize;
                    self.want[d..d + width].copy_from_slice(&src[s..s + width]);
                });
                // SAFETY: both hulls were placed inside the arenas.
                unsafe {
                    leaf.call(
                        self.dst.start().wrapping_offset(dst_at as isize),
                        self.src.start().wrapping_offset(src_at as isize),
                    );
                }
                let differs = |at: &usize| self.want[*at] != self.dst.bytes()[*at];
                if let Some(at) = (0..self.want.len()).find(differs) {
                    panic!(
                        "{:?} {form:?} as {way} width {width} low {low} shift {shift}: byte {at} of {dims:?}",
                        planner.features(),
                    );
                }
            }
        }
        ways.truncate(self.planners.len());
        ways
    }
}

/// How a box is moved that comes after another, of which the outermost dimension is longer.
fn after(dims: &[Dim], width: usize, form: Form, planner: &Planner) -> Option<Leaf> {
    let mut longer = dims.to_vec();
    longer.first_mut()?.extent += 7;
    let mut last = None;
    Leaf::prepare_after(&mut last, &longer, width, form, planner).unwrap();
    Some(Leaf::prepare_after(&mut last, dims, width, form, planner).unwrap())
}

pub fn dim(extent: i64, dst: i64, src: i64) -> Dim {
    Dim { extent, dst, src }
}

/// Strides of a dense layout of the extents in the given order, with gaps now and then.
pub fn layout(random: &mut Random, extents: &[i64], order: &[usize], gaps: bool) -> Vec<i64> {
    let mut strides = vec![0; extents.len()];
    let mut next = if gaps && random.below(4) == 0 {
        random.below(3) as i64 + 2
    } else {
        1
    };
    for &axis in order {
        strides[axis] = next;
        next *= extents[axis];
        if gaps && random.below(4) == 0 {
            next += random.below(5) as i64;
        }
    }
    for stride in &mut strides {
        if random.below(6) == 0 {
            *stride = -*stride;
        }
    }
    strides
}
