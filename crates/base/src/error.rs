//! The one error type.

use std::fmt;

/// Result with Fuseline's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of failure an [`Error`] reports; command-line exit codes follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The user's request is wrong: shape, dtype, missing input, bad option.
    Invalid,
    /// Correct, but not something that Fuseline can do yet.
    Unsupported,
    /// A file could not be read or written.
    Io,
    /// A text or binary file is malformed.
    Parse,
    /// Memory could not be allocated.
    OutOfMemory,
    /// Results differ from what was expected.
    Mismatch,
    /// A broken invariant of Fuseline itself.
    Internal,
}

/// A failure with a sentence that names the op, shapes and dtypes, and what to do.
#[derive(Clone, Debug)]
pub struct Error {
    /// Sort of failure.
    pub kind: ErrorKind,
    message: String,
    context: Vec<String>,
}

impl Error {
    /// An error of any kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), context: Vec::new() }
    }
    /// The request is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }
    /// Not supported yet.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }
    /// Malformed file.
    pub fn parse(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Parse, message)
    }
    /// File access failed.
    pub fn io(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Io, message)
    }
    /// Broken invariant.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }
    /// Adds where it happened; printed before the message, outermost first.
    #[must_use]
    pub fn context(mut self, what: impl Into<String>) -> Self {
        self.context.push(what.into());
        self
    }
    /// The sentence without its context.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.context.iter().rev() {
            write!(f, "{c}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        Error::io(e.to_string())
    }
}
