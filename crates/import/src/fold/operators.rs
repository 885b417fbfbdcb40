//! The operators that shape arithmetic is written in.

use restride_graph::ElementType;

use super::numbers::{List, Numbers};
use crate::builder::MAX_VALUE;
use crate::rules::{Ask, broadcast, element_of, reduced};
use crate::spell::Framework;

/// What an operator makes of numbers; nothing if it is not known here, or fails.
pub(super) fn apply(ask: &Ask<'_>, inputs: &[Option<Numbers>]) -> Option<Numbers> {
    let input = |at: usize| inputs.get(at)?.as_ref();
    let first = input(0)?;
    if let Some(second) = input(1)
        && let Some(op) = rounding(ask)
        && let Some(done) = binary(op, first, second)
    {
        // Sum, Max and the like take any number of operands.
        return inputs[2..]
            .iter()
            .try_fold(done, |left, right| binary(op, &left, right.as_ref()?));
    }
    match ask.op {
        "Cast" | "Convert" => cast(first, element_of(ask)?),
        "CastLike" => cast(first, input(1)?.element),
        "Where" | "Select" => choose(first, input(1)?, input(2)?),
        "Range" => range(first, input(1)?, input(2)?, element_of(ask)),
        "Not" | "LogicalNot" => whole(first, |n| i64::from(n == 0)),
        "Neg" | "Negative" | "Abs" | "Sign" | "Floor" | "Ceil" | "Ceiling" | "Sqrt" | "Round"
        | "Exp" | "Log" | "Reciprocal" | "Relu" => unary(ask.op, first),
        "Sum" | "Max" | "Min" | "Mean" if inputs.len() == 1 => Some(first.clone()),
        "NonZero" => non_zero(first),
        "CumSum" => cumulative(ask, first),
        _ => {
            let kind = ask.op.strip_prefix("Reduce")?;
            reduce(ask, kind, first)
        }
    }
}

/// The operator, by a name that says which way integers are divided: to 0 as `Div` and `Rest`, or down
/// as `FloorDiv` and `FloorMod`.
fn rounding<'a>(ask: &Ask<'a>) -> Option<&'a str> {
    let openvino = ask.framework == Framework::OpenVino;
    Some(match ask.op {
        "Divide" if ask.int("m_pythondiv", 1) != 0 => "FloorDiv",
        "Divide" => "Div",
        "Mod" if openvino || ask.int("fmod", 0) != 0 => "Rest",
        "Mod" => "FloorMod",
        op => op,
    })
}

fn cast(x: &Numbers, element: ElementType) -> Option<Numbers> {
    let real = matches!(
        element,
        ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64
    );
    let list = match (&x.list, real) {
        (_, true) => List::Real((0..x.len()).map(|at| x.real(at)).collect()),
        (List::Real(list), false) if element == ElementType::Bool => {
            List::Whole(list.iter().map(|&n| i64::from(n != 0.0)).collect())
        }
        (List::Whole(list), false) if element == ElementType::Bool => {
            List::Whole(list.iter().map(|&n| i64::from(n != 0)).collect())
        }
        (_, false) if element.is_index() => {
            List::Whole((0..x.len()).map(|at| x.whole(at)).collect())
        }
        (_, false) => return None,
    };
    Some(rounded(Numbers {
        element,
        shape: x.shape.clone(),
        list,
    }))
}

/// The numbers as their element holds them: what follows is computed from those.
fn rounded(x: Numbers) -> Numbers {
    match x.constant().ok().as_ref().and_then(Numbers::of) {
        Some(rounded) => rounded,
        None => x,
    }
}

fn unary(op: &str, x: &Numbers) -> Option<Numbers> {
    if let List::Whole(_) = x.list {
        return whole(x, |n| match op {
            "Neg" | "Negative" => n.wrapping_neg(),
            "Abs" => n.wrapping_abs(),
            "Sign" => n.signum(),
            "Relu" => n.max(0),
            _ => n,
        })
        .filter(|_| !matches!(op, "Sqrt" | "Exp" | "Log" | "Reciprocal"));
    }
    let apply = |n: f64| match op {
        "Neg" | "Negative" => -n,
        "Abs" => n.abs(),
        "Sign" if n == 0.0 => n,
        "Sign" => n.signum(),
        "Floor" => n.floor(),
        "Ceil" | "Ceiling" => n.ceil(),
        "Sqrt" => n.sqrt(),
        "Round" => n.round_ties_even(),
        "Exp" => n.exp(),
        "Log" => n.ln(),
        "Reciprocal" => 1.0 / n,
        _ => n.max(0.0),
    };
    Some(rounded(Numbers {
        list: List::Real((0..x.len()).map(|at| apply(x.real(at))).collect()),
        ..x.clone()
    }))
}

fn whole(x: &Numbers, apply: impl Fn(i64) -> i64) -> Option<Numbers> {
    let List::Whole(list) = &x.list else {
        return None;
    };
    Some(rounded(Numbers {
        list: List::Whole(list.iter().map(|&n| apply(n)).collect()),
        ..x.clone()
    }))
}

