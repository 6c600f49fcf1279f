//! "Did you mean" for misspelt names.

/// `; did you mean 'exp'?` when a candidate is close to `name`, else nothing.
pub(crate) fn did_you_mean<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let limit = match name.chars().count() {
        0..=2 => 0,
        3 => 1,
        4..=8 => 2,
        _ => 3,
    };
    let best = candidates.map(|c| (distance(name, c), c)).min();
    match best {
        Some((d, c)) if d <= limit => format!("; did you mean '{c}'?"),
        _ => String::new(),
    }
}

/// Levenshtein distance; names longer than 64 characters are far from everything.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(65).collect(), b.chars().take(65).collect());
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_suggested() {
        let ops = ["exp", "add", "reduce.sum"];
        assert_eq!(did_you_mean("expp", ops.into_iter()), "; did you mean 'exp'?");
        assert_eq!(did_you_mean("reduce.sun", ops.into_iter()), "; did you mean 'reduce.sum'?");
        assert_eq!(did_you_mean("convolve", ops.into_iter()), "");
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
