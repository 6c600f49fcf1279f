//! Text to op: one function per form.

use std::collections::BTreeMap;
use std::sync::Arc;

use scalar::{Combiner, ScalarOp, Shape};

use super::literal::parse_scalar;
use super::parse::{Function, function};
use super::print::combine_name;
use super::scan::{Fault, Parsed, Scan};
use crate::{At, ContractSpec, NodeId, Op, Region, Type, View, WriteCombine};

const VIEWS: [&str; 7] = ["reshape", "permute", "expand", "slice", "flip", "pad", "window"];
const PLACES: [&str; 3] = ["slice", "dynamic", "indices"];
const COMBINES: [WriteCombine; 5] =
    [WriteCombine::Set, WriteCombine::Add, WriteCombine::Mul, WriteCombine::Max, WriteCombine::Min];
const STRUCTURAL: [&str; 11] =
    ["input", "const", "sym", "iota", "concat", "contract", "gather", "call", "if", "loop", "materialize"];

/// Reads an op with its operands and attributes.
pub(super) fn op(f: &mut Function<'_, '_>) -> Parsed<(Op, Vec<NodeId>)> {
    let at = f.scan().here();
    let word = f.scan().word("an op")?;
    let unknown = || Fault { at, message: format!("unknown op '{word}'{}", suggestion(word)) };
    match word.split_once('.') {
        Some(("reduce", c)) => {
            let c = Combiner::parse(c).ok_or_else(unknown)?;
            after_operands(f, |f, _| Ok(Op::Reduce(c, f.scan().bracketed(axis)?)))
        }
        Some(("scan", c)) => {
            let c = Combiner::parse(c).ok_or_else(unknown)?;
            after_operands(f, |f, _| Ok(Op::Scan(c, single(f)?)))
        }
        Some(("view", form)) if VIEWS.contains(&form) => after_operands(f, |f, args| view(f, form, args).map(Op::View)),
        Some(("write", form)) => {
            let (combine, place) = form.split_once('.').filter(|(_, p)| PLACES.contains(p)).ok_or_else(unknown)?;
            let combine = COMBINES.into_iter().find(|c| combine_name(*c) == combine).ok_or_else(unknown)?;
            after_operands(f, |f, _| Ok(Op::Write(combine, at_form(f, place)?)))
        }
        _ => match ScalarOp::parse(word) {
            Some(op) => after_operands(f, |_, _| Ok(Op::Map(op))),
            None => structural(f, word)?.ok_or_else(unknown),
        },
    }
}

fn structural(f: &mut Function<'_, '_>, word: &str) -> Parsed<Option<(Op, Vec<NodeId>)>> {
    let node = match word {
        "input" => (input(f)?, Vec::new()),
        "const" => (constant(f)?, Vec::new()),
        "sym" => (Op::SymConst(f.scan().sym()?), Vec::new()),
        "iota" => (Op::Iota(f.scan().sym()?), Vec::new()),
        "concat" => after_operands(f, |f, _| Ok(Op::Concat(single(f)?)))?,
        "contract" => after_operands(f, |f, _| contract(f))?,
        "gather" => after_operands(f, |f, _| Ok(Op::Gather(f.scan().bracketed(axis)?)))?,
        "call" => call(f)?,
        "if" => after_operands(f, |f, _| branch(f))?,
        "loop" => after_operands(f, |f, _| repeat(f))?,
        "result" => after_operands(f, |f, _| Ok(Op::Result(single(f)?)))?,
        "materialize" => after_operands(f, |_, _| Ok(Op::Materialize))?,
        _ => return Ok(None),
    };
    Ok(Some(node))
}

