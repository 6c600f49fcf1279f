//! Values of a comp as CUDA C++ statements.
//!
//! A value that varies over the vector axis is an array of `V` lanes, any other a scalar. Values are printed on demand, each once
//! per scope.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base::{HashMap, Numerics, Result};
use kernel::ValueId;
use scalar::{DType, Scalar, ScalarOp};

use super::choice::Choice;
use super::scalar::{constant, op, register, round, state, stored};
use super::schedule::is_vector;
use crate::flat::{Flat, FlatCond, FlatDef, FlatStore};
use crate::lin::{Atom, Lin};
use crate::partial::components;
use crate::unsupported;

/// How a program's nests are printed.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) numerics: Numerics,
    /// Blocks may share a row as a cluster.
    pub(crate) clusters: bool,
    /// Sizes are passed at launch instead of being literals.
    pub(crate) numbers: bool,
    /// How schedules deviate from what sizes suggest.
    pub(crate) choice: Choice,
}

/// What a program's nests share.
pub(crate) struct Shared<'a> {
    /// Element type of every parameter.
    pub(crate) dtypes: &'a [DType],
    pub(crate) settings: Settings,
    pub(crate) checks: &'a mut Vec<String>,
    /// One nest has the launch to itself.
    pub(crate) alone: bool,
}

/// A printed value.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    /// One element per lane.
    pub(crate) lanes: bool,
}

impl Name {
    /// The value in a loop over lanes.
    pub(crate) fn at(&self) -> String {
        if self.lanes { format!("{}[j]", self.text) } else { self.text.clone() }
    }
}

/// Elements of a load that an earlier statement read: a vector of stored elements.
pub(crate) type Held = HashMap<ValueId, String>;

pub(crate) struct Print<'a, 'b> {
    pub(crate) flat: &'a Flat,
    pub(crate) shared: &'a mut Shared<'b>,
    pub(crate) vector: Option<usize>,
    pub(crate) lanes: i64,
    /// Whether values that vary over the vector axis have lanes here.
    pub(crate) has_lanes: bool,
    pub(crate) out: String,
    pub(crate) have: HashMap<ValueId, Name>,
    pub(crate) held: Held,
    /// In a loop over inner points: how functions of a lane that equals something end, from the outermost on.
    pub(crate) rests: Option<Vec<String>>,
    /// Reductions that give the greatest element and the sum of exponentials below it at once.
    pub(crate) online: Vec<ValueId>,
    /// Sizes of what threads share, as expressions of bytes; the largest counts.
    pub(crate) scratch: BTreeSet<String>,
    /// Parameters in order of first use.
    pub(crate) args: Vec<u16>,
    pub(crate) numbers: Vec<i64>,
    /// Indices need 64 bits.
    pub(crate) wide: bool,
}

impl Print<'_, '_> {
    pub(crate) fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// A size or stride.
    pub(crate) fn number(&mut self, n: i64) -> String {
        if !self.shared.settings.numbers || (-1..=1).contains(&n) {
            return n.to_string();
        }
        self.numbers.push(n);
        format!("n{}", self.numbers.len() - 1)
    }

    /// Pointer to a parameter.
    pub(crate) fn pointer(&mut self, param: usize) -> String {
        if !self.args.contains(&(param as u16)) {
            self.args.push(param as u16);
        }
        format!("p{param}")
    }

