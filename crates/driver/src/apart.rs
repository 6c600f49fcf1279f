//! Whether memory of the caller's is apart where it has to be.

use std::ops::Range;

use base::{Error, Result};
use runtime::Buffer;

/// Checks that outputs share no memory with each other, or with inputs but those that they overwrite.
///
/// # Errors
/// Two that do, by name.
pub(crate) fn check_apart(inputs: &[Buffer], outputs: &[Buffer], overwritten: &[bool]) -> Result<()> {
    let range = |b: &Buffer| (b.as_ptr() as usize)..(b.as_ptr() as usize + b.len());
    let read = (0..inputs.len()).filter(|&n| overwritten.get(n) != Some(&true));
    let read = read.map(|n| (range(&inputs[n]), false, n));
    let written = outputs.iter().enumerate().map(|(n, b)| (range(b), true, n));
    match meeting(read.chain(written).collect()) {
        None => Ok(()),
        Some([first, second]) => {
            let name = |(_, is_output, n): Place| format!("{} {n}", if is_output { "output" } else { "input" });
            let text = format!("{} and {} lie in the same memory; pass memory of their own", name(first), name(second));
            Err(Error::invalid(text))
        }
    }
}

/// Addresses, whether they are written, and a number for messages.
type Place = (Range<usize>, bool, usize);

/// Two places that share an address, one of them written.
fn meeting(mut places: Vec<Place>) -> Option<[Place; 2]> {
    places.retain(|p| !p.0.is_empty());
    places.sort_unstable_by_key(|p| p.0.start);
    // The places that reach farthest: of all, and of those that are written.
    let (mut any, mut written): (Option<&Place>, Option<&Place>) = (None, None);
    let reaches = |before: Option<&Place>, place: &Place| before.is_some_and(|b| b.0.end > place.0.start);
    for place in &places {
        let before = if place.1 { any } else { written };
        if let (true, Some(before)) = (reaches(before, place), before) {
            return Some([before.clone(), place.clone()]);
        }
        let farther = |before: Option<&Place>| before.is_none_or(|b| place.0.end > b.0.end);
        if farther(any) {
            any = Some(place);
        }
        if place.1 && farther(written) {
            written = Some(place);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the two that meet.
    fn meet(places: &[(usize, usize, bool)]) -> Option<[usize; 2]> {
        let places = places.iter().enumerate().map(|(n, &(start, end, written))| (start..end, written, n)).collect();
        meeting(places).map(|two| two.map(|p| p.2))
    }

    #[test]
    fn what_is_written_meets_nothing() {
        assert_eq!(meet(&[(0, 10, false), (5, 15, false), (0, 10, false)]), None, "inputs may share");
        assert_eq!(meet(&[(0, 10, false), (10, 20, true), (20, 30, true)]), None, "neighbours");
        assert_eq!(meet(&[(0, 10, false), (9, 20, true)]), Some([0, 1]));
        assert_eq!(meet(&[(0, 30, true), (2, 3, false)]), Some([0, 1]));
        assert_eq!(meet(&[(0, 30, false), (1, 2, false), (5, 6, true)]), Some([0, 2]), "a long one before a short one");
        assert_eq!(meet(&[(5, 5, true), (0, 10, true)]), None, "no bytes meet nothing");
    }
}
