//! Failures as the user sees them, and their exit codes.

use base::{Error, ErrorKind};

use crate::term::Style;

/// An error with what to do about it.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    error: Error,
    help: String,
}

/// Result of everything that a command does.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// How a command that ran to its end exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All is well.
    Pass,
    /// Results differ, or an assertion does not hold.
    Fail,
}

impl Verdict {
    /// Pass if `ok`.
    pub(crate) fn of(ok: bool) -> Verdict {
        if ok { Verdict::Pass } else { Verdict::Fail }
    }
    /// 0 or 1.
    pub(crate) fn code(self) -> u8 {
        match self {
            Verdict::Pass => 0,
            Verdict::Fail => 1,
        }
    }
}

impl Failure {
    /// A wrong request, and what to do.
    pub(crate) fn invalid(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure { error: Error::invalid(message), help: help.into() }
    }
    /// An error, and what to do.
    pub(crate) fn new(error: Error, help: impl Into<String>) -> Failure {
        Failure { error, help: help.into() }
    }
    /// The exit code of its kind.
    pub(crate) fn code(&self) -> u8 {
        match self.error.kind {
            ErrorKind::Mismatch => 1,
            ErrorKind::Invalid | ErrorKind::Parse | ErrorKind::Io => 2,
            ErrorKind::Unsupported => 3,
            ErrorKind::OutOfMemory | ErrorKind::Internal => 4,
        }
    }
    /// `error: …` and, if there is any, `help: …` on a line of its own.
    pub(crate) fn render(&self, style: &Style) -> String {
        let mut out = format!("{} {}", style.red("error:"), self.error);
        let help = if self.help.is_empty() { default_help(self.error.kind) } else { &self.help };
        if !help.is_empty() {
            out.push_str(&format!("\n{} {help}", style.bold("help:")));
        }
        out
    }
}

fn default_help(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Internal => {
            "this is a bug of Fuseline: `fuseline reduce MODEL` gives a small graph to report; FUSELINE_NOFUSE=1 runs without fusion"
        }
        ErrorKind::OutOfMemory => "use smaller dimensions: --dim NAME=N",
        _ => "",
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, help: String::new() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Error::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_the_kind_and_help_has_its_own_line() {
        assert_eq!(Failure::from(Error::parse("x")).code(), 2);
        assert_eq!(Failure::from(Error::unsupported("x")).code(), 3);
        assert_eq!(Failure::from(Error::new(ErrorKind::Mismatch, "x")).code(), 1);
        assert_eq!(Failure::from(Error::internal("x")).code(), 4);
        let shown = Failure::new(Error::invalid("no such thing").context("here"), "try another").render(&Style::plain());
        assert_eq!(shown, "error: here: no such thing\nhelp: try another");
    }
}
