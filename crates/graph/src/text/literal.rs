//! Names and constants.

use scalar::{DType, Scalar};

/// Whether a name needs no quotes: a letter or `_`, then letters, digits, `_` and `.`.
pub(super) fn is_word(s: &str) -> bool {
    s.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && s.chars().all(is_word_char)
}

/// Whether a word or value name may contain the character.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// A name, quoted if it is not a plain word.
pub(super) fn name(s: &str) -> String {
    if is_word(s) { s.to_owned() } else { format!("{s:?}") }
}

/// A constant; raw bits if the usual text would not read back.
pub(super) fn scalar(value: Scalar) -> String {
    let text = value.to_string();
    if parse_scalar(value.dtype(), &text).as_ref() == Ok(&value) { text } else { format!("0x{:x}", value.bits()) }
}

/// Reads a constant of a dtype: a number, `true`, `false`, `nan`, `inf`, `-inf`, or raw bits such as `0x7fc00001`.
pub(super) fn parse_scalar(dtype: DType, text: &str) -> Result<Scalar, String> {
    let wrong = || format!("'{text}' is not a constant of {dtype}");
    if let Some(digits) = text.strip_prefix("0x") {
        let bits = u64::from_str_radix(digits, 16).map_err(|_| wrong())?;
        let value = Scalar::from_bits(dtype, bits);
        return if value.bits() == bits && (dtype != DType::Bool || bits <= 1) { Ok(value) } else { Err(wrong()) };
    }
    match dtype {
        DType::Bool => text.parse().map(Scalar::bool).map_err(|_| wrong()),
        DType::F32 => text.parse().map(Scalar::f32).map_err(|_| wrong()),
        d if d.is_float() => text.parse().map(|v| Scalar::from_f64(d, v)).map_err(|_| wrong()),
        DType::U64 => text.parse().map(|v| Scalar::from_bits(dtype, v)).map_err(|_| wrong()),
        d => {
            let v: i64 = text.parse().map_err(|_| wrong())?;
            let value = Scalar::from_i64(d, v);
            if value.as_i64() == v { Ok(value) } else { Err(format!("{v} does not fit {d}")) }
        }
    }
}
