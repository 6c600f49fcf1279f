//! Streams: a block or cluster takes row after row and reads ahead; while the states of one row meet, it accumulates those of the
//! next.

use std::fmt::Write as _;

use base::Result;
use kernel::ValueId;

use super::hold::{Slot, plain_loads, read_again};
use super::nest::Nest;
use super::schedule::SHARED_BY_STREAM;

/// The rows of a stream.
pub(super) struct Rows {
    /// Axes into which a row's number splits.
    pub(super) axes: Vec<usize>,
    /// Number of the first row of a block or cluster, distance to its next one, and how many there are in all, as text.
    pub(super) first: String,
    pub(super) stride: String,
    pub(super) total: String,
}

/// Slots that a pass fills again as it leaves them.
pub(super) struct Refill {
    slots: Vec<Slot>,
    axes: Vec<usize>,
    total: String,
}

/// States of one or two reductions that were sent to the whole block or cluster, and the meeting that they were sent to.
struct Sent {
    reductions: Vec<ValueId>,
    meeting: usize,
}

impl Nest<'_, '_> {
    /// Rows that leave nothing behind, dealt to as many clusters as run at once.
    pub(super) fn stream(&mut self) -> Result<i64> {
        self.threads();
        let axes = self.grid_axes();
        let count: i64 = axes.iter().map(|&a| self.chunks(a)).product();
        let (ty, cluster, total) = (self.p.index_type(), self.s.cluster, self.p.number(count));
        let (first, stride) = (format!("({ty})(block / {cluster})"), format!("({ty})(gridDim.x / {cluster})"));
        self.take_rows(Rows { axes, first, stride, total }, SHARED_BY_STREAM)?;
        Ok(count * cluster)
    }

    /// Takes rows, of which so many bytes of shared memory hold the next ones.
    pub(super) fn take_rows(&mut self, rows: Rows, most: i64) -> Result<()> {
        let Rows { axes, first, stride, total } = rows;
        let (ty, last) = (self.p.index_type(), self.s.depth - 1);
        let slots = self.row_slots(&axes, most)?;
        let _ = writeln!(
            self.p.out,
            "for (int here = 0; here <= {last}; ++here) {{ if ({ty} q = {first} + here * {stride}; q < {total}) {{"
        );
        self.decompose("q", &axes);
        self.copy_loads(&slots, "here")?;
        self.p.line("}\ncopies_begun(); }");
        self.p.held.extend(slots.iter().map(|s| (s.load, format!("*{}", s.pointer("here")))));
        let wait = if self.s.cluster > 1 { "cluster_wait();\n" } else { "" };
        let _ = writeln!(
            self.p.out,
            "{wait}int ring = 0, n = 0;\nfor ({ty} row = {first}; ; row += {stride}, ++n) {{\n\
             if (row < {total}) {{\ncopies_done<{}>();\nconst int turn = n, here = ring; {ty} q = row;",
            last - 1
        );
        self.decompose("q", &axes);
        let sent = self.front()?;
        let _ = writeln!(
            self.p.out,
            "}}\nif (n > 0) {{\nconst int turn = n - 1, here = ring == 0 ? {last} : ring - 1; {ty} q = row - {stride};\n\
             const {ty} next = row + {last} * {stride};"
        );
        self.decompose("q", &axes);
        self.back(&sent, Refill { slots, axes, total: total.clone() })?;
        let _ =
            writeln!(self.p.out, "copies_begun();\n}}\nif (row >= {total}) break;\nring = ring == {last} ? 0 : ring + 1;\n}}");
        Ok(())
    }

    /// Reserves slots for what changes from row to row, first for what is read several times; reads the rest into registers, or begins
    /// to copy it into slots, where there is room.
    fn row_slots(&mut self, axes: &[usize], most: i64) -> Result<Vec<Slot>> {
        let loads = plain_loads(&self.order).into_iter().filter(|&v| self.steps_with_readers(v));
        let varies = |v: &ValueId| axes.iter().any(|&a| self.flat.value(*v).free.has(a));
        let (moving, fixed): (Vec<ValueId>, Vec<ValueId>) = loads.partition(varies);
        let fixed: Vec<ValueId> = fixed.into_iter().filter(|&v| !self.loop_of(v).is_empty()).collect();
        let again = read_again(&self.order, &self.plan);
        let (first, then): (Vec<ValueId>, Vec<ValueId>) = moving.into_iter().partition(|v| again.contains(v));
        let slots = self.slots(&[first, then].concat(), self.s.depth, most);
        if self.words(&fixed) <= self.free_registers() {
            self.read_fixed(&fixed)?;
        } else {
            let fixed = self.slots(&fixed, 1, most);
            self.copy_loads(&fixed, "0")?;
            self.p.held.extend(fixed.iter().map(|s| (s.load, format!("*{}", s.pointer("0")))));
        }
        Ok(slots)
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
                self.p.line(&self.send(meeting, &name));
                sent.push(Sent { reductions: some.to_vec(), meeting });
            }
        }
        Ok(sent)
    }

    /// What needs the states that were sent; the last pass over the row makes room for a later one.
    fn back(&mut self, sent: &[Sent], refill: Refill) -> Result<()> {
        self.p.have.clear();
        for Sent { reductions, meeting } in sent {
            for &v in reductions {
                let ty = self.p.state_type(v)?;
                self.p.declare_state(&format!("y{v}"), &ty, &[]);
            }
            let (name, _) = self.joined(reductions)?;
            let received = self.received(*meeting);
            let _ = writeln!(self.p.out, "{name} = {received};");
            self.parted(reductions);
            for &v in reductions {
                self.p.results(v, &format!("y{v}"), false)?;
            }
        }
        let passes = |level: usize| self.stages_of(level).iter().any(|(loops, _)| !loops.axes.is_empty());
        let last = self.levels().into_iter().filter(|&l| passes(l)).max();
        let Refill { slots, axes, total } = refill;
        let (in_rows, once): (Vec<Slot>, Vec<Slot>) = slots.into_iter().partition(|s| !self.loop_of(s.load).is_empty());
        let mut in_rows = Some(Refill { slots: in_rows, axes: axes.clone(), total: total.clone() });
        for level in self.levels().into_iter().filter(|&l| l > 0) {
            if last == Some(level) {
                self.refilled = in_rows.take();
            }
            self.level(level)?;
        }
        self.refilled = Some(Refill { slots: once, axes, total });
        self.refill()
    }

    /// Begins to copy what a later row has where the thread is.
    pub(super) fn refill(&mut self) -> Result<()> {
        let Some(Refill { slots, axes, total }) = self.refilled.take().filter(|r| !r.slots.is_empty()) else { return Ok(()) };
        let ty = self.p.index_type();
        let _ = writeln!(self.p.out, "if ({ty} q = next; q < {total}) {{");
        self.decompose("q", &axes);
        for slot in &slots {
            self.copy_load(slot, "here")?;
        }
        self.p.line("}");
        Ok(())
    }
}
