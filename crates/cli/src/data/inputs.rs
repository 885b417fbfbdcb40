//! What inputs hold: what the command line says; else what the program says; else what the command
//! makes up.

use restride_graph::oracle::Tensor;

use super::recipe::Recipe;
use super::{npy, safetensors};
use crate::execute::memory;
use crate::failure::Failure;
use crate::signature::{Signature, Slot};
use crate::source::printable;

/// The help text of `--input`.
pub(crate) const SOURCE_HELP: &str =
    "Where an input comes from; without a name, where all come from that have no other source";

/// The tensor of each input, in order; `made_up` says what an input without a source holds.
pub(crate) fn inputs(
    signature: &Signature,
    sources: &[String],
    made_up: impl Fn(usize, &Slot) -> Recipe,
) -> Result<Vec<Tensor>, Failure> {
    let (chosen, for_all) = chosen(signature, sources)?;
    let slots = signature.inputs.iter().enumerate();
    slots
        .map(|(at, slot)| {
            let tensor = match (chosen[at].or(for_all), &slot.sample) {
                (Some(source), _) => load(slot, source),
                (None, Some(sample)) => make(&Recipe::Said(sample.clone()), slot),
                (None, None) => make(&made_up(at, slot), slot),
            }?;
            as_it_lies(tensor, slot)
        })
        .collect()
}

/// What a tensor holds once it lies in memory: where elements share a place, the last of them.
fn as_it_lies(tensor: Tensor, slot: &Slot) -> Result<Tensor, Failure> {
    if slot.ty.check_injective().is_ok() {
        return Ok(tensor);
    }
    let mut memory = memory(slot)?;
    let written = tensor.write_into(&slot.ty, &mut memory);
    let read = written.and_then(|()| Tensor::read(&slot.ty, &memory));
    read.map_err(|error| Failure::Input(format!("{}: {error}", slot.name)))
}

/// The source of each input, and the one of those that have none.
fn chosen<'a>(
    signature: &Signature,
    sources: &'a [String],
) -> Result<(Vec<Option<&'a str>>, Option<&'a str>), Failure> {
    let mut chosen: Vec<Option<&str>> = vec![None; signature.inputs.len()];
    let mut for_all = None;
    for source in sources {
        let (place, from, name) = match named(&signature.inputs, source, "input")? {
            (Some(at), from) => (&mut chosen[at], from, signature.inputs[at].name.as_str()),
            (None, from) => (&mut for_all, from, "every input"),
        };
        if place.replace(from).is_some() {
            return Err(Failure::Usage(format!("{name} has two sources")));
        }
    }
    Ok((chosen, for_all))
}

/// The shape of the data of each input; its own where that comes from no file.
pub(crate) fn shapes(signature: &Signature, sources: &[String]) -> Result<Vec<Vec<i64>>, Failure> {
    let (chosen, for_all) = chosen(signature, sources)?;
    let slots = signature.inputs.iter().zip(chosen);
    let shapes = slots.map(|(slot, source)| match source.or(for_all) {
        Some(source) if Recipe::named(source, slot.ty.element()).is_none() => {
            Ok(read(source)?.shape().to_vec())
        }
        _ => Ok(slot.ty.shape().to_vec()),
    });
    shapes.collect()
}

/// What counts up from 0; indices count up within the axis that they select from, since they would
/// soon be out of range.
pub(crate) fn counting(slot: &Slot) -> Recipe {
    match slot.limit {
        Some(limit) if limit > 0 => Recipe::Modulo(limit.unsigned_abs()),
        Some(_) | None => Recipe::Iota,
    }
}

/// A made-up tensor.
pub(crate) fn make(recipe: &Recipe, slot: &Slot) -> Result<Tensor, Failure> {
    let made = recipe.make(&slot.ty);
    made.ok_or_else(|| Failure::Input(format!("{}: no memory for it", slot.name)))
}

fn load(slot: &Slot, source: &str) -> Result<Tensor, Failure> {
    if let Some(recipe) = Recipe::named(source, slot.ty.element()) {
        return make(&recipe, slot);
    }
    let tensor = read(source)?;
    let expected = slot.ty.clone().without_layout();
    let same_bits = tensor.element().width() == expected.element().width();
    if tensor.shape() != expected.shape() || !same_bits {
        let advice = match same_bits {
            true => "; `restride run --template` takes the shapes of files",
            false => "",
        };
        let message = format!(
            "{}: {} is {}, not {expected}{advice}",
            printable(source),
            slot.name,
            tensor.ty()
        );
        return Err(Failure::Input(message));
    }
    Tensor::new(expected, tensor.into_bytes())
        .map_err(|error| Failure::Internal(format!("{}: {error}", slot.name)))
}

/// A tensor of a file.
fn read(source: &str) -> Result<Tensor, Failure> {
    match source.rsplit_once(".safetensors:") {
        Some((file, name)) => safetensors::read(&format!("{file}.safetensors"), name),
        None if source.ends_with(".npy") => npy::read(source),
        None => {
            let message = format!(
                "`{}` is not a valid source: name a .npy file, file.safetensors:tensor, iota, iota1, \
                 modN, hash, hashN, zeros, `labels N` or `bits [N, ..]`",
                printable(source)
            );
            Err(Failure::Usage(message))
        }
    }
}

/// `name=rest` as the slot of that name and the rest; without a `=` there is no slot.
pub(crate) fn named<'a>(
    slots: &[Slot],
    text: &'a str,
    kind: &str,
) -> Result<(Option<usize>, &'a str), Failure> {
    let Some((name, rest)) = text.split_once('=') else {
        return Ok((None, text));
    };
    let name = name.trim().trim_start_matches('%');
    match position(slots, name) {
        Some(at) => Ok((Some(at), rest.trim())),
        None => {
            let known: Vec<&str> = slots.iter().map(|slot| slot.name.as_str()).collect();
            let known = match known.as_slice() {
                [] => "there are none".into(),
                [one] => format!("there is {one}"),
                all => format!("there are {}", all.join(", ")),
            };
            let name = printable(name);
            Err(Failure::Usage(format!(
                "there is no {kind} `{name}`; {known}"
            )))
        }
    }
}

/// A slot by its name; one that the text gives a number only has that for a name too.
fn position(slots: &[Slot], name: &str) -> Option<usize> {
    let mut numbered = slots.iter().enumerate();
    let named = slots.iter().position(|slot| slot.name == name);
    named.or_else(|| {
        let found =
            numbered.find(|(at, slot)| at.to_string() == name && slot.name == format!("in{at}"));
        found.map(|(at, _)| at)
    })
}
