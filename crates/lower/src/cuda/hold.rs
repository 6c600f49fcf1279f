//! What several stages of a row read: it is read once and waits, in registers or in shared memory.
//!
//! A slot of shared memory belongs to one thread, which copies into it what it needs itself, so that nobody waits for others.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base::Result;
use kernel::{AxisSet, ValueId};
use scalar::DType;

use super::nest::Nest;
use super::scalar::stored;
use super::schedule::is_vector;
use crate::flat::{Flat, FlatDef, Root};
use crate::stages::{LATER, Loops, Plan, Stages};

/// Where loads that several stages read wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// They are read again.
    Nowhere,
    Registers,
    Shared,
}

/// Needed loads whose position depends on no other value.
pub(crate) fn plain_loads(order: &Stages<'_>) -> Vec<ValueId> {
    let flat = order.flat;
    let plain = |v: ValueId| matches!(flat.value(v).def, FlatDef::Load { .. }) && flat.operands(v).is_empty();
    (0..flat.values.len() as ValueId).filter(|&v| order.needed[v as usize] && plain(v)).collect()
}

/// Loads that more than one stage over a row reads, where these and the loads vary over the same axes: a step is the same everywhere.
pub(crate) fn read_again(order: &Stages<'_>, plan: &Plan) -> Vec<ValueId> {
    let loops: Vec<(&Loops, &Vec<Root>)> = plan.iter().filter(|(l, _)| !l.axes.is_empty() && l.level < LATER).collect();
    let Some(row) = loops.first().map(|(l, _)| l.axes) else { return Vec::new() };
    if loops.iter().any(|(l, _)| l.axes != row || !l.ends.is_empty()) {
        return Vec::new();
    }
    let reached: Vec<BTreeSet<ValueId>> = loops.iter().map(|(_, roots)| order.reachable(roots)).collect();
    let several = |v: &ValueId| reached.iter().filter(|r| r.contains(v)).count() > 1;
    let over_row = |v: &ValueId| order.inner_of(order.flat.value(*v).free) == row;
    plain_loads(order).into_iter().filter(|v| over_row(v) && several(v)).collect()
}

/// Bytes that a load takes per chunk of the vector axis, if the hardware can copy a chunk into shared memory.
pub(crate) fn copied_bytes(flat: &Flat, v: ValueId, vector: Option<usize>, lanes: i64, dtypes: &[DType]) -> Option<i64> {
    let FlatDef::Load { arg, index, when, .. } = &flat.value(v).def else { return None };
    let varies = lanes > 1 && vector.is_some_and(|a| flat.value(v).free.has(a));
    let adjacent = !varies || vector.is_some_and(|a| is_vector(flat, index, a, lanes));
    let bytes = dtypes[*arg].size() as i64 * if varies { lanes } else { 1 };
    (when.is_empty() && adjacent && bytes % 4 == 0).then_some(bytes)
}

impl Nest<'_, '_> {
    /// Reads what several stages need, where the schedule says so.
    pub(super) fn hold(&mut self) -> Result<()> {
        let again = read_again(&self.order, &self.plan);
        if again.is_empty() || !self.p.held.is_empty() {
            return Ok(());
        }
        match self.s.hold {
            Hold::Nowhere => {}
            Hold::Registers if self.block.is_some_and(|b| b.length > 1) => {}
            Hold::Registers => {
                self.declare_loads(&again, "h");
                self.read_loads(&again, "h")?;
                self.p.held = again.into_iter().map(|v| (v, format!("h{v}[i]"))).collect();
            }
            Hold::Shared => {
                let slots = self.slots(&again, 1, i64::MAX);
                self.copy_loads(&slots, "0")?;
                self.p.line("copies_begun(); copies_done<0>();");
                self.p.held = slots.iter().map(|s| (s.load, format!("*{}", s.pointer("0")))).collect();
            }
        }
        Ok(())
    }

