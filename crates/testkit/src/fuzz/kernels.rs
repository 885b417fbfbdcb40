//! Hostile kernels: as texts, and generated ones with a few numbers changed.

use restride_loops::{
    Fault, Kernel, Order, Role, Stmt, Verified, generate, interpret_chunked, verify,
};

use super::Bytes;

/// The most bytes of all buffers of a kernel that is run.
const SMALL: i64 = 1 << 14;

/// A text of the loop IR.
pub fn loops_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(kernel) = text.parse::<Kernel>() else {
        return;
    };
    let printed = kernel.to_string();
    assert_eq!(printed.parse().as_ref(), Ok(&kernel), "{printed}");
    if let Ok(kernel) = verify(kernel) {
        runs(&kernel);
    }
}

/// Generated kernels, a few of their numbers changed in the text.
pub fn kernels(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let kernel = generate::kernel(bytes.word());
    let mut text = kernel.to_string();
    for _ in 0..bytes.below(4) {
        let numbers: Vec<(usize, usize)> = numbers(&text);
        let Some(&(start, end)) = numbers.get(bytes.below(numbers.len())) else {
            break;
        };
        let old: i64 = text[start..end].parse().unwrap_or(0);
        let new = match bytes.below(4) {
            0 => bytes.number(),
            1 => old.wrapping_add(1),
            2 => old.wrapping_sub(1),
            _ => old.wrapping_mul(2),
        };
        text.replace_range(start..end, &new.to_string());
    }
    loops_text(text.as_bytes());
}

/// Where numbers stand in a text that are no part of a name or of a string.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let (mut found, mut start, mut quoted) = (Vec::new(), None, false);
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        quoted ^= *byte == b'"';
        match start {
            None if byte.is_ascii_digit() && !quoted => {
                let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
                if matches!(before, b' ' | b'[' | b'(' | b'.' | b'+') {
                    start = Some(at);
                } else if before == b'-' {
                    start = Some(at - 1);
                }
            }
            Some(from) if !byte.is_ascii_digit() => {
                found.push((from, at));
                start = None;
            }
            None | Some(_) => {}
        }
    }
    found
}

/// How many elements statements touch, if they are not too many. A check may look at one index
/// any number of times.
fn work(stmts: &[Stmt]) -> Option<i64> {
    let product = |extents: &mut dyn Iterator<Item = i64>| {
        let mut extents = extents;
        (&mut extents).try_fold(1i64, |product, extent| product.checked_mul(extent.max(1)))
    };
    let total = stmts.iter().try_fold(1i64, |sum, stmt| {
        let one = match stmt {
            Stmt::For { extent, body, .. } => work(body)?.checked_mul(*extent)?,
            Stmt::Check { dims, .. } | Stmt::Fill { dims, .. } => {
                product(&mut dims.iter().map(|dim| dim.0))?
            }
            Stmt::Index { .. } => 1,
            Stmt::Move(it) => product(&mut it.dims.iter().map(|dim| dim.extent))?,
            Stmt::Gather(it) => {
                product(&mut it.dims.iter().map(|dim| dim.extent))?.checked_mul(it.extent.max(1))?
            }
        };
        sum.checked_add(one)
    })?;
    (total <= 4 * SMALL).then_some(total)
}

/// Runs a proved kernel in several orders: no fault, and the same each time.
fn runs(kernel: &Verified) {
    let sizes = kernel.buffers.iter().map(|b| b.bytes());
    let total = sizes.map(|bytes| bytes.and_then(|bytes| i64::try_from(bytes).ok()));
    if total.sum::<Option<i64>>().is_none_or(|bytes| bytes > SMALL) {
        return;
    }
    let far = |role: &Role| matches!(role, Role::In(n) | Role::Out(n, _) if *n > 64);
    let long = kernel.phases.iter().any(|phase| work(phase).is_none());
    if long || kernel.buffers.iter().any(|b| far(&b.role)) {
        return;
    }
    let inputs = generate::inputs(kernel, 7);
    let mut first = None;
    for (chunks, order) in [
        (1, Order::Forward),
        (3, Order::Backward),
        (2, Order::Shuffled(1)),
    ] {
        let outcome = interpret_chunked(kernel, &inputs, chunks, order);
        match &outcome {
            Ok(_) | Err(Fault::CheckFailed { .. }) => {}
            Err(
                Fault::TooLong { .. }
                | Fault::TooLarge { .. }
                | Fault::InputMissing { .. }
                | Fault::InputTooShort { .. },
            ) => {
                return;
            }
            Err(fault) => panic!("{fault}\n{}", **kernel),
        }
        let first = first.get_or_insert_with(|| outcome.clone());
        assert_eq!(*first, outcome, "{}", **kernel);
    }
}
