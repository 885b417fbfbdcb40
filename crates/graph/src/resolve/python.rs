//! Python's own slicing over lists, for tests: by walking, with no formula for the length.

use super::AxisSpan;

/// `list(range(size))[start:stop:step]`.
pub(super) fn slice(size: i64, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<i64> {
    let (size, step) = (i128::from(size), i128::from(step));
    let wrap = |index: i64| {
        let index = i128::from(index);
        if index < 0 { index + size } else { index }
    };
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let mut at = match start {
        Some(start) => wrap(start).max(low).min(high),
        None if step > 0 => 0,
        None => size - 1,
    };
    let end = match stop {
        Some(stop) => wrap(stop).max(low).min(high),
        None if step > 0 => size,
        None => -1,
    };
    let mut out = Vec::new();
    while (step > 0 && at < end) || (step < 0 && at > end) {
        out.push(at as i64);
        at += step;
    }
    out
}

/// The indices of a span.
pub(super) fn indices(span: AxisSpan) -> Vec<i64> {
    (0..span.len).map(|k| span.start + k * span.step).collect()
}

/// The normal form that spans promise.
pub(super) fn assert_normal(span: AxisSpan, size: i64) {
    assert!(span.step != 0 && span.len >= 0 && span.len <= size);
    assert!(span.len > 1 || span.step == 1);
    assert!(span.len > 0 || span.start == 0);
    assert!(indices(span).iter().all(|index| (0..size).contains(index)));
}

/// Indices in, around and far outside an axis.
pub(super) fn interesting(size: i64) -> Vec<i64> {
    let mut out: Vec<i64> = (-size - 2..=size + 2).collect();
    out.extend([i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1]);
    out.extend([i64::from(i32::MIN), i64::from(i32::MAX)]);
    out
}

/// Steps small, and so large that products overflow.
pub(super) fn steps() -> [i64; 12] {
    [
        1,
        -1,
        2,
        -2,
        3,
        -3,
        7,
        -7,
        i64::MAX,
        i64::MIN,
        i64::MIN + 1,
        1 << 32,
    ]
}