    /// Reserves slots for loads, `depth` of each, as far as all slots take at most so many bytes.
    pub(super) fn slots(&mut self, loads: &[ValueId], depth: i64, most: i64) -> Vec<Slot> {
        let threads = self.s.threads();
        let mut slots = Vec::new();
        for &load in loads {
            let FlatDef::Load { arg, .. } = self.flat.value(load).def else { continue };
            let (set, vector) = (self.loop_of(load), self.s.vector);
            let Some(bytes) = copied_bytes(self.flat, load, vector, self.s.lanes, self.p.shared.dtypes) else { continue };
            let ty = stored(self.p.shared.dtypes[arg]);
            let varies = self.lanes_in(set) && vector.is_some_and(|a| self.flat.value(load).free.has(a));
            let turn = bytes * threads * self.s.steps(self.chunks_of(set));
            if self.slots + turn * depth > most {
                continue;
            }
            let step = if set.is_empty() { "" } else { "i" };
            slots.push(Slot { load, ty, count: if varies { "V" } else { "1" }, at: self.slots, turn, step, threads });
            self.slots += turn * depth;
        }
        slots
    }

    /// Starts to copy loads into their slots of a turn: all steps of the loops that they are in.
    pub(super) fn copy_loads(&mut self, slots: &[Slot], turn: &str) -> Result<()> {
        let loads: Vec<ValueId> = slots.iter().map(|s| s.load).collect();
        self.for_loads(&loads, self.s.unrolled, &mut |nest, v| {
            slots.iter().filter(|s| s.load == v).try_for_each(|slot| nest.copy_load(slot, turn))
        })
    }

    /// Starts to copy a load into its slot of a turn, where the thread is.
    pub(super) fn copy_load(&mut self, slot: &Slot, turn: &str) -> Result<()> {
        let FlatDef::Load { arg, index, .. } = &self.flat.value(slot.load).def else { return Ok(()) };
        let (from, at) = (self.p.pointer(*arg), self.p.lin(index, false)?);
        let _ = writeln!(self.p.out, "copy_ahead({}, {from}, {at});", slot.pointer(turn));
        Ok(())
    }

    /// Does something for each of some loads in all steps of the loops that it is in.
    pub(super) fn for_loads(
        &mut self,
        loads: &[ValueId],
        unrolled: bool,
        each: &mut dyn FnMut(&mut Self, ValueId) -> Result<()>,
    ) -> Result<()> {
        let outer = self.p.has_lanes;
        let sets: BTreeSet<AxisSet> = loads.iter().map(|&v| self.loop_of(v)).collect();
        for set in sets {
            self.p.has_lanes = self.lanes_in(set);
            if set.is_empty() {
                self.p.line("{ {");
            } else {
                self.open_loop(set, unrolled)?;
            }
            let here: Vec<ValueId> = loads.iter().copied().filter(|&v| self.loop_of(v) == set).collect();
            for v in here {
                each(self, v)?;
            }
            self.p.line("} }");
        }
        self.p.has_lanes = outer;
        Ok(())
    }
}

/// Shared memory of a load: a place per thread and step of its loops, in each turn.
pub(super) struct Slot {
    pub(super) load: ValueId,
    ty: &'static str,
    count: &'static str,
    /// First byte.
    at: i64,
    /// Bytes of a turn.
    turn: i64,
    /// Step of the loops, as text; empty outside loops.
    step: &'static str,
    threads: i64,
}

impl Slot {
    /// Pointer to what the thread has of it in a turn.
    pub(super) fn pointer(&self, turn: &str) -> String {
        let Slot { ty, count, at, threads, .. } = self;
        let turn = if turn == "0" { String::new() } else { format!(" + ({turn}) * {}", self.turn) };
        let step = if self.step.is_empty() { String::new() } else { format!("{} * {threads} + ", self.step) };
        format!("slot<{ty}, {count}>({at}{turn}, {step}(int)threadIdx.x)")
    }
}
