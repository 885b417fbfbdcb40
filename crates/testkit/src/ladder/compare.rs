//! Where two outcomes differ.

use restride_graph::oracle::Tensor;

use crate::rungs::{Outcome, RungError};

/// How many positions are named.
const SHOWN: usize = 8;

/// What is different about an outcome, if anything is.
#[must_use]
pub fn difference(wanted: &Outcome, found: &Outcome) -> Option<String> {
    match (wanted, found) {
        (Ok(wanted), Ok(found)) => outputs(wanted, found),
        (Err(RungError::OutOfRange(wanted)), Err(RungError::OutOfRange(found))) => {
            (wanted != found).then(|| format!("refuses {found}, expected {wanted}"))
        }
        (Err(wanted), Err(found)) if wanted == found => None,
        (Err(wanted), Err(found)) => Some(format!("{found}; expected {wanted}")),
        (Ok(_), Err(found)) => Some(format!("{found}; expected outputs")),
        (Err(wanted), Ok(_)) => Some(format!("gives outputs; expected: {wanted}")),
    }
}

fn outputs(wanted: &[Tensor], found: &[Tensor]) -> Option<String> {
    if wanted.len() != found.len() {
        return Some(format!(
            "{} outputs, expected {}",
            found.len(),
            wanted.len()
        ));
    }
    let pairs = wanted.iter().zip(found).enumerate();
    pairs
        .map(|(k, (wanted, found))| output(k, wanted, found))
        .find(Option::is_some)?
}

fn output(k: usize, wanted: &Tensor, found: &Tensor) -> Option<String> {
    if wanted == found {
        return None;
    }
    if wanted.ty() != found.ty() {
        return Some(format!(
            "output {k} is {}, expected {}",
            found.ty(),
            wanted.ty()
        ));
    }
    let width = wanted.element().width();
    let elements = wanted
        .bytes()
        .chunks(width)
        .zip(found.bytes().chunks(width));
    let wrong: Vec<usize> = elements
        .enumerate()
        .filter(|(_, (wanted, found))| wanted != found)
        .map(|(at, _)| at)
        .collect();
    let mut message = format!(
        "output {k} differs in {} of {} elements:",
        wrong.len(),
        wanted.ty().numel()
    );
    for &at in wrong.iter().take(SHOWN) {
        let index = unflat(at, wanted.shape());
        let bits = |tensor: &Tensor| tensor.bits(&index);
        message += &format!(
            "\n  {index:?}: {:#x}, expected {:#x}",
            bits(found),
            bits(wanted)
        );
    }
    Some(message)
}

fn unflat(mut at: usize, shape: &[i64]) -> Vec<i64> {
    let mut index: Vec<i64> = shape
        .iter()
        .rev()
        .map(|&size| {
            let size = size.max(1) as usize;
            let i = at % size;
            at /= size;
            i as i64
        })
        .collect();
    index.reverse();
    index
}