/// For each element of the broadcast result, where it lies in each operand.
fn places(shape: &[i64], operands: &[&Numbers]) -> Option<Vec<Vec<usize>>> {
    let count = shape.iter().try_fold(1usize, |count, &size| {
        count.checked_mul(usize::try_from(size).ok()?)
    })?;
    if count > MAX_VALUE {
        return None;
    }
    let strides = operands.iter().map(|x| {
        let mut step = 1usize;
        let mut strides = vec![0; shape.len()];
        for (axis, &size) in x.shape.iter().enumerate().rev() {
            if size != 1 {
                strides[shape.len() - x.shape.len() + axis] = step;
            }
            step *= size as usize;
        }
        strides
    });
    let strides: Vec<Vec<usize>> = strides.collect();
    let place = |at: usize, strides: &[usize]| {
        let (mut rest, mut place) = (at, 0);
        for (&size, &stride) in shape.iter().zip(strides).rev() {
            place += rest % size as usize * stride;
            rest /= size as usize;
        }
        place
    };
    Some(
        (0..count)
            .map(|at| strides.iter().map(|strides| place(at, strides)).collect())
            .collect(),
    )
}

fn binary(op: &str, x: &Numbers, y: &Numbers) -> Option<Numbers> {
    const COMPARES: &str = "Equal NotEqual Less LessEqual LessOrEqual Greater GreaterEqual \
        GreaterOrEqual And Or Xor LogicalAnd LogicalOr LogicalXor";
    const KNOWN: &str = "Add Sum Sub Subtract Mul Multiply Div FloorDiv Rest FloorMod Pow Power Min \
        Minimum Max Maximum";
    let is_in = |names: &str| names.split(' ').any(|name| name == op);
    let (compares, known) = (is_in(COMPARES), is_in(KNOWN));
    if !compares && !known {
        return None;
    }
    let shape = broadcast(&x.shape, &y.shape)?;
    let places = places(&shape, &[x, y])?;
    let element = if compares {
        ElementType::Bool
    } else {
        x.element
    };
    let list = match (&x.list, &y.list) {
        (List::Whole(a), List::Whole(b)) => {
            let pairs = places.iter().map(|at| (a[at[0]], b[at[1]]));
            let list: Option<Vec<i64>> = pairs.map(|(a, b)| on_whole(op, a, b)).collect();
            List::Whole(list?)
        }
        (List::Real(a), _) => {
            let pairs = places.iter().map(|at| (a[at[0]], y.real(at[1])));
            if compares {
                List::Whole(
                    pairs
                        .map(|(a, b)| compare(op, a.partial_cmp(&b)))
                        .collect::<Option<_>>()?,
                )
            } else {
                List::Real(
                    pairs
                        .map(|(a, b)| on_real(op, a, b))
                        .collect::<Option<_>>()?,
                )
            }
        }
        (List::Whole(_), List::Real(_)) => return None,
    };
    Some(rounded(Numbers {
        element,
        shape,
        list,
    }))
}

fn on_whole(op: &str, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        "Add" | "Sum" => a.wrapping_add(b),
        "Sub" | "Subtract" => a.wrapping_sub(b),
        "Mul" | "Multiply" => a.wrapping_mul(b),
        "Div" => a.checked_div(b)?,
        "FloorDiv" => {
            let down = a.checked_rem(b)? != 0 && (a < 0) != (b < 0);
            a.checked_div(b)? - i64::from(down)
        }
        "Rest" => a.checked_rem(b)?,
        "FloorMod" => {
            let rest = a.checked_rem(b)?;
            if rest != 0 && (rest < 0) != (b < 0) {
                rest + b
            } else {
                rest
            }
        }
        "Pow" | "Power" => a.checked_pow(u32::try_from(b).ok()?)?,
        "Min" | "Minimum" => a.min(b),
        "Max" | "Maximum" => a.max(b),
        "And" | "LogicalAnd" => i64::from(a != 0 && b != 0),
        "Or" | "LogicalOr" => i64::from(a != 0 || b != 0),
        "Xor" | "LogicalXor" => i64::from((a != 0) != (b != 0)),
        _ => compare(op, Some(a.cmp(&b)))?,
    })
}

fn compare(op: &str, order: Option<std::cmp::Ordering>) -> Option<i64> {
    let holds = match op {
        "Equal" => order.is_some_and(|order| order.is_eq()),
        "NotEqual" => order.is_none_or(|order| order.is_ne()),
        "Less" => order.is_some_and(|order| order.is_lt()),
        "LessEqual" | "LessOrEqual" => order.is_some_and(|order| order.is_le()),
        "Greater" => order.is_some_and(|order| order.is_gt()),
        "GreaterEqual" | "GreaterOrEqual" => order.is_some_and(|order| order.is_ge()),
        _ => return None,
    };
    Some(i64::from(holds))
}

