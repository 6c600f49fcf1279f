//! Colour, only where a person reads.

use std::io::IsTerminal;

/// Whether to colour one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colour: bool,
}

impl Style {
    /// For standard output.
    pub(crate) fn stdout() -> Style {
        Style { colour: std::io::stdout().is_terminal() && wanted() }
    }
    /// For standard error.
    pub(crate) fn stderr() -> Style {
        Style { colour: std::io::stderr().is_terminal() && wanted() }
    }
    /// No colour.
    #[cfg(test)]
    pub(crate) fn plain() -> Style {
        Style { colour: false }
    }
    /// Bold text.
    pub(crate) fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }
    /// Failure.
    pub(crate) fn red(&self, text: &str) -> String {
        self.paint("1;31", text)
    }
    /// Success.
    pub(crate) fn green(&self, text: &str) -> String {
        self.paint("32", text)
    }
    /// Warnings and notes.
    pub(crate) fn yellow(&self, text: &str) -> String {
        self.paint("33", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// `NO_COLOR` is unset or empty (<https://no-color.org>) and the terminal is not a dumb one.
fn wanted() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    !set("NO_COLOR") && std::env::var("TERM").as_deref() != Ok("dumb")
}

/// A line on standard error that starts with `note:`.
pub(crate) fn note(text: &str) {
    eprintln!("{} {text}", Style::stderr().bold("note:"));
}

/// A line on standard error that starts with `warning:`.
pub(crate) fn warn(text: &str) {
    eprintln!("{} {text}", Style::stderr().yellow("warning:"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_no_escapes() {
        assert_eq!(Style::plain().red("x"), "x");
        assert_eq!(Style { colour: true }.green("x"), "\x1b[32mx\x1b[0m");
    }
}