fn suggestion(word: &str) -> String {
    let combiners = || Combiner::ALL.iter().map(|c| c.info().name);
    let mut names: Vec<String> = ScalarOp::PLAIN.iter().map(|op| op.name()).collect();
    names.extend(STRUCTURAL.iter().map(|&s| s.to_owned()));
    names.extend(["fma", "result"].map(str::to_owned));
    names.extend(combiners().map(|c| format!("reduce.{c}")));
    names.extend(combiners().map(|c| format!("scan.{c}")));
    names.extend(VIEWS.iter().map(|v| format!("view.{v}")));
    names.extend(COMBINES.iter().flat_map(|&c| PLACES.iter().map(move |p| format!("write.{}.{p}", combine_name(c)))));
    super::did_you_mean(word, names.iter().map(String::as_str))
}

fn after_operands<'s, 'a>(
    f: &mut Function<'s, 'a>,
    op: impl FnOnce(&mut Function<'s, 'a>, &[NodeId]) -> Parsed<Op>,
) -> Parsed<(Op, Vec<NodeId>)> {
    let mut args = Vec::new();
    while f.scan().peek() == Some('%') {
        args.push(f.value()?);
        if !f.scan().eat(",") {
            break;
        }
    }
    Ok((op(f, &args)?, args))
}

fn axis(scan: &mut Scan<'_>) -> Parsed<usize> {
    scan.number("an axis number")
}

fn integer(scan: &mut Scan<'_>) -> Parsed<i64> {
    scan.number("an integer")
}

/// One number in brackets.
fn single<T: std::str::FromStr>(f: &mut Function<'_, '_>) -> Parsed<T> {
    f.scan().expect("[")?;
    let n = f.scan().number("a number")?;
    f.scan().expect("]")?;
    Ok(n)
}

/// `word value`.
fn field<T: std::str::FromStr>(f: &mut Function<'_, '_>, word: &str) -> Parsed<T> {
    f.scan().expect_word(word)?;
    f.scan().number("an integer")
}

fn shape(f: &mut Function<'_, '_>) -> Parsed<Shape> {
    f.scan().bracketed(Scan::sym)
}

/// `word [a, b]`.
fn shape_field(f: &mut Function<'_, '_>, word: &str) -> Parsed<Shape> {
    f.scan().expect_word(word)?;
    shape(f)
}

fn input(f: &mut Function<'_, '_>) -> Parsed<Op> {
    let at = f.scan().here();
    let name = f.scan().name("an input name")?;
    let slot = f.builder.graph().inputs.iter().position(|i| i.name == name);
    let slot = slot.ok_or_else(|| Fault { at, message: format!("there is no input {name:?}") })?;
    Ok(Op::Input(slot as u32))
}

fn constant(f: &mut Function<'_, '_>) -> Parsed<Op> {
    let dtype = f.dtype()?;
    let at = f.scan().here();
    let text = f.scan().literal("a constant")?;
    parse_scalar(dtype, text).map(Op::Const).map_err(|message| Fault { at, message })
}

fn view(f: &mut Function<'_, '_>, form: &str, args: &[NodeId]) -> Parsed<View> {
    Ok(match form {
        "reshape" => View::Reshape(shape(f)?),
        "expand" => View::Expand(shape(f)?),
        "permute" => View::Permute(f.scan().bracketed(axis)?),
        "flip" => View::Flip(f.scan().bracketed(axis)?),
        "slice" => {
            let start = shape_field(f, "start")?;
            let len = shape_field(f, "len")?;
            let step = if f.scan().eat_word("step") { f.scan().bracketed(integer)? } else { start.iter().map(|_| 1).collect() };
            View::Slice { start, len, step }
        }
        "pad" => pad(f, args)?,
        _ => {
            let axis = field(f, "axis")?;
            let (stride, dilation) = (field(f, "stride")?, field(f, "dilation")?);
            f.scan().expect_word("size")?;
            View::Window { axis, size: f.scan().sym()?, stride, dilation }
        }
    })
}

