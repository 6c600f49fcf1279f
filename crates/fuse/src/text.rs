//! Text form of plans: one line per kernel, then its comp.

use std::fmt;

use kernel::Comp;

use crate::plan::{Kernel, Plan, Step, Storage};

impl Plan {
    /// One line per kernel: class, axes, members, bytes and FLOPs in the plan's sizes.
    pub fn summary(&self) -> String {
        let mut out = format!("{} kernels\n", self.kernels.len());
        for k in &self.kernels {
            out.push_str(&self.line(k));
            out.push('\n');
        }
        out
    }

    fn line(&self, k: &Kernel) -> String {
        let members: Vec<String> = k.members.iter().map(|m| format!("{m:?}")).collect();
        let outputs: Vec<String> = k.outputs.iter().map(|&o| self.place(o)).collect();
        let axes = match &k.step {
            Step::Comps(parts) => parts.iter().map(|p| axes(&p.built.comp)).collect::<Vec<_>>().join(" beside "),
            Step::Opaque(_) => String::from("(opaque)"),
        };
        let once = if k.once { " once" } else { "" };
        format!(
            "{}: {:?}{once} {axes} members {} -> {}; read {} written {} flops {}",
            k.name,
            k.class,
            members.join(" "),
            outputs.join(" "),
            k.summary.read as u64,
            k.summary.written as u64,
            k.summary.flops() as u64,
        )
    }

    fn place(&self, value: graph::NodeId) -> String {
        match self.storage.get(&value) {
            Some(Storage::Part { of, start, .. }) => format!("{value:?} in {of:?} at {start}"),
            Some(Storage::Write { dst, copy: false }) => format!("{value:?} over {dst:?}"),
            Some(Storage::Write { dst, copy: true }) => format!("{value:?} over a copy of {dst:?}"),
            _ => format!("{value:?}"),
        }
    }
}

/// Parallel and inner extents.
fn axes(comp: &Comp) -> String {
    let list = |inner: bool| {
        let axes = comp.axes.iter().filter(|a| a.inner == inner);
        axes.map(|a| a.extent.to_string()).collect::<Vec<_>>().join(" × ")
    };
    format!("({} | {})", list(false), list(true))
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for k in &self.kernels {
            writeln!(f, "{}", self.line(k))?;
            let Step::Comps(parts) = &k.step else { continue };
            for line in parts.iter().flat_map(|p| p.built.comp.to_string().lines().map(str::to_owned).collect::<Vec<_>>()) {
                writeln!(f, "  {line}")?;
            }
        }
        Ok(())
    }
}