fn on_real(op: &str, a: f64, b: f64) -> Option<f64> {
    Some(match op {
        "Add" | "Sum" => a + b,
        "Sub" | "Subtract" => a - b,
        "Mul" | "Multiply" => a * b,
        "Div" | "FloorDiv" => a / b,
        "Pow" | "Power" => a.powf(b),
        "Min" | "Minimum" => a.min(b),
        "Max" | "Maximum" => a.max(b),
        _ => return None,
    })
}

fn choose(condition: &Numbers, x: &Numbers, y: &Numbers) -> Option<Numbers> {
    let shape = broadcast(&condition.shape, &broadcast(&x.shape, &y.shape)?)?;
    let places = places(&shape, &[condition, x, y])?;
    let pick = |at: &[usize]| match condition.whole(at[0]) != 0 {
        true => (x, at[1]),
        false => (y, at[2]),
    };
    let list = match x.list {
        List::Whole(_) => List::Whole(
            places
                .iter()
                .map(|at| pick(at))
                .map(|(from, at)| from.whole(at))
                .collect(),
        ),
        List::Real(_) => List::Real(
            places
                .iter()
                .map(|at| pick(at))
                .map(|(from, at)| from.real(at))
                .collect(),
        ),
    };
    Some(Numbers {
        element: x.element,
        shape,
        list,
    })
}

fn range(
    start: &Numbers,
    limit: &Numbers,
    delta: &Numbers,
    element: Option<ElementType>,
) -> Option<Numbers> {
    let (first, step) = (start.real(0), delta.real(0));
    let count = ((limit.real(0) - first) / step).ceil().max(0.0);
    if count.is_nan() || count > MAX_VALUE as f64 {
        return None;
    }
    let count = count as usize;
    let list = match start.list {
        List::Whole(_) => {
            let (first, step) = (start.whole(0), delta.whole(0));
            let number = |k: usize| first.wrapping_add(step.wrapping_mul(k as i64));
            List::Whole((0..count).map(number).collect())
        }
        List::Real(_) => List::Real((0..count).map(|k| first + step * k as f64).collect()),
    };
    let made = rounded(Numbers {
        element: start.element,
        shape: vec![count as i64],
        list,
    });
    match element {
        Some(element) => cast(&made, element),
        None => Some(made),
    }
}

/// The places of what is not 0, an axis a row.
fn non_zero(x: &Numbers) -> Option<Numbers> {
    let places: Vec<usize> = (0..x.len()).filter(|&at| x.real(at) != 0.0).collect();
    let rank = x.shape.len().max(1);
    let mut list = vec![0; rank * places.len()];
    for (column, &place) in places.iter().enumerate() {
        let mut rest = place as i64;
        for (axis, &size) in x.shape.iter().enumerate().rev() {
            list[axis * places.len() + column] = rest % size;
            rest /= size;
        }
    }
    Some(Numbers::ints(
        ElementType::I64,
        &[rank as i64, places.len() as i64],
        list,
    ))
}

/// Sums so far, of a list.
fn cumulative(ask: &Ask<'_>, x: &Numbers) -> Option<Numbers> {
    let plain = ask.int("exclusive", 0) == 0 && ask.int("reverse", 0) == 0;
    if x.shape.len() != 1 || !plain {
        return None;
    }
    let List::Whole(list) = &x.list else {
        return None;
    };
    let mut sum = 0i64;
    let sums = list.iter().map(|&n| {
        sum = sum.wrapping_add(n);
        sum
    });
    Some(rounded(Numbers {
        list: List::Whole(sums.collect()),
        ..x.clone()
    }))
}

fn reduce(ask: &Ask<'_>, kind: &str, x: &Numbers) -> Option<Numbers> {
    let (kept, axes) = reduced(ask, &x.shape)?;
    // What is reduced whole needs no walk over axes.
    if axes.iter().any(|dropped| !dropped) && x.shape.iter().zip(&axes).any(|(&n, &a)| !a && n != 1)
    {
        return None;
    }
    let count = x.len();
    let list = match &x.list {
        List::Whole(list) => List::Whole(vec![match kind {
            "Prod" => list.iter().fold(1i64, |a, &b| a.wrapping_mul(b)),
            "Sum" => list.iter().fold(0i64, |a, &b| a.wrapping_add(b)),
            "Max" => *list.iter().max()?,
            "Min" => *list.iter().min()?,
            "LogicalAnd" => i64::from(list.iter().all(|&n| n != 0)),
            "LogicalOr" => i64::from(list.iter().any(|&n| n != 0)),
            _ => return None,
        }]),
        List::Real(list) => List::Real(vec![match kind {
            "Prod" => list.iter().product(),
            "Sum" => list.iter().sum(),
            "Mean" => list.iter().sum::<f64>() / count as f64,
            "Max" => list.iter().copied().reduce(f64::max)?,
            "Min" => list.iter().copied().reduce(f64::min)?,
            _ => return None,
        }]),
    };
    Some(rounded(Numbers {
        element: x.element,
        shape: kept,
        list,
    }))
}
