//! Streams: a cluster takes row after row and reads ahead; while the states of one row meet, it accumulates those of the next.

use std::fmt::Write as _;

use base::Result;
use kernel::ValueId;

use super::hold::{Slot, plain_loads, read_again};
use super::nest::Nest;

/// Multiprocessors that clusters of any size fill: those beyond a power of two are left over in some parts of a GPU.
pub(super) const STREAMING: i64 = 128;

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
        let clusters = rows.min(STREAMING / cluster);
        let (ty, total, stride) = (self.p.index_type(), self.p.number(rows), self.p.number(clusters));
        self.fixed()?;
        let again = read_again(&self.order, &self.plan);
        let slots = self.slots(&again, depth, i64::MAX);
        let first = format!("({ty})(block / {cluster})");
        let _ = writeln!(self.p.out, "for (int n = 0; n < {}; ++n) {{", depth - 1);
        self.begin_copies(&slots, &axes, &format!("{first} + n * {stride}"), "n", &total)?;
        self.p.line("}");
        self.p.held.extend(slots.iter().map(|s| (s.load, format!("*{}", s.pointer("here")))));
        let before = format!("ring == 0 ? {} : ring - 1", depth - 1);
        let _ = writeln!(
            self.p.out,
            "cluster_wait();\nint ring = 0, n = 0;\nfor ({ty} row = {first}; ; row += {stride}, ++n) {{\n\
             if (row < {total}) {{\ncopies_done<{}>();\nconst int turn = n, here = ring; {ty} q = row;",
            depth - 2
        );
        self.decompose("q", &axes);
        let sent = self.front()?;
        let _ = writeln!(self.p.out, "}}\nif (n > 0) {{\nconst int turn = n - 1, here = {before}; {ty} q = row - {stride};");
        self.decompose("q", &axes);
        self.back(&sent)?;
        let _ = writeln!(self.p.out, "}}\nif (row >= {total}) break;");
        self.begin_copies(&slots, &axes, &format!("row + {} * {stride}", depth - 1), &before, &total)?;
        let _ = writeln!(self.p.out, "ring = ring == {} ? 0 : ring + 1;\n}}", depth - 1);
        Ok(clusters * cluster)
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

    /// Begins to copy a row into a slot, if there is such a row.
    fn begin_copies(&mut self, slots: &[Slot], axes: &[usize], row: &str, slot: &str, total: &str) -> Result<()> {
        let ty = self.p.index_type();
        let _ = writeln!(self.p.out, "if ({ty} q = {row}; q < {total}) {{ const int here = {slot};");
        self.decompose("q", axes);
        self.copy_loads(slots, "here")?;
        self.p.line("}\ncopies_begun();");
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
                let (place, states) = self.place_of_meeting(meeting);
                let (cluster, threads) = (self.s.cluster, self.s.threads());
                let _ = writeln!(
                    self.p.out,
                    "to_cluster<{cluster}, {threads}>({name}, m{meeting}{states}, b{meeting}{place});"
                );
                sent.push(Sent { reductions: some.to_vec(), meeting });
            }
        }
        Ok(sent)
    }

    /// What needs the states that were sent.
    fn back(&mut self, sent: &[Sent]) -> Result<()> {
        self.p.have.clear();
        for Sent { reductions, meeting } in sent {
            for &v in reductions {
                let ty = self.p.state_type(v)?;
                self.p.declare_state(&format!("y{v}"), &ty, &[]);
            }
            let (name, ty) = self.joined(reductions)?;
            let (place, states) = self.place_of_meeting(*meeting);
            let (cluster, threads, parity) = (self.s.cluster, self.s.threads(), self.parity());
            let _ = writeln!(
                self.p.out,
                "{name} = from_cluster<{cluster}, {threads}, {ty}>(m{meeting}{states}, b{meeting}{place}, {parity});"
            );
            self.parted(reductions);
            for &v in reductions {
                self.p.results(v, &format!("y{v}"), false)?;
            }
        }
        self.levels().into_iter().filter(|&l| l > 0).try_for_each(|level| self.level(level))
    }
}
