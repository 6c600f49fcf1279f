//! Characters to tokens, with positions.

use base::Error;
use scalar::Sym;
use smallvec::SmallVec;

use super::literal::{is_word, is_word_char};

/// Longest symbolic expression, in bytes.
const MAX_EXPRESSION: usize = 2000;

/// What is wrong, and the byte where.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) message: String,
}

pub(super) type Parsed<T> = Result<T, Fault>;

/// A position in the text.
pub(super) struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Scan { text, at: 0 }
    }
    /// Byte position of the next token of this line.
    pub(super) fn here(&mut self) -> usize {
        self.blanks();
        self.at
    }
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start_matches([' ', '\t', '\r']).len();
    }
    /// Skips blank lines and comment lines.
    pub(super) fn skip_lines(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
        while self.rest().starts_with('#') {
            self.rest_of_line();
            self.at = self.text.len() - self.rest().trim_start().len();
        }
    }
    pub(super) fn at_end(&mut self) -> bool {
        self.skip_lines();
        self.rest().is_empty()
    }
    /// Next character of this line that is not blank.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.blanks();
        self.rest().chars().next()
    }
    /// Takes a punctuation token if it is next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }
    /// Takes a word if it is next, and not merely the beginning of a longer one.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.blanks();
        let found = self.word_at() == word;
        self.at += if found { word.len() } else { 0 };
        found
    }
    pub(super) fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("'{token}'"))) }
    }
    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("'{word}'"))) }
    }
    /// A fault that says what should have been at this point.
    pub(super) fn expected(&mut self, what: &str) -> Fault {
        let found = match self.peek() {
            None => "the end of the text".to_owned(),
            Some('\n') => "the end of the line".to_owned(),
            Some(c) => match self.word_at() {
                "" => format!("{c:?}"),
                word => format!("'{}'", word.chars().take(40).collect::<String>()),
            },
        };
        Fault { at: self.at, message: format!("expected {what}, found {found}") }
    }
    fn word_at(&self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(|c| !is_word_char(c)).unwrap_or(rest.len())]
    }
    /// A word, or what was expected instead.
    pub(super) fn word(&mut self, what: &str) -> Parsed<&'a str> {
        self.blanks();
        let word = self.word_at();
        if !is_word(word) {
            return Err(self.expected(what));
        }
        self.at += word.len();
        Ok(word)
    }
    /// A word or a quoted name.
    pub(super) fn name(&mut self, what: &str) -> Parsed<String> {
        if self.peek() == Some('"') { self.string() } else { self.word(what).map(str::to_owned) }
    }
    /// The part of `%5` or `%x` after the sign.
    pub(super) fn value_name(&mut self) -> Parsed<&'a str> {
        self.blanks();
        let start = self.at;
        if !self.eat("%") {
            return Err(self.expected("a value such as %0 or %x"));
        }
        let word = self.word_at();
        if word.is_empty() {
            return Err(Fault { at: start, message: "expected a number or a name after '%'".into() });
        }
        self.at += word.len();
        Ok(word)
    }
    /// A string with Rust's escapes.
    pub(super) fn string(&mut self) -> Parsed<String> {
        let start = self.here();
        self.expect("\"")?;
        let mut out = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Ok(out);
                }
                '\n' => break,
                '\\' => match escape(&mut chars) {
                    Some(c) => out.push(c),
                    None => return Err(Fault { at: self.at + i, message: "unknown escape in a string".into() }),
                },
                c => out.push(c),
            }
        }
        Err(Fault { at: start, message: "this string is not closed on its line".into() })
    }
    /// Everything to the end of the line, trimmed.
    pub(super) fn rest_of_line(&mut self) -> &'a str {
        self.blanks();
        let rest = self.rest();
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        self.at += line.len();
        line.trim_end()
    }
    /// The words up to ` @ ` or the end of the line, trimmed.
    pub(super) fn until_at_sign(&mut self) -> &'a str {
        self.blanks();
        let rest = self.rest();
        let text = &rest[..rest.find(['@', '\n']).unwrap_or(rest.len())];
        self.at += text.len();
        text.trim_end()
    }
    pub(super) fn end_of_line(&mut self) -> Parsed<()> {
        match self.peek() {
            None | Some('\n') => Ok(()),
            Some(_) => Err(self.expected("the end of the line")),
        }
    }
    /// The characters of a number or of a word, unchecked.
    pub(super) fn literal(&mut self, what: &str) -> Parsed<&'a str> {
        self.blanks();
        let rest = self.rest();
        let text = &rest[..rest.find(|c| !is_word_char(c) && c != '-' && c != '+').unwrap_or(rest.len())];
        if text.is_empty() {
            return Err(self.expected(what));
        }
        self.at += text.len();
        Ok(text)
    }
    /// A decimal integer.
    pub(super) fn number<T: std::str::FromStr>(&mut self, what: &str) -> Parsed<T> {
        let at = self.here();
        let text = self.literal(what)?;
        text.parse().map_err(|_| Fault { at, message: format!("expected {what}, found '{text}'") })
    }
    /// A symbolic expression: everything up to a delimiter outside of parentheses.
    pub(super) fn sym(&mut self) -> Parsed<Sym> {
        let at = self.here();
        let text = self.expression();
        if text.len() > MAX_EXPRESSION {
            return Err(Fault { at, message: format!("an expression has at most {MAX_EXPRESSION} bytes") });
        }
        if text.is_empty() {
            return Err(self.expected("an integer expression such as 2*n + 1"));
        }
        self.at = at + text.len();
        let sym = Sym::parse(text).map_err(|why| Fault { at, message: format!("in expression '{text}': {why}") })?;
        if sym.is_overflow() { Err(Fault { at, message: format!("expression '{text}' overflows") }) } else { Ok(sym) }
    }
    fn expression(&self) -> &'a str {
        let rest = self.rest();
        let mut depth = 0usize;
        let mut end = rest.len();
        for (i, c) in rest.char_indices() {
            match c {
                '(' => depth += 1,
                ')' if depth > 0 => depth -= 1,
                ')' | ',' | ']' | ':' | '=' if depth == 0 => end = i,
                '[' | ']' | ':' | '=' | '{' | '}' | '"' | '#' | '\n' | '\r' => end = i,
                _ => continue,
            }
            if end == i {
                break;
            }
        }
        rest[..end].trim_end()
    }
    /// A comma-separated list in brackets.
    pub(super) fn bracketed<T, const N: usize>(
        &mut self,
        mut item: impl FnMut(&mut Scan<'a>) -> Parsed<T>,
    ) -> Parsed<SmallVec<[T; N]>>
    where
        [T; N]: smallvec::Array<Item = T>,
    {
        self.expect("[")?;
        let mut items = SmallVec::new();
        while !self.eat("]") {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }
}

fn escape(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    match chars.next()?.1 {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        '0' => Some('\0'),
        c @ ('\\' | '"' | '\'') => Some(c),
        'u' if chars.next()?.1 == '{' => {
            let digits: String = chars.map(|(_, c)| c).take_while(|&c| c != '}').take(7).collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
        }
        _ => None,
    }
}

/// `file:line:column: message`, counted from 1 in characters.
pub(super) fn located(file: &str, text: &str, fault: Fault) -> Error {
    let mut at = fault.at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
    Error::parse(format!("{file}:{line}:{column}: {}", fault.message))
}
