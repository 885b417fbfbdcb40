//! "Did you mean": the nearest known name to one that is not.

/// The candidate within two edits of `name` (one for short names), if there is one.
#[must_use]
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > 40 {
        return None;
    }
    let allowed = if name.len() <= 4 { 1 } else { 2 };
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(edits, _)| *edits <= allowed)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<u8> = b.bytes().take(60).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn finds_typos_and_only_typos() {
        let ops = ["slice", "strided_slice", "gather", "pad"];
        assert_eq!(closest("sliec", ops), Some("slice"));
        assert_eq!(closest("gathr", ops), Some("gather"));
        assert_eq!(closest("pda", ops), None);
        assert_eq!(closest("transpose", ops), None);
    }
}
