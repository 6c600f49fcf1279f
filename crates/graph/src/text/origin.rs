//! Origins as trailing comments.

use crate::{Origin, OriginId};

/// The id that a comment without a number stands for; printer and parser follow the same rule.
#[derive(Default)]
pub(super) struct Implied {
    last: Option<(OriginId, Origin)>,
    greatest: u32,
}

impl Implied {
    /// The id of the last comment if its text is the same, else a new one.
    pub(super) fn id(&self, origin: &Origin) -> OriginId {
        match &self.last {
            Some((id, last)) if last == origin => *id,
            _ => OriginId(self.greatest + 1),
        }
    }
    /// Records a table entry (`None`) or a comment.
    pub(super) fn saw(&mut self, id: OriginId, comment: Option<&Origin>) {
        self.greatest = self.greatest.max(id.0);
        if let Some(origin) = comment {
            self.last = Some((id, origin.clone()));
        }
    }
}

/// `softmax @ model.rs:12`, with quotes where needed.
pub(super) fn comment(origin: &Origin) -> String {
    let plain = |s: &str| !s.is_empty() && s.trim() == s && !s.starts_with('"') && !s.contains(char::is_control);
    let quote = |s: &str, bare: bool| if bare { s.to_owned() } else { format!("{s:?}") };
    let op =
        quote(&origin.op, plain(&origin.op) && !origin.op.contains('@') && !origin.op.starts_with(|c: char| c.is_ascii_digit()));
    if origin.source.is_empty() { op } else { format!("{op} @ {}", quote(&origin.source, plain(&origin.source))) }
}
