//! Reading types, layouts and constants.

use restride_text::{Cursor, Diagnostic, Spanned};

use super::attributes::unknown;
use crate::{Constant, ElementType, MAX_RANK, MAX_VALUES, Sample, Strided, TensorType, constant};

/// What could be read, or what is wrong with what it says. The text after it is readable.
pub(crate) type Said<T> = Result<T, Diagnostic>;

/// `f32[8, 16] strides [32, 1] offset 3`. The outer error is one of syntax.
pub(super) fn ty(cursor: &mut Cursor<'_>) -> Result<Said<TensorType>, Diagnostic> {
    let word = cursor.name()?;
    let shape = cursor.int_list(MAX_RANK)?;
    let layout = layout(cursor)?;
    let span = cursor.span_since(word.span);
    let Ok(element) = word.text.parse::<ElementType>() else {
        return Ok(Err(unknown_element(word)));
    };
    let ty = match layout {
        Some(layout) => TensorType::strided(element, &shape, layout),
        None => TensorType::dense(element, &shape),
    };
    Ok(ty.map_err(|error| Diagnostic::new(span, error.to_string())))
}

/// A word that names no element type, with the one that may be meant.
pub(crate) fn unknown_element(word: Spanned<&str>) -> Diagnostic {
    match ElementType::called(word.text) {
        Some(meant) => {
            let message = format!("unknown element type `{}`", word.text);
            Diagnostic::new(word.span, message).help(format!("it is called `{meant}` here"))
        }
        None => {
            let names = ElementType::ALL.iter().map(|element| element.name());
            unknown("element type", word, names)
        }
    }
}

/// `strides [32, 1] offset 3`, if it is there.
pub(super) fn layout(cursor: &mut Cursor<'_>) -> Result<Option<Strided>, Diagnostic> {
    if !cursor.eat_name("strides") {
        return Ok(None);
    }
    let strides = cursor.int_list(MAX_RANK)?;
    let offset = match cursor.eat_name("offset") {
        true => cursor.int()?.text,
        false => 0,
    };
    Ok(Some(Strided { offset, strides }))
}

/// `i64[3] [2, 0, -1]`, flat and row-major.
pub(super) fn constant(cursor: &mut Cursor<'_>) -> Result<Said<Constant>, Diagnostic> {
    let start = cursor.span();
    let ty = ty(cursor)?;
    let span = cursor.span_since(start);
    // The list is read even if the type is wrong, as whatever it may hold.
    let (element, numel) = match &ty {
        Ok(ty) => (ty.element(), ty.numel()),
        Err(_) => (ElementType::I128, MAX_VALUES),
    };
    let mut bytes = Vec::new();
    let start = cursor.span();
    cursor.list("[", "]", numel.saturating_add(1), |cursor| {
        let bits = read_element(cursor, element)?;
        constant::push_bits(&mut bytes, element.width(), bits);
        Ok(())
    })?;
    let list = cursor.span_since(start);
    Ok(ty.and_then(|ty| {
        let got = bytes.len() / element.width();
        if got != numel {
            let message = format!("{got} elements for {ty}, which has {numel}");
            return Err(Diagnostic::new(list, message));
        }
        Constant::new(ty, bytes).map_err(|error| Diagnostic::new(span, error.to_string()))
    }))
}

/// `labels 3` or `bits [2, 0, -1]`: what an input may hold.
pub(crate) fn sample(
    cursor: &mut Cursor<'_>,
    element: ElementType,
) -> Result<Said<Sample>, Diagnostic> {
    let word = cursor.name()?;
    match word.text {
        "labels" => {
            let number = cursor.int_in(0, u32::MAX.into())?;
            Ok(Ok(Sample::Labels(number.text as u32)))
        }
        "bits" => {
            let mut bits = Vec::new();
            cursor.list("[", "]", MAX_VALUES, |cursor| {
                bits.push(read_element(cursor, element)?);
                Ok(())
            })?;
            Ok(Ok(Sample::Bits(bits)))
        }
        _ => Err(unknown("sample", word, ["labels", "bits"].into_iter())),
    }
}

/// A number for an integer element, a bit pattern for any other.
fn read_element(cursor: &mut Cursor<'_>, element: ElementType) -> Result<u128, Diagnostic> {
    if element.is_signed_integer() {
        let high = (element.bit_mask() >> 1) as i128;
        return Ok(cursor.int_in(-high - 1, high)?.text as u128 & element.bit_mask());
    }
    let limit = element.bit_mask();
    let bits = cursor.bits()?;
    match bits.text <= limit {
        true => Ok(bits.text),
        false => {
            let message = format!("{} does not fit {element}, at most {limit:#x}", bits.text);
            Err(Diagnostic::new(bits.span, message))
        }
    }
}
