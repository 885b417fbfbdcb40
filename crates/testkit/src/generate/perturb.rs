//! Operators that are nearly right: one number of a valid one changed.

use restride_graph::{Ints, Number, Op, PadMode};

use super::Random;

const EXTREMES: [i64; 8] = [
    i64::MIN,
    i64::MIN + 1,
    -1,
    0,
    1,
    i64::MAX - 1,
    i64::MAX,
    1 << 32,
];

fn number(random: &mut Random, number: &mut i64) {
    *number = match random.below(6) {
        0 => number.saturating_add(1),
        1 => number.saturating_sub(1),
        2 => number.checked_neg().unwrap_or(0),
        3 => random.within(-7, 7),
        _ => random.pick(&EXTREMES),
    };
}

fn list(random: &mut Random, list: &mut Ints) {
    match random.below(8) {
        0 => drop(list.pop()),
        1 => list.push(random.within(-3, 5)),
        2 if !list.is_empty() => {
            let entry = random.pick(list);
            list.push(entry);
        }
        _ if !list.is_empty() => {
            let at = random.below(list.len());
            number(random, &mut list[at]);
        }
        _ => {}
    }
}

/// Changes one number of an operator a little, or a lot.
pub(super) fn perturb(random: &mut Random, op: &mut Op) {
    if let Op::Pad { mode, .. } = op
        && random.percent(33)
    {
        *mode = match random.below(5) {
            0 => PadMode::Constant(1 << random.below(128)),
            _ => random.pick(PadMode::MODES),
        };
        return;
    }
    let mut count = 0;
    op.change_numbers(|_| count += 1);
    let mut left = random.below(count.max(1));
    op.change_numbers(|changed| {
        let here = left == 0;
        left = left.wrapping_sub(1);
        match changed {
            _ if !here => {}
            Number::One(one) => number(random, one),
            Number::List(items) => list(random, items),
            Number::Bits(bits) => *bits = 1 << random.below(128),
        }
    });
}