/// The fill has the operand's dtype.
fn pad(f: &mut Function<'_, '_>, args: &[NodeId]) -> Parsed<View> {
    let (lo, hi) = (shape_field(f, "lo")?, shape_field(f, "hi")?);
    let interior = if f.scan().eat_word("interior") { f.scan().bracketed(integer)? } else { lo.iter().map(|_| 0).collect() };
    f.scan().expect_word("value")?;
    let at = f.scan().here();
    let Some(Type::Tensor(operand)) = args.first().map(|&a| f.builder.ty(a)) else {
        return Err(Fault { at, message: "pad needs a tensor operand".into() });
    };
    let dtype = operand.dtype;
    let text = f.scan().literal("a constant")?;
    let value = parse_scalar(dtype, text).map_err(|message| Fault { at, message })?;
    Ok(View::Pad { lo, hi, interior, value })
}

fn at_form(f: &mut Function<'_, '_>, place: &str) -> Parsed<At> {
    Ok(match place {
        "slice" => {
            let start = shape_field(f, "start")?;
            let step = if f.scan().eat_word("step") { f.scan().bracketed(integer)? } else { start.iter().map(|_| 1).collect() };
            At::Slice { start, step }
        }
        "dynamic" => At::Dynamic { axes: f.scan().bracketed(axis)? },
        _ => At::Indices { axes: f.scan().bracketed(axis)?, unique: f.scan().eat_word("unique") },
    })
}

fn contract(f: &mut Function<'_, '_>) -> Parsed<Op> {
    let at = f.scan().here();
    let text = f.scan().string()?;
    f.scan().expect_word("acc")?;
    let acc = f.dtype()?;
    let parts = text.split_once("->").and_then(|(operands, out)| operands.split_once(',').map(|(a, b)| [a, b, out].map(labels)));
    match parts {
        Some([Some(a), Some(b), Some(out)]) => Ok(Op::Contract(ContractSpec { a: a.into(), b: b.into(), out: out.into(), acc })),
        _ => Err(Fault { at, message: format!("expected a form like \"bik,bkj->bij\", found {text:?}") }),
    }
}

/// Letters, or numbers such as `<7>` for labels that are not letters.
fn labels(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = text.trim();
    while let Some(c) = rest.chars().next() {
        if c.is_ascii_alphabetic() {
            out.push(c as u8);
            rest = &rest[1..];
        } else {
            let (number, tail) = rest.strip_prefix('<')?.split_once('>')?;
            out.push(number.parse().ok().filter(|n: &u8| !n.is_ascii_alphabetic())?);
            rest = tail;
        }
    }
    Some(out)
}

fn call(f: &mut Function<'_, '_>) -> Parsed<(Op, Vec<NodeId>)> {
    let callee = f.scan().name("the name of a definition")?;
    after_operands(f, |f, _| Ok(Op::Call(callee, attributes(f)?)))
}

fn attributes(f: &mut Function<'_, '_>) -> Parsed<BTreeMap<String, i64>> {
    let mut attrs = BTreeMap::new();
    f.scan().expect("{")?;
    while !f.scan().eat("}") {
        if !attrs.is_empty() {
            f.scan().expect(",")?;
        }
        let at = f.scan().here();
        let name = f.scan().name("an attribute name")?;
        f.scan().expect("=")?;
        if attrs.insert(name.clone(), integer(f.scan())?).is_some() {
            return Err(Fault { at, message: format!("attribute {name:?} is given twice") });
        }
    }
    Ok(attrs)
}

fn branch(f: &mut Function<'_, '_>) -> Parsed<Op> {
    f.scan().expect("{")?;
    let then = Arc::new(function(f.source)?);
    let other = Arc::new(function(f.source)?);
    close(f)?;
    Ok(Op::Region(Region::If { then, other }))
}

fn repeat(f: &mut Function<'_, '_>) -> Parsed<Op> {
    let (carried, scanned) = (field(f, "carried")?, field(f, "scanned")?);
    f.scan().expect_word("trip")?;
    let trip = f.scan().sym()?;
    f.scan().expect("{")?;
    let body = Arc::new(function(f.source)?);
    close(f)?;
    Ok(Op::Region(Region::Loop { trip, carried, scanned, body }))
}

fn close(f: &mut Function<'_, '_>) -> Parsed<()> {
    f.scan().skip_lines();
    f.scan().expect("}")
}
