//! Text form: `h*W + w`, `(i + 3)//4`, `i%8`, `min(a, b)`, `2*(x//4)`; the poison value prints as `<overflow>`.

use std::fmt;

use super::build::extremum;
use super::poly::Term;
use super::{Atom, Repr, Sym, Var};

impl fmt::Display for Sym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Const(c) => write!(f, "{c}"),
            Repr::Overflow => f.write_str("<overflow>"),
            Repr::Poly(p) => {
                let negative = |t: &Term| t.coef < 0 && t.coef != i64::MIN;
                let lead = p.terms.iter().position(|t| !negative(t)).unwrap_or(0);
                fmt_term(f, &p.terms[lead], p.terms[lead].coef)?;
                for t in p.terms.iter().enumerate().filter(|(i, _)| *i != lead).map(|(_, t)| t) {
                    f.write_str(if negative(t) { " - " } else { " + " })?;
                    fmt_term(f, t, if negative(t) { -t.coef } else { t.coef })?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Sym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn fmt_term(f: &mut fmt::Formatter<'_>, t: &Term, coef: i64) -> fmt::Result {
    let atoms = t.mono.atoms();
    if atoms.is_empty() {
        return write!(f, "{coef}");
    }
    match coef {
        1 => {}
        -1 => f.write_str("-")?,
        c => write!(f, "{c}*")?,
    }
    for (i, a) in atoms.iter().enumerate() {
        if i > 0 {
            f.write_str("*")?;
        }
        fmt_atom(f, a, coef != 1 || atoms.len() > 1)?;
    }
    Ok(())
}

fn fmt_atom(f: &mut fmt::Formatter<'_>, a: &Atom, tight: bool) -> fmt::Result {
    let division = |f: &mut fmt::Formatter<'_>, x: &Sym, op: &str, d: &Sym| {
        f.write_str(if tight { "(" } else { "" })?;
        fmt_operand(f, x)?;
        f.write_str(op)?;
        fmt_operand(f, d)?;
        f.write_str(if tight { ")" } else { "" })
    };
    match a {
        Atom::Var(v) => f.write_str(v.name()),
        Atom::FloorDiv(x, d) => division(f, x, "//", d),
        Atom::Mod(x, d) => division(f, x, "%", d),
        Atom::Min(list) => fmt_list(f, "min", list),
        Atom::Max(list) => fmt_list(f, "max", list),
    }
}

fn fmt_operand(f: &mut fmt::Formatter<'_>, x: &Sym) -> fmt::Result {
    let bare = x.as_int().is_some_and(|c| c >= 0) || matches!(x.as_atom(), Some(Atom::Var(_) | Atom::Min(_) | Atom::Max(_)));
    if bare { write!(f, "{x}") } else { write!(f, "({x})") }
}

fn fmt_list(f: &mut fmt::Formatter<'_>, name: &str, list: &[Sym]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (i, s) in list.iter().enumerate() {
        write!(f, "{}{s}", if i > 0 { ", " } else { "" })?;
    }
    f.write_str(")")
}

/// Deepest nesting that the parser follows.
const MAX_NESTING: usize = 100;

impl Sym {
    /// Reads the text form: `+ - *`, `//` (floor), `%`, `min(a, b)`, `max(a, b)`, parentheses, integers, identifiers.
    ///
    /// # Errors
    /// What was expected and the column where it was not found.
    pub fn parse(text: &str) -> Result<Sym, String> {
        let mut p = Parser { text, at: 0, depth: 0 };
        let sym = p.sum()?;
        if p.rest().is_empty() { Ok(sym) } else { Err(p.expected("an operator or the end")) }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn rest(&mut self) -> &str {
        let rest = &self.text[self.at..];
        self.at = self.text.len() - rest.trim_start().len();
        &self.text[self.at..]
    }
    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }
    fn take_while(&mut self, ok: impl Fn(char) -> bool) -> String {
        let rest = self.rest();
        let word = rest[..rest.find(|c| !ok(c)).unwrap_or(rest.len())].to_owned();
        self.at += word.len();
        word
    }
    fn expected(&mut self, what: &str) -> String {
        let found = self.rest().chars().next().map_or("the end".to_owned(), |c| format!("`{c}`"));
        format!("expected {what} at column {}, found {found}", self.at + 1)
    }
    fn sum(&mut self) -> Result<Sym, String> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(format!("expression nested deeper than {MAX_NESTING} at column {}", self.at + 1));
        }
        let mut sum = self.product()?;
        loop {
            if self.take("+") {
                sum += self.product()?;
            } else if self.take("-") {
                sum = sum - self.product()?;
            } else {
                self.depth -= 1;
                return Ok(sum);
            }
        }
    }
    fn product(&mut self) -> Result<Sym, String> {
        let mut product = self.unary()?;
        loop {
            if self.take("*") {
                product = product * self.unary()?;
            } else if self.take("//") {
                product = product.floor_div(&self.unary()?);
            } else if self.take("%") {
                product = product.modulo(&self.unary()?);
            } else {
                return Ok(product);
            }
        }
    }
    fn unary(&mut self) -> Result<Sym, String> {
        let mut negative = false;
        while self.take("-") {
            negative = !negative;
        }
        let rest = self.rest();
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.integer(negative);
        }
        let value = self.primary()?;
        Ok(if negative { -value } else { value })
    }
    fn integer(&mut self, negative: bool) -> Result<Sym, String> {
        let digits = self.take_while(|c| c.is_ascii_digit());
        let signed = if negative { format!("-{digits}") } else { digits };
        signed.parse::<i64>().map(Sym::from).map_err(|_| format!("{signed} does not fit 64 bits"))
    }
    fn primary(&mut self) -> Result<Sym, String> {
        if self.take("(") {
            let inner = self.sum()?;
            return if self.take(")") { Ok(inner) } else { Err(self.expected("`)`")) };
        }
        if self.take("<overflow>") {
            return Ok(Sym::overflow());
        }
        if !self.rest().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return Err(self.expected("a number, a name or `(`"));
        }
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        match name.as_str() {
            "min" => Ok(extremum(&self.list()?, true)),
            "max" => Ok(extremum(&self.list()?, false)),
            _ => Ok(Sym::var(Var::new(&name))),
        }
    }
    fn list(&mut self) -> Result<Vec<Sym>, String> {
        if !self.take("(") {
            return Err(self.expected("`(`"));
        }
        let mut list = vec![self.sum()?];
        while self.take(",") {
            list.push(self.sum()?);
        }
        if self.take(")") { Ok(list) } else { Err(self.expected("`,` or `)`")) }
    }
}
