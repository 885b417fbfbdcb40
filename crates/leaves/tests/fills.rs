//! Fills at every level and width against the naive loop, between guard pages.

mod common;

use common::{Guarded, hull, points};
use restride_leaves::{Features, Leaf, Planner, Target};
use restride_loops::Random;

#[test]
fn boxes_of_bits() {
    let mut arena = Guarded::new(1 << 16);
    let mut random = Random::new(5);
    let bits = 0x1f2e_3d4c_5b6a_7988_0716_2534_4352_6170u128;
    for _ in 0..3000 {
        let width = random.pick(&[1usize, 2, 4, 8, 16]);
        let inner = random.below(90) as i64 + 1;
        let step = random.pick(&[1, 1, 1, 2, 3, -1]);
        let rows = random.below(4) as i64 + 1;
        let row = inner * i64::abs(step) + random.pick(&[0, 0, 1, 5]);
        let dims = [(rows, row), (inner, step)];
        let (low, len) = hull(&dims, width);
        let at = if random.below(2) == 0 {
            0
        } else {
            arena.len() - len
        } as i64
            - low;
        for cpu in Features::WIDTHS {
            let leaf =
                Leaf::prepare_fill(&dims, width, bits, &Planner::new(&Target::with(cpu))).unwrap();
            let mut want = vec![9; arena.len()];
            points(&dims.map(|(n, s)| (n, s, 0)), &mut |d, _| {
                let d = (at + d * width as i64) as usize;
                want[d..d + width].copy_from_slice(&bits.to_le_bytes()[..width]);
            });
            arena.bytes().fill(9);
            // SAFETY: the hull was placed inside the arena.
            unsafe { leaf.call(arena.start().wrapping_offset(at as isize), std::ptr::null()) }
            assert!(want == arena.bytes(), "{cpu:?} width {width} {dims:?}");
        }
    }
}
