//! Printing as PyTorch does: aligned columns, four digits, long tensors shortened.

use std::fmt;

use graph::HostTensor;
use scalar::DType;

use crate::Tensor;

/// Tensors with more elements are shortened.
const THRESHOLD: usize = 1000;
/// Items kept at each end of a shortened dim.
const EDGE: usize = 3;
/// Columns before a line breaks.
const WIDTH: usize = 80;

impl fmt::Display for Tensor {
    /// `tensor([1.0000, 2.5000])`, with the dtype when it is not the default of its kind. Evaluates; a mistake prints its error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.data() {
            Ok(data) => f.write_str(&render(&data)),
            Err(error) => write!(f, "tensor(error: {error})"),
        }
    }
}

fn render(data: &HostTensor) -> String {
    let suffix = match data.dtype() {
        DType::F32 | DType::I64 | DType::Bool => String::new(),
        dtype => format!(", dtype={dtype}"),
    };
    if data.is_empty() {
        let size = if data.shape() == [0] { String::new() } else { format!(", size={:?}", data.shape()) };
        return format!("tensor([]{size}{suffix})");
    }
    let shorten = data.len() > THRESHOLD;
    let style = Style::of(data, shorten);
    let mut out = String::from("tensor(");
    write_level(&mut out, data, 0, 0, shorten, &style, 7);
    out + &suffix + ")"
}

/// How every element is written.
struct Style {
    float: bool,
    scientific: bool,
    /// All finite values are integers: write `1.`.
    whole: bool,
    width: usize,
}

impl Style {
    fn of(data: &HostTensor, shorten: bool) -> Style {
        let shown = shown_elements(data.shape(), shorten);
        let float = data.dtype().is_float();
        let mut style = Style { float, scientific: false, whole: true, width: 0 };
        if float {
            let finite = || shown.iter().map(|&i| data.get(i).as_f64()).filter(|v| v.is_finite());
            let sizes = || finite().map(f64::abs).filter(|&v| v != 0.0);
            let (least, most) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
            style.whole = finite().all(|v| v == v.ceil());
            style.scientific = most > 0.0 && (most / least > 1000.0 || most > 1e8 || !style.whole && least < 1e-4);
        }
        let counts = |&&i: &&usize| !float || data.get(i).as_f64().is_finite();
        style.width = shown.iter().filter(counts).map(|&i| style.text(data, i).len()).max().unwrap_or(0);
        style
    }
    fn text(&self, data: &HostTensor, i: usize) -> String {
        if !self.float {
            let text = data.get(i).to_string();
            return if data.dtype() == DType::Bool { capitalised(&text) } else { text };
        }
        let v = data.get(i).as_f64();
        if !v.is_finite() {
            if v.is_nan() {
                "nan".into()
            } else if v > 0.0 {
                "inf".into()
            } else {
                "-inf".into()
            }
        } else if self.scientific {
            scientific(v)
        } else if self.whole {
            format!("{v:.0}.")
        } else {
            format!("{v:.4}")
        }
    }
}

fn capitalised(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

/// `1.0000e-05`.
fn scientific(v: f64) -> String {
    let text = format!("{v:.4e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |d| ('-', d));
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// Positions along a dim that are written; `None` stands for the dots.
fn positions(n: usize, shorten: bool) -> Vec<Option<usize>> {
    if !shorten || n <= 2 * EDGE {
        return (0..n).map(Some).collect();
    }
    (0..EDGE).map(Some).chain([None]).chain((n - EDGE..n).map(Some)).collect()
}

/// Row-major positions of the elements that are written.
fn shown_elements(shape: &[usize], shorten: bool) -> Vec<usize> {
    let mut shown = vec![0];
    for &n in shape {
        let at: Vec<usize> = positions(n, shorten).into_iter().flatten().collect();
        shown = shown.iter().flat_map(|&base| at.iter().map(move |&i| base * n + i)).collect();
    }
    shown
}

fn write_level(out: &mut String, data: &HostTensor, dim: usize, base: usize, shorten: bool, style: &Style, indent: usize) {
    let Some(&n) = data.shape().get(dim) else {
        let text = style.text(data, base);
        out.push_str(&format!("{text:>width$}", width = if data.shape().is_empty() { 0 } else { style.width }));
        return;
    };
    let last = dim + 1 == data.shape().len();
    let per_line = if last { ((WIDTH - indent.min(WIDTH - 1)) / (style.width + 2)).max(1) } else { 1 };
    let newline = format!("{}{}", "\n".repeat(if last { 1 } else { data.shape().len() - 1 - dim }), " ".repeat(indent + 1));
    out.push('[');
    for (k, position) in positions(n, shorten).into_iter().enumerate() {
        if k > 0 {
            out.push(',');
            out.push_str(if k % per_line == 0 { &newline } else { " " });
        }
        match position {
            Some(i) => write_level(out, data, dim + 1, base * n + i, shorten, style, indent + 1),
            None => out.push_str(if last { " ..." } else { "..." }),
        }
    }
    out.push(']');
}
