//! Checks a comp's invariants.

use base::{Error, Result};

use crate::comp::{Comp, Def};

/// Checks operand order, index ranks, free axes and dtypes of pointwise values.
///
/// # Errors
/// The first broken invariant, as an internal error.
pub fn verify(comp: &Comp) -> Result<()> {
    for id in 0..comp.values.len() as u32 {
        check_value(comp, id).map_err(|what| Error::internal(format!("comp value v{id}: {what}\n{comp}")))?;
    }
    for s in &comp.stores {
        let arg = comp.args.get(s.arg).ok_or_else(|| Error::internal("store to an unknown argument"))?;
        let inside = s.value < comp.values.len() as u32;
        if !inside || s.index.len() != arg.shape.len() || comp.value(s.value).dtype != arg.dtype {
            return Err(Error::internal(format!("store to {} does not fit its argument\n{comp}", arg.name)));
        }
    }
    Ok(())
}

fn check_value(comp: &Comp, id: u32) -> Result<(), String> {
    let value = comp.value(id);
    let operands = comp.operands(id);
    if operands.iter().any(|&o| o >= id) {
        return Err("operand defined later".into());
    }
    let from_operands = operands.iter().fold(comp.free_of_def(id), |s, &o| s.union(comp.value(o).free));
    let expected = match &value.def {
        Def::Reduce { axes, .. } | Def::Contract { axes, .. } => from_operands.minus(*axes),
        Def::Scan { axis, .. } => from_operands.union(crate::AxisSet::one(*axis)),
        _ => from_operands,
    };
    if expected != value.free {
        return Err(format!("free axes {:b}, expected {:b}", value.free.0, expected.0));
    }
    match &value.def {
        Def::Op(op, args) => {
            let dtypes: Vec<_> = args.iter().map(|&a| comp.value(a).dtype).collect();
            let want = op.result(&dtypes)?;
            if want == value.dtype { Ok(()) } else { Err(format!("dtype {}, expected {want}", value.dtype)) }
        }
        Def::Load { arg, index, .. } => {
            let arg = comp.args.get(*arg).ok_or("unknown argument")?;
            if arg.shape.len() == index.len() { Ok(()) } else { Err("index rank differs from the argument's".into()) }
        }
        _ => Ok(()),
    }
}

impl Comp {
    /// Axes in the index expressions of a value's own definition.
    fn free_of_def(&self, id: u32) -> crate::AxisSet {
        let union = |exprs: &mut dyn Iterator<Item = &scalar::Sym>| {
            exprs.fold(crate::AxisSet::default(), |s, e| s.union(self.free_of(e)))
        };
        match &self.value(id).def {
            Def::Index(e) => self.free_of(e),
            Def::Pred(c) | Def::Check { when: c, .. } => union(&mut c.iter().map(|c| &c.expr)),
            Def::Load { index, when, .. } => union(&mut index.iter().chain(when.iter().map(|c| &c.expr))),
            _ => crate::AxisSet::default(),
        }
    }
}
