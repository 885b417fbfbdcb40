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

/// How many letters have to be changed, put in, left out, or swapped with the next one.
fn distance(a: &str, b: &str) -> usize {
    let a = a.as_bytes();
    let b: Vec<u8> = b.bytes().take(60).collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let changed = rows[i][j] + usize::from(a[i] != b[j]);
            let mut least = changed.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && (a[i], a[i - 1]) == (b[j - 1], b[j]) {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn finds_typos_and_only_typos() {
        let ops = ["slice", "strided_slice", "gather", "pad"];
        assert_eq!(closest("sliec", ops), Some("slice"));
        assert_eq!(closest("gathr", ops), Some("gather"));
        assert_eq!(closest("pda", ops), Some("pad"));
        assert_eq!(closest("add", ops), None);
        assert_eq!(closest("transpose", ops), None);
    }
}
