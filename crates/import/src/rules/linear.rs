//! Matrix products.

use restride_graph::ElementType;

use super::{Ask, Rules, Types, Why, broadcast, dense, one};

pub(super) const RULES: Rules = &[
    ("MatMul FusedMatMul TransposeMatMul", matmul),
    ("MatMulInteger", matmul_integer),
    (
        "MatMulIntegerToFloat DynamicQuantizeMatMul",
        matmul_to_float,
    ),
    ("QLinearMatMul", quantized_matmul),
    ("MatMulNBits", matmul_packed),
    ("Gemm FusedGemm", gemm),
    ("Einsum", einsum),
];

/// The shape of a product of matrices, leading axes broadcast.
fn product(x: &[i64], y: &[i64], turn_x: bool, turn_y: bool) -> Result<Vec<i64>, Why> {
    let (mut x, mut y) = (x.to_vec(), y.to_vec());
    if x.is_empty() || y.is_empty() {
        return Err("a matrix of rank 0".into());
    }
    let (row, column) = (x.len() == 1, y.len() == 1);
    if row {
        x.insert(0, 1);
    } else if turn_x {
        let rank = x.len();
        x.swap(rank - 1, rank - 2);
    }
    if column {
        y.push(1);
    } else if turn_y {
        let rank = y.len();
        y.swap(rank - 1, rank - 2);
    }
    let (leading_x, matrix_x) = x.split_at(x.len() - 2);
    let (leading_y, matrix_y) = y.split_at(y.len() - 2);
    let mut shape = broadcast(leading_x, leading_y);
    if matrix_x[1] != matrix_y[0] {
        shape = None;
    }
    let mut shape = shape.ok_or_else(|| Why::Here(format!("{x:?} by {y:?} is no product")))?;
    if !row {
        shape.push(matrix_x[0]);
    }
    if !column {
        shape.push(matrix_y[1]);
    }
    Ok(shape)
}

fn turned(ask: &Ask<'_>, names: [&str; 2]) -> bool {
    names.iter().any(|name| ask.int(name, 0) != 0)
}

fn matmul(ask: &Ask<'_>) -> Result<Types, Why> {
    let (x, y) = (ask.input(0)?, ask.input(1)?);
    let shape = product(
        x.shape(),
        y.shape(),
        turned(ask, ["transA", "transpose_a"]),
        turned(ask, ["transB", "transpose_b"]),
    )?;
    one(dense(x.element(), shape)?)
}

fn matmul_integer(ask: &Ask<'_>) -> Result<Types, Why> {
    let shape = product(ask.input(0)?.shape(), ask.input(1)?.shape(), false, false)?;
    one(dense(ElementType::I32, shape)?)
}

fn matmul_to_float(ask: &Ask<'_>) -> Result<Types, Why> {
    let shape = product(ask.input(0)?.shape(), ask.input(1)?.shape(), false, false)?;
    one(dense(ElementType::F32, shape)?)
}

fn quantized_matmul(ask: &Ask<'_>) -> Result<Types, Why> {
    let shape = product(ask.input(0)?.shape(), ask.input(3)?.shape(), false, false)?;
    let element = ask
        .ty(7)
        .map_or(ask.input(0)?.element(), |zero| zero.element());
    one(dense(element, shape)?)
}

fn matmul_packed(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let mut shape = x.shape().to_vec();
    match shape.last_mut() {
        Some(last) => *last = ask.int("N", 0),
        None => return Err("a matrix of rank 0".into()),
    }
    one(dense(x.element(), shape)?)
}

fn gemm(ask: &Ask<'_>) -> Result<Types, Why> {
    let (x, y) = (ask.input(0)?, ask.input(1)?);
    let shape = product(
        x.shape(),
        y.shape(),
        ask.int("transA", 0) != 0,
        ask.int("transB", 0) != 0,
    )?;
    one(dense(x.element(), shape)?)
}

/// The sizes that the letters of the operands have.
fn einsum(ask: &Ask<'_>) -> Result<Types, Why> {
    let equation: String = ask
        .word("equation")
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let (terms, result) = match equation.split_once("->") {
        Some((terms, result)) => (terms, Some(result.to_owned())),
        None => (equation.as_str(), None),
    };
    let mut sizes: Vec<(char, i64, usize)> = Vec::new();
    // Axes that the dots stand for, aligned at the last and broadcast.
    let mut dots: Option<Vec<i64>> = None;
    for (at, term) in terms.split(',').enumerate() {
        let shape = ask.input(at)?.shape();
        let (before, after) = term.split_once("...").unwrap_or((term, ""));
        let letters = before.chars().count() + after.chars().count();
        let wrong = || {
            let term = term.escape_debug();
            Why::Here(format!("`{term}` for rank {}", shape.len()))
        };
        let hidden = shape.len().checked_sub(letters).ok_or_else(wrong)?;
        let from = before.chars().count();
        if term.contains("...") {
            let known = dots.take().unwrap_or_default();
            dots = Some(broadcast(&known, &shape[from..from + hidden]).ok_or_else(wrong)?);
        } else if hidden > 0 {
            return Err(wrong());
        }
        let named = shape[..from].iter().chain(&shape[from + hidden..]);
        for (letter, &size) in before.chars().chain(after.chars()).zip(named) {
            match sizes.iter_mut().find(|(known, _, _)| *known == letter) {
                Some((_, known, times)) => {
                    *times += 1;
                    *known = (*known).max(size);
                }
                None => sizes.push((letter, size, 1)),
            }
        }
    }
    let result = result.unwrap_or_else(|| {
        let mut once: Vec<char> = sizes.iter().filter(|s| s.2 == 1).map(|s| s.0).collect();
        once.sort_unstable();
        let once: String = once.into_iter().collect();
        match dots {
            Some(_) => format!("...{once}"),
            None => once,
        }
    });
    let size = |letter| {
        sizes
            .iter()
            .find(|(known, _, _)| *known == letter)
            .map(|s| s.1)
    };
    let (before, after) = result.split_once("...").unwrap_or((&result, ""));
    let part = |letters: &str| letters.chars().map(size).collect::<Option<Vec<i64>>>();
    let (Some(mut shape), Some(after)) = (part(before), part(after)) else {
        return Err("an equation whose result has a letter of its own".into());
    };
    if result.contains("...") {
        shape.extend(dots.unwrap_or_default());
    }
    shape.extend(after);
    one(dense(ask.input(0)?.element(), shape)?)
}
