//! Text form of a comp.

use std::fmt;

use crate::comp::{AxisSet, Comp, Cond, Def, Store, ValueId};

fn list<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|i| i.to_string()).collect::<Vec<_>>().join(", ")
}

fn values(ids: &[ValueId]) -> String {
    list(ids.iter().map(|v| format!("v{v}")))
}

fn conds(when: &[Cond]) -> String {
    if when.is_empty() {
        return String::new();
    }
    format!(" when {}", list(when.iter().map(|c| format!("0 <= {} < {}", c.expr, c.extent))))
}

impl Comp {
    fn axes_text(&self, set: AxisSet) -> String {
        list(set.iter().map(|a| self.axes[a].var.name()))
    }

    fn def_text(&self, def: &Def) -> String {
        match def {
            Def::Const(c) => format!("const {c}"),
            Def::Index(e) => format!("index {e}"),
            Def::Pred(w) => format!("pred{}", conds(w)),
            Def::Load { arg, index, when, fill } => {
                let fill = if when.is_empty() { String::new() } else { format!(" else {fill}") };
                format!("load {}[{}]{}{fill}", self.args[*arg].name, list(index), conds(when))
            }
            Def::Op(op, args) => format!("{} {}", op.name(), values(args)),
            Def::Reduce { combiner, src, axes, .. } => {
                format!("reduce.{}({}) {}", combiner.info().name, self.axes_text(*axes), values(src))
            }
            Def::Scan { combiner, src, axis, .. } => {
                format!("scan.{}({}) {}", combiner.info().name, self.axes[*axis].var.name(), values(src))
            }
            Def::Contract { a, b, axes, acc } => format!("contract.{acc}({}) v{a}, v{b}", self.axes_text(*axes)),
            Def::Component(v, i) => format!("component {i} of v{v}"),
            Def::Check { value, limit, when, .. } => format!("check 0 <= v{value} < {limit}{}", conds(when)),
        }
    }

    fn store_text(&self, s: &Store) -> String {
        let how = s.combine.map_or(String::new(), |op| format!(".{}", op.name()));
        let collides = if s.collides { " in order" } else { "" };
        format!("store{how} {}[{}] = v{}{}{collides}", self.args[s.arg].name, list(&s.index), s.value, conds(&s.when))
    }
}

impl fmt::Display for Comp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axis =
            |inner: bool| list(self.axes.iter().filter(|a| a.inner == inner).map(|a| format!("{}: {}", a.var.name(), a.extent)));
        writeln!(f, "for ({}) inner ({})", axis(false), axis(true))?;
        for (i, v) in self.values.iter().enumerate() {
            writeln!(f, "  v{i}: {} = {}", v.dtype, self.def_text(&v.def))?;
        }
        for s in &self.stores {
            writeln!(f, "  {}", self.store_text(s))?;
        }
        Ok(())
    }
}
