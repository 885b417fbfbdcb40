//! Layouts without an interpreter: units, spans, and what may be written.

#![allow(missing_docs, dead_code)]

#[path = "../src/layout.rs"]
mod layout;

use layout::{Layout, overlaps, unit_bytes};

#[test]
fn a_unit_divides_the_element_and_every_step() {
    assert_eq!(unit_bytes(&[3, 4], &[32, 8], 8), 8);
    assert_eq!(unit_bytes(&[3, 4], &[12, 3], 3), 1);
    assert_eq!(unit_bytes(&[3], &[12], 12), 4);
    assert_eq!(unit_bytes(&[3], &[36], 8), 4);
    assert_eq!(unit_bytes(&[1], &[3], 8), 8, "an axis that is not stepped");
    assert_eq!(unit_bytes(&[3], &[-64], 64), 16);
    assert_eq!(unit_bytes(&[3], &[0], 16), 16);
}

#[test]
fn a_layout_begins_at_the_lowest_address() -> Result<(), &'static str> {
    let turned = Layout::of(&[3, 2], &[-16, 4], 4, 4).ok_or("too far")?;
    assert_eq!((turned.offset, turned.span, turned.below()), (8, 40, 32));
    assert_eq!(turned.strides[..], [-4, 1]);
    let wide = Layout::of(&[2], &[12], 12, 4).ok_or("too far")?;
    assert_eq!(
        (&wide.shape[..], &wide.strides[..], wide.span),
        (&[2, 3][..], &[3, 1][..], 24)
    );
    let empty = Layout::of(&[2, 0], &[-8, 8], 8, 8).ok_or("too far")?;
    assert_eq!((empty.offset, empty.span), (0, 0));
    assert!(Layout::of(&[isize::MAX, 2], &[isize::MAX, 1], 1, 1).is_none());
    Ok(())
}

#[test]
fn elements_in_one_place_are_seen() -> Result<(), &'static str> {
    let is_injective = |shape: &[isize], strides: &[isize]| {
        Layout::of(shape, strides, 1, 1).map(|layout| layout.is_injective())
    };
    assert_eq!(is_injective(&[2, 3], &[3, 1]), Some(true));
    assert_eq!(is_injective(&[3, 2], &[-1, 3]), Some(true));
    assert_eq!(is_injective(&[2, 3], &[2, 1]), Some(false));
    assert_eq!(is_injective(&[2, 3], &[0, 1]), Some(false));
    assert_eq!(is_injective(&[2, 1], &[1, 0]), Some(true));
    assert!(
        overlaps((10, 5), (14, 1)) && !overlaps((10, 5), (15, 1)) && !overlaps((10, 0), (10, 5))
    );
    Ok(())
}