    /// Type of indices.
    pub(crate) fn index_type(&self) -> &'static str {
        if self.wide { "i64" } else { "int" }
    }

    pub(crate) fn varies(&self, set: kernel::AxisSet) -> bool {
        self.has_lanes && self.vector.is_some_and(|v| set.has(v))
    }

    /// An expression; `lane` says whether it is that of lane `j` or of the first lane.
    pub(crate) fn lin(&mut self, e: &Lin, lane: bool) -> Result<String> {
        let mut text = String::new();
        for (atom, coef) in &e.terms {
            let atom = self.atom(atom, lane)?;
            let term = if *coef == 1 { atom } else { format!("{atom} * {}", self.number(*coef)) };
            if !text.is_empty() {
                text.push_str(" + ");
            }
            text.push_str(&term);
        }
        if e.base != 0 || text.is_empty() {
            let base = self.number(e.base);
            text = if text.is_empty() { base } else { format!("{text} + {base}") };
        }
        Ok(format!("({text})"))
    }

    fn atom(&mut self, atom: &Atom, lane: bool) -> Result<String> {
        Ok(match atom {
            Atom::Axis(a) if self.flat.extents[*a] == 1 => "0".to_owned(),
            Atom::Axis(a) if lane && self.has_lanes && self.vector == Some(*a) => format!("(a{a} + j)"),
            Atom::Axis(a) => format!("a{a}"),
            Atom::Value(v) => {
                let name = self.value(*v)?;
                if lane { name.at() } else { name.text }
            }
            Atom::Div(x, d) => self.division(x, *d, lane, "/", "floor_div")?,
            Atom::Mod(x, d) => self.division(x, *d, lane, "%", "floor_mod")?,
            Atom::Min(x, y) => format!("least_of<i64>({}, {})", self.lin(x, lane)?, self.lin(y, lane)?),
            Atom::Max(x, y) => format!("most_of<i64>({}, {})", self.lin(x, lane)?, self.lin(y, lane)?),
            Atom::Mul(x, y) => format!("((i64){} * {})", self.lin(x, lane)?, self.lin(y, lane)?),
        })
    }

    fn division(&mut self, x: &Lin, d: i64, lane: bool, sign: &str, general: &str) -> Result<String> {
        let (least, most) = x.range(self.flat);
        let (x, d) = (self.lin(x, lane)?, self.number(d));
        Ok(if least < 0 {
            format!("{general}({x}, {d})")
        } else if most < i64::from(u32::MAX) {
            format!("(int)((u32){x} {sign} (u32){d})")
        } else {
            format!("((u64){x} {sign} (u64){d})")
        })
    }

    fn conditions(&mut self, when: &[FlatCond], lane: bool) -> Result<String> {
        let each = when.iter().map(|c| {
            let x = self.lin(&c.expr, lane)?;
            Ok(format!("within({x}, {})", self.number(c.extent)))
        });
        Ok(each.collect::<Result<Vec<_>>>()?.join(" && "))
    }

    fn conditions_vary(&self, when: &[FlatCond]) -> bool {
        when.iter().any(|c| self.varies(self.flat.axes_of(&c.expr)))
    }

    /// Name of a value, printing what it needs.
    pub(crate) fn value(&mut self, v: ValueId) -> Result<Name> {
        if let Some(name) = self.have.get(&v) {
            return Ok(name.clone());
        }
        let name = self.define(v)?;
        self.have.insert(v, name.clone());
        Ok(name)
    }

    /// A variable of a type with an initial value per lane, or one.
    pub(crate) fn variable(&mut self, ty: &str, name: &str, lanes: bool, value: &str) -> Name {
        if lanes {
            let _ = writeln!(self.out, "{ty} {name}[V]; LANES(j) {name}[j] = {value};");
        } else {
            let _ = writeln!(self.out, "{ty} {name} = {value};");
        }
        Name { text: name.to_owned(), lanes }
    }

    fn define(&mut self, v: ValueId) -> Result<Name> {
        let flat = self.flat;
        let value = flat.value(v);
        let (ty, name, lanes) = (register(value.dtype), format!("v{v}"), self.varies(value.free));
        match &value.def {
            FlatDef::Const(c) => Ok(Name { text: constant(*c), lanes: false }),
            FlatDef::Index(e) => {
                let text = self.lin(e, lanes)?;
                Ok(self.variable(ty, &name, lanes, &text))
            }
            FlatDef::Pred(when) if when.is_empty() => Ok(Name { text: "true".into(), lanes: false }),
            FlatDef::Pred(when) => {
                let text = self.conditions(when, lanes)?;
                Ok(self.variable(ty, &name, lanes, &text))
            }
            FlatDef::Load { arg, index, when, fill } => self.load(v, *arg, index, when, *fill),
            FlatDef::Op(scalar_op, args) => {
                if let Some(equal) = self.equal_to_lane(*scalar_op, args, v)? {
                    return Ok(equal);
                }
                if let Some(exponentials) = self.exponentials(*scalar_op, args, v)? {
                    return Ok(exponentials);
                }
                let names = args.iter().map(|&a| self.value(a)).collect::<Result<Vec<_>>>()?;
                if let Some(quotients) = self.quotients(*scalar_op, value.dtype, &names, lanes, v) {
                    return Ok(quotients);
                }
                let texts: Vec<String> = names.iter().map(|n| if lanes { n.at() } else { n.text.clone() }).collect();
                let dtype = flat.value(args[args.len() - 1]).dtype;
                let text = op(*scalar_op, dtype, value.dtype, &texts, self.shared.settings.numerics);
                Ok(self.variable(ty, &name, lanes, &text))
            }
            FlatDef::Check { value, limit, when, message } => {
                let x = self.value(*value)?;
                let x = if lanes { x.at() } else { x.text };
                let holds = if when.is_empty() { "true".into() } else { self.conditions(when, lanes)? };
                let number = self.check(message);
                let limit = self.number(*limit);
                let text = format!("check({x}, {limit}, {holds}, fault, {number}ull)");
                Ok(self.variable(ty, &name, lanes, &text))
            }
            FlatDef::Component(..)
            | FlatDef::Reduce { .. }
            | FlatDef::Scan { .. }
            | FlatDef::Contract { .. }
            | FlatDef::Merge { .. } => Err(unsupported("a reduction is needed before its stage")),
        }
    }

    /// Whether adjacent positions equal one integer: it is compared with the first of them once. In a loop, what follows becomes a
    /// function of the lane, so that most steps, in which none is equal, do nothing about it.
    fn equal_to_lane(&mut self, op: ScalarOp, args: &[ValueId], v: ValueId) -> Result<Option<Name>> {
        let adjacent = |id: ValueId| match &self.flat.value(id).def {
            FlatDef::Index(e) if self.varies(self.flat.value(id).free) => {
                self.vector.filter(|&a| e.is_affine() && e.coef(a) == 1).map(|_| e)
            }
            _ => None,
        };
        if op != ScalarOp::Eq || self.lanes == 1 {
            return Ok(None);
        }
        let pair = [(args[0], args[1]), (args[1], args[0])];
        let Some((first, other)) = pair.into_iter().find_map(|(i, o)| Some((adjacent(i)?.clone(), o))) else { return Ok(None) };
        if self.varies(self.flat.value(other).free) {
            return Ok(None);
        }
        let (first, other) = (self.lin(&first, false)?, self.value(other)?);
        let lane = format!("const u32 l{v} = lane_of<V>({}, {first});", other.text);
        if let Some(rests) = &mut self.rests {
            rests.push(format!("}};\nif ({lane} l{v} < V) rest{v}(l{v}); else rest{v}(V);"));
            let _ = writeln!(self.out, "const auto rest{v} = [&](const u32 l{v}) {{");
        } else {
            self.line(&lane);
        }
        Ok(Some(self.variable("bool", &format!("v{v}"), true, &format!("(l{v} == j)"))))
    }

    /// Prints what follows comparisons, with a lane that is equal and without one.
    pub(crate) fn end_rests(&mut self) {
        for rest in self.rests.take().into_iter().flatten().rev() {
            self.line(&rest);
        }
    }

    /// Exponentials of many lanes' differences to one logarithm: a softmax by way of its own.
    fn exponentials(&mut self, op: ScalarOp, args: &[ValueId], v: ValueId) -> Result<Option<Name>> {
        let flat = self.flat;
        let FlatDef::Op(ScalarOp::Sub, terms) = &flat.value(args[0]).def else { return Ok(None) };
        let lanes = self.varies(flat.value(v).free) && !self.varies(flat.value(terms[1]).free);
        let logarithm = matches!(flat.value(terms[1]).def, FlatDef::Op(ScalarOp::Log, _));
        let wide = self.shared.settings.numerics == Numerics::Wide && flat.value(v).dtype == DType::F32;
        if op != ScalarOp::Exp || !lanes || !logarithm || !wide || self.have.contains_key(&args[0]) {
            return Ok(None);
        }
        let (x, log) = (self.value(terms[0])?, self.value(terms[1])?);
        let text = format!("exp_less({}, {})", x.at(), log.text);
        Ok(Some(self.variable("float", &format!("v{v}"), true, &text)))
    }

    /// A division of many lanes by one value, which is inverted once.
    fn quotients(&mut self, op: ScalarOp, dtype: DType, names: &[Name], lanes: bool, v: ValueId) -> Option<Name> {
        let by_one = op == ScalarOp::Div && lanes && names[0].lanes && !names[1].lanes;
        if !by_one || dtype == DType::F64 || !dtype.is_float() {
            return None;
        }
        let _ = writeln!(self.out, "float v{v}[V]; quotients(v{v}, {}, divisor({}));", names[0].text, names[1].text);
        if self.shared.settings.numerics == Numerics::Eager && dtype != DType::F32 {
            let _ = writeln!(self.out, "LANES(j) v{v}[j] = {};", round(dtype, format!("v{v}[j]")));
        }
        Some(Name { text: format!("v{v}"), lanes: true })
    }

    /// What a failed check reports.
    fn check(&mut self, message: &str) -> usize {
        let known = self.shared.checks.iter().position(|m| m == message);
        known.unwrap_or_else(|| {
            self.shared.checks.push(message.to_owned());
            self.shared.checks.len() - 1
        }) + 1
    }

    fn load(&mut self, v: ValueId, arg: usize, index: &Lin, when: &[FlatCond], fill: Scalar) -> Result<Name> {
        let dtype = self.flat.value(v).dtype;
        let (ty, name, lanes) = (register(dtype), format!("v{v}"), self.varies(self.flat.value(v).free));
        let (raw, element, count) = (format!("r{v}"), stored(self.shared.dtypes[arg]), if lanes { "V" } else { "1" });
        if let Some(held) = self.held.get(&v) {
            let _ = writeln!(self.out, "const Vec<{element}, {count}> {raw} = {held};");
        } else {
            let _ = writeln!(self.out, "Vec<{element}, {count}> {raw};");
            self.read(v, &raw, arg, index, when, fill)?;
        }
        if lanes {
            let _ = writeln!(self.out, "{ty} {name}[V]; unpack({name}, {raw});");
            return Ok(Name { text: name, lanes });
        }
        Ok(self.variable(ty, &name, lanes, &format!("up({raw}.x[0])")))
    }

    /// Reads the elements of a load into a variable.
    pub(crate) fn read(&mut self, v: ValueId, raw: &str, arg: usize, index: &Lin, when: &[FlatCond], fill: Scalar) -> Result<()> {
        let lanes = self.varies(self.flat.value(v).free);
        let pointer = self.pointer(arg);
        let ty = stored(self.shared.dtypes[arg]);
        let fill = format!("Down<{ty}>::of({})", constant(fill));
        let per_lane =
            lanes && (self.conditions_vary(when) || !self.vector.is_some_and(|a| is_vector(self.flat, index, a, self.lanes)));
        if per_lane {
            let at = self.lin(index, true)?;
            let element = if when.is_empty() {
                format!("{pointer}[{at}]")
            } else {
                format!("({}) ? {pointer}[{at}] : {fill}", self.conditions(when, true)?)
            };
            let _ = writeln!(self.out, "LANES(j) {raw}.x[j] = {element};");
            return Ok(());
        }
        let at = self.lin(index, false)?;
        let count = if lanes { "V" } else { "1" };
        let element = format!("{raw} = load<{ty}, {count}>({pointer}, {at});");
        if when.is_empty() {
            self.line(&element);
        } else {
            let all = if lanes { format!("LANES(j) {raw}.x[j] = {fill};") } else { format!("{raw}.x[0] = {fill};") };
            let holds = self.conditions(when, false)?;
            let _ = writeln!(self.out, "if ({holds}) {element} else {{ {all} }}");
        }
        Ok(())
    }

    /// Writes a value; `guard` is a condition beside the store's own.
    pub(crate) fn store(&mut self, s: &FlatStore, guard: Option<&str>) -> Result<()> {
        let value = self.value(self.before_rounding(s.value))?;
        let ty = stored(self.shared.dtypes[s.arg]);
        let pointer = self.pointer(s.arg);
        let lanes = self.varies(self.flat.store_axes(s)) || self.conditions_vary(&s.when);
        let vector = self.vector.is_some_and(|a| is_vector(self.flat, &s.index, a, self.lanes));
        let lane_wise = lanes && (!vector || s.combine.is_some() || self.conditions_vary(&s.when));
        let at = self.lin(&s.index, lane_wise)?;
        let mut tests: Vec<String> = guard.map(str::to_owned).into_iter().collect();
        if !s.when.is_empty() {
            tests.push(self.conditions(&s.when, lane_wise)?);
        }
        let test = if tests.is_empty() { String::new() } else { format!("if ({}) ", tests.join(" && ")) };
        if lanes && !lane_wise {
            let all = if value.lanes { format!("packed<{ty}>") } else { format!("filled<{ty}, V>") };
            let _ = writeln!(self.out, "{test}store<{ty}, V>({pointer}, {at}, {all}({}));", value.text);
            return Ok(());
        }
        let element = match s.combine {
            None => format!("Down<{ty}>::of({})", value.at()),
            Some(combine) => {
                let dtype = self.flat.value(s.value).dtype;
                let old = format!("up({pointer}[{at}])");
                let sum = op(combine, dtype, dtype, &[old, value.at()], self.shared.settings.numerics);
                format!("Down<{ty}>::of({sum})")
            }
        };
        let each = if lane_wise { "LANES(j) " } else { "" };
        let _ = writeln!(self.out, "{each}{test}{pointer}[{at}] = {element};");
        Ok(())
    }

    /// The value that a stored one rounds, where nothing else needs the rounded one: storing rounds as well.
    fn before_rounding(&self, v: ValueId) -> ValueId {
        let FlatDef::Op(ScalarOp::Cast(to), args) = &self.flat.value(v).def else { return v };
        let reads = |other: ValueId| self.flat.operands(other).contains(&v);
        let others = (0..self.flat.values.len() as ValueId).any(reads);
        let stored = self.flat.stores.iter().filter(|s| self.flat.store_operands(s).contains(&v)).count();
        let plain =
            to.is_low() && self.flat.value(args[0]).dtype == DType::F32 && stored == 1 && !others && !self.have.contains_key(&v);
        if plain { args[0] } else { v }
    }

    /// Declares the state of a reduction with no elements; `dims` are array extents.
    pub(crate) fn declare_state(&mut self, name: &str, ty: &str, dims: &[String]) {
        let declared: String = dims.iter().map(|d| format!("[{d}]")).collect();
        let _ = writeln!(self.out, "{ty} {name}{declared};");
        let letters = ["i", "j"];
        let vars: Vec<&str> = if dims.len() == 1 && dims[0] == "V" { vec!["j"] } else { letters[..dims.len()].to_vec() };
        let mut at = String::new();
        for (var, dim) in vars.iter().zip(dims) {
            let _ = write!(self.out, "UNROLL for (int {var} = 0; {var} < {dim}; ++{var}) ");
            let _ = write!(at, "[{var}]");
        }
        let _ = writeln!(self.out, "{name}{at} = {ty}::none();");
    }

    /// C++ type of a reduction's state.
    pub(crate) fn state_type(&self, v: ValueId) -> Result<String> {
        if self.online.contains(&v) {
            return Ok(format!("Softmax<{}>", register(self.flat.value(v).dtype)));
        }
        if let FlatDef::Reduce { combiner, src, .. } | FlatDef::Scan { combiner, src, .. } = &self.flat.value(v).def {
            return Ok(state(*combiner, self.flat.value(src[0]).dtype));
        }
        let parts = components(self.flat, v)?;
        Ok(state(parts[0].0, parts[0].1))
    }

    /// Makes the results of a complete reduction available, from a state per lane or one.
    pub(crate) fn results(&mut self, v: ValueId, state: &str, lanes: bool) -> Result<()> {
        let at = if lanes { format!("{state}[j]") } else { state.to_owned() };
        let dtypes: Vec<DType> = match &self.flat.value(v).def {
            FlatDef::Scan { combiner, src, .. } => {
                let operands: Vec<DType> = src.iter().map(|&s| self.flat.value(s).dtype).collect();
                combiner.results(&operands).map_err(|e| unsupported(&e))?
            }
            _ => components(self.flat, v)?.into_iter().map(|c| c.1).collect(),
        };
        for (k, field) in ["a", "b", "c"].iter().enumerate().take(dtypes.len()) {
            let dtype = if k == 0 { self.flat.value(v).dtype } else { dtypes[k] };
            let mut text = round(dtype, format!("({}){at}.{field}", register(dtype)));
            if k == 1 && self.online.contains(&v) {
                text = format!("below_greatest({at})");
            }
            let name = self.variable(register(dtype), &format!("v{v}{field}"), lanes, &text);
            for id in 0..self.flat.values.len() as ValueId {
                if matches!(self.flat.value(id).def, FlatDef::Component(of, i) if of == v && i == k) {
                    self.have.insert(id, name.clone());
                }
            }
            if k == 0 {
                self.have.insert(v, name);
            }
        }
        Ok(())
    }
}
