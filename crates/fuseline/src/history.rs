//! Sizes that a compiled function has been called with.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use graph::HostTensor;
use scalar::{DType, Shape, Sym, Var};

use crate::symbolic::Env;

/// What is known about the extents of each argument, by its position, dtype and rank.
#[derive(Debug, Default)]
pub(crate) struct History(BTreeMap<(usize, DType, usize), Vec<Extent>>);

/// One extent of an argument.
#[derive(Clone, Debug, PartialEq)]
enum Extent {
    /// Seen with one value.
    Same(usize),
    /// Seen with several.
    Varies,
    /// Seen with several, and needed as a number.
    Number(String),
}

fn name(argument: usize, axis: usize) -> String {
    format!("a{argument}_{axis}")
}

impl History {
    /// Takes note of a call's arguments. If some extents vary: variables for them, and the arguments' shapes in variables.
    ///
    /// Extents 0 and 1 are special to broadcasting and stay numbers. Extents that vary and are equal share a variable.
    pub(crate) fn observe(&mut self, data: &[HostTensor]) -> (Option<Arc<Env>>, Vec<Shape>) {
        let mut values = BTreeMap::new();
        let shapes = data.iter().enumerate().map(|(argument, d)| self.shape(argument, d, &mut values)).collect();
        let env = (!values.is_empty()).then(|| Env::new(values));
        (env, shapes)
    }

    fn shape(&mut self, argument: usize, data: &HostTensor, values: &mut BTreeMap<Var, i64>) -> Shape {
        let extents = data.shape();
        let key = (argument, data.dtype(), extents.len());
        let known = self.0.entry(key).or_insert_with(|| extents.iter().map(|&n| Extent::Same(n)).collect());
        let mut shape = Shape::new();
        for (axis, (known, &n)) in known.iter_mut().zip(extents).enumerate() {
            match known {
                Extent::Same(before) if *before < 2 => *before = n,
                Extent::Same(before) if *before != n && n >= 2 => *known = Extent::Varies,
                _ => {}
            }
            shape.push(if *known == Extent::Varies && n >= 2 {
                let same = values.iter().find(|&(_, &value)| value == n as i64).map(|(var, _)| *var);
                let var = same.unwrap_or_else(|| Var::new(&name(argument, axis)));
                values.insert(var, n as i64);
                Sym::from(var)
            } else {
                Sym::from(n as i64)
            });
        }
        shape
    }

    /// Takes note of what a call could not do with variables.
    pub(crate) fn learn(&mut self, env: &Env) {
        for pin in env.pins() {
            let names: Vec<&str> = pin.vars.iter().map(|v| v.name()).collect();
            for ((argument, ..), extents) in &mut self.0 {
                for (axis, extent) in extents.iter_mut().enumerate() {
                    if *extent == Extent::Varies && names.contains(&name(*argument, axis).as_str()) {
                        *extent = Extent::Number(pin.why.clone());
                    }
                }
            }
        }
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((argument, dtype, rank), extents) in &self.0 {
            for (axis, extent) in extents.iter().enumerate() {
                let at = format!("argument {argument} ({dtype}, rank {rank}), dim {axis}");
                match extent {
                    Extent::Same(_) => {}
                    Extent::Varies => writeln!(f, "{at} varies: symbolic as {}, guarded >= 2", name(*argument, axis))?,
                    Extent::Number(why) => writeln!(f, "{at} varies, but is a number: {why}")?,
                }
            }
        }
        Ok(())
    }
}
