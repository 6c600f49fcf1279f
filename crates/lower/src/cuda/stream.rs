//! Streams: a cluster takes row after row and reads ahead; while the states of one row meet, it accumulates those of the next.

use std::fmt::Write as _;

use base::Result;
use kernel::ValueId;

use super::hold::{Slot, plain_loads, read_again};
use super::nest::Nest;

/// States of one or two reductions that were sent to the whole cluster, and the meeting that they were sent to.
struct Sent {
    reductions: Vec<ValueId>,
    meeting: usize,
}

impl Nest<'_, '_> {
    /// Rows one after another, dealt to the clusters in turn.
    pub(super) fn stream(&mut self) -> Result<i64> {
        self.threads();
        let axes = self.grid_axes();
        let rows: i64 = axes.iter().map(|&a| self.chunks(a)).product();
        let (cluster, depth) = (self.s.cluster, self.s.depth);
        let (ty, total) = (self.p.index_type(), self.p.number(rows));
        let stride = format!("({ty})(gridDim.x / {cluster})");
        self.fixed()?;
        let again = read_again(&self.order, &self.plan);
        let slots = self.slots(&again, depth, i64::MAX);
        let first = format!("({ty})(block / {cluster})");
        let _ = writeln!(
            self.p.out,
            "for (int here = 0; here < {depth}; ++here) {{ if ({ty} q = {first} + here * {stride}; q < {total}) {{"
        );
        self.decompose("q", &axes);
        self.copy_loads(&slots, "here")?;
        self.p.line("}\ncopies_begun(); }");
        self.p.held.extend(slots.iter().map(|s| (s.load, format!("*{}", s.pointer("here")))));
        let wait = if cluster > 1 { "cluster_wait();\n" } else { "" };
        let _ = writeln!(
            self.p.out,
            "{wait}int ring = 0, n = 0;\nfor ({ty} row = {first}; ; row += {stride}, ++n) {{\n\
             if (row < {total}) {{\ncopies_done<{}>();\nconst int turn = n, here = ring; {ty} q = row;",
            depth - 2
        );
        self.decompose("q", &axes);
        let sent = self.front()?;
        let _ = writeln!(
            self.p.out,
            "}}\nif (n > 0) {{\nconst int turn = n - 1, here = ring == 0 ? {last} : ring - 1; {ty} q = row - {stride};\n\
             const {ty} next = row + {last} * {stride};",
            last = depth - 1
        );
        self.decompose("q", &axes);
        self.back(&sent, slots)?;
        let _ = writeln!(
            self.p.out,
            "copies_begun();\n}}\nif (row >= {total}) break;\nring = ring == {} ? 0 : ring + 1;\n}}",
            depth - 1
        );
        Ok(rows * cluster)
    }

    /// Reads what is the same in all rows into registers, as far as there are some.
    fn fixed(&mut self) -> Result<()> {
        let grid: Vec<usize> = self.grid_axes();
        let varies = |v: &ValueId| grid.iter().any(|&a| self.flat.value(*v).free.has(a));
        let over_row = |v: &ValueId| !self.loop_of(*v).is_empty() && self.steps_with_readers(*v);
        let loads: Vec<ValueId> = plain_loads(&self.order).into_iter().filter(|v| !varies(v) && over_row(v)).collect();
        if self.words(&loads) <= self.free_registers() {
            self.read_fixed(&loads)?;
        }
        Ok(())
    }

    /// What needs no reduction; its states are sent.
    fn front(&mut self) -> Result<Vec<Sent>> {
        self.p.have.clear();
        self.prelude(0)?;
        let mut sent = Vec::new();
        for (loops, roots) in self.stages_of(0) {
            let own = self.pass(loops.axes, &roots)?;
            for some in own.chunks(2) {
                let (name, ty) = self.joined(some)?;
                let meeting = self.meeting(&ty, false);
                let send = if self.s.cluster > 1 {
                    self.send(meeting, &name)
                } else {
                    format!("to_group({name}, m{meeting}{});", self.place_of_meeting(meeting).1)
                };
                self.p.line(&send);
                sent.push(Sent { reductions: some.to_vec(), meeting });
            }
        }
        Ok(sent)
    }

    /// What needs the states that were sent; the last pass over the row makes room for a later one.
    fn back(&mut self, sent: &[Sent], slots: Vec<Slot>) -> Result<()> {
        self.p.have.clear();
        for Sent { reductions, meeting } in sent {
            for &v in reductions {
                let ty = self.p.state_type(v)?;
                self.p.declare_state(&format!("y{v}"), &ty, &[]);
            }
            let (name, ty) = self.joined(reductions)?;
            let receive = if self.s.cluster > 1 {
                self.received(*meeting)
            } else {
                let threads = self.s.threads();
                format!("from_group<{threads}, {threads}, {ty}>(m{meeting}{})", self.place_of_meeting(*meeting).1)
            };
            let _ = writeln!(self.p.out, "{name} = {receive};");
            self.parted(reductions);
            for &v in reductions {
                self.p.results(v, &format!("y{v}"), false)?;
            }
        }
        let passes = |level: usize| self.stages_of(level).iter().any(|(loops, _)| !loops.axes.is_empty());
        let last = self.levels().into_iter().filter(|&l| passes(l)).max();
        let mut slots = Some(slots);
        for level in self.levels().into_iter().filter(|&l| l > 0) {
            if last == Some(level) {
                self.refilled = slots.take().unwrap_or_default();
            }
            self.level(level)?;
        }
        Ok(())
    }

    /// Begins to copy what a later row has where the pass at hand is.
    pub(super) fn refill(&mut self) -> Result<()> {
        let slots = std::mem::take(&mut self.refilled);
        if slots.is_empty() {
            return Ok(());
        }
        let (axes, ty) = (self.grid_axes(), self.p.index_type());
        let total = self.p.number(axes.iter().map(|&a| self.chunks(a)).product());
        let _ = writeln!(self.p.out, "if ({ty} q = next; q < {total}) {{");
        self.decompose("q", &axes);
        for slot in &slots {
            self.copy_load(slot, "here")?;
        }
        self.p.line("}");
        Ok(())
    }
}
