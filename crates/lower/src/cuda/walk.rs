//! Walks: a block takes points of an axis in order, with accumulators that live across them, and leaves partial results.
//!
//! What the next step reads is read ahead, into registers or shared memory, while this one computes.

use std::fmt::Write as _;

use base::{Error, Result};
use kernel::{AxisSet, ValueId};

use super::hold::{Hold, Slot, plain_loads};
use super::nest::Nest;
use super::scalar::stored;
use super::schedule::{Schedule, is_vector, most_ahead};
use super::stream::Rows;
use crate::flat::FlatDef;
use crate::partial::{Block, Partial};
use crate::unsupported;

/// Registers of a multiprocessor, the most of one thread, and as many as a step of a walk computes with.
const REGISTERS: i64 = 65536;
const MOST_REGISTERS: i64 = 255;
const COMPUTING: i64 = 48;

/// Where the steps of a walk are.
struct Ahead {
    axis: usize,
    within: Vec<usize>,
    /// Points of `within`, as text.
    inner: String,
    scale: &'static str,
    /// Steps are dealt to the blocks in turn, so that together they read one stream; else each block takes neighbours.
    dealt: bool,
}

/// What was read for the next step.
enum Fetched {
    Nothing,
    /// Loads, into registers.
    Registers(Vec<ValueId>),
    /// Loads, into shared memory of the other turn.
    Slots(Vec<Slot>),
}

impl Nest<'_, '_> {
    /// Points of a block in order, with accumulators that live across them.
    pub(super) fn walk(&mut self, block: &Block) -> Result<i64> {
        self.threads();
        let ty = self.p.index_type();
        let axes = self.grid_axes();
        let count: i64 = axes.iter().map(|&a| self.chunks(a)).product();
        let tiles = (count + self.s.points - 1) / self.s.points;
        let total = self.p.number(count);
        let per_block = self.p.number(tiles);
        let of_cluster = if self.s.cluster > 1 { format!("(block / {})", self.s.cluster) } else { "block".to_owned() };
        let _ = writeln!(self.p.out, "{ty} a{} = (u32){of_cluster} / (u32){per_block};", block.block);
        let _ = writeln!(self.p.out, "{ty} q = ({ty})((u32){of_cluster} % (u32){per_block}) * {} + x;", self.s.points);
        let whole = count % self.s.points == 0 && !self.p.shared.settings.numbers;
        if !whole {
            let _ = writeln!(self.p.out, "const bool inside = q < {total}; if (!inside) q = 0;");
        }
        self.decompose("q", &axes);
        self.declare_partials()?;
        let numbers = self.flat.extents[block.block];
        if self.s.depth > 1 {
            let (stride, total) = (self.p.number(numbers), self.p.number(self.flat.extents[block.axis]));
            let rows = Rows { axes: vec![block.axis], first: format!("a{}", block.block), stride, total };
            self.take_rows(rows, most_ahead(self.s.threads(), self.p.shared.settings.clusters))?;
            self.end_of_walk(whole)?;
            return Ok(tiles * numbers);
        }
        let within: Vec<usize> = self.vector_last(block.within.to_vec());
        let inner: i64 = within.iter().map(|&a| self.chunks(a)).product();
        let lanes = if self.s.vector == Some(block.axis) { self.s.lanes } else { 1 };
        if block.length % lanes != 0 {
            return Err(Error::internal(format!("blocks of {} points are no whole chunks of {lanes}", block.length)));
        }
        let dealt = self.s.points == 1 && self.s.group == 1 && self.s.walkers > 1 && !self.s.unrolled && within.is_empty();
        let (scale, inner_text) = (if lanes > 1 { " * V" } else { "" }, self.p.number(inner));
        let ahead = Ahead { axis: block.axis, within, inner: inner_text, scale, dealt };
        let (start, end, stride) = self.steps_of(block, &ahead, lanes);
        let fetched = if self.one_step() { Fetched::Nothing } else { self.fetch_first(&ahead)? };
        self.p.line("int turn = 0;");
        if self.s.cluster > 1 && !self.one_step() {
            self.p.line("cluster_wait();");
        }
        let unroll = if self.s.group == 1 { "_Pragma(\"unroll 4\") " } else { "" };
        let _ = writeln!(self.p.out, "{unroll}for ({ty} step = {start}; step < {end}; step += {stride}) {{");
        let mut guards: Vec<&str> = if whole { Vec::new() } else { vec!["inside"] };
        if self.s.walkers > 1 {
            let _ = writeln!(self.p.out, "{ty} now = step + r; const bool live = now < {end}; if (!live) now = 0;");
            guards.push("live");
        } else {
            let _ = writeln!(self.p.out, "const {ty} now = step;");
        }
        self.guard = (!guards.is_empty()).then(|| guards.join(" && "));
        self.fetch_next(&ahead, &fetched)?;
        self.step(&ahead, "now");
        self.walking = true;
        self.stages()?;
        self.walking = false;
        self.p.line("turn ^= 1; }");
        self.end_of_walk(whole)?;
        Ok(tiles * numbers * self.s.cluster)
    }

    /// Leaves what was accumulated.
    fn end_of_walk(&mut self, whole: bool) -> Result<()> {
        self.p.have.clear();
        self.guard = (!whole).then(|| "inside".to_owned());
        self.store_partials()
    }

    /// Whether a thread takes one step only, before which nothing is read ahead.
    pub(super) fn one_step(&self) -> bool {
        self.block.is_none_or(|b| b.length == 1 && b.within.iter().all(|&a| self.chunks(a) == 1))
    }

    /// The steps of a block: first, end and distance.
    fn steps_of(&mut self, block: &Block, ahead: &Ahead, lanes: i64) -> (String, String, String) {
        let (ty, walkers) = (self.p.index_type(), self.s.walkers);
        let extent = self.p.number(self.flat.extents[block.axis] / lanes);
        if ahead.dealt {
            let blocks = self.p.number(self.flat.extents[block.block]);
            return (format!("a{} * {walkers}", block.block), extent, format!("{walkers} * {blocks}"));
        }
        let length = self.p.number(block.length / lanes);
        let _ = writeln!(
            self.p.out,
            "const {ty} low = a{b} * {length}, high = least_of<{ty}>(low + {length}, {extent});\n\
             const {ty} steps = (high - low) * {inner};",
            b = block.block,
            inner = ahead.inner
        );
        ("0".to_owned(), "steps".to_owned(), walkers.to_string())
    }

    /// Where the walk is at a step, as axes.
    fn step(&mut self, ahead: &Ahead, now: &str) {
        let ty = self.p.index_type();
        if ahead.dealt {
            let _ = writeln!(self.p.out, "{ty} a{} = {now}{};", ahead.axis, ahead.scale);
            return;
        }
        let _ = writeln!(self.p.out, "{ty} a{} = (low + {now} / {}){};", ahead.axis, ahead.inner, ahead.scale);
        if !ahead.within.is_empty() {
            let _ = writeln!(self.p.out, "{ty} part = {now} % {};", ahead.inner);
            self.decompose("part", &ahead.within);
        }
    }

    /// Reads what no step changes, and begins to read what the first step needs.
    fn fetch_first(&mut self, ahead: &Ahead) -> Result<Fetched> {
        if !self.s.unrolled && self.s.hold != Hold::Shared {
            return Ok(Fetched::Nothing);
        }
        let loads = plain_loads(&self.order).into_iter().filter(|&v| self.steps_with_readers(v));
        let walked = |v: &ValueId| {
            self.flat.value(*v).free.has(ahead.axis) || ahead.within.iter().any(|&a| self.flat.value(*v).free.has(a))
        };
        let (moving, fixed): (Vec<ValueId>, Vec<ValueId>) = loads.partition(walked);
        if self.s.hold == Hold::Shared {
            return self.fetch_first_shared(ahead, &moving, &fixed);
        }
        if self.words(&fixed) + 2 * self.words(&moving) > self.free_registers() {
            return Ok(Fetched::Nothing);
        }
        self.read_fixed(&fixed)?;
        self.declare_loads(&moving, "c");
        self.declare_loads(&moving, "h");
        self.first(ahead);
        self.read_loads(&moving, "h")?;
        self.p.line("}");
        self.hold_registers(&moving);
        Ok(Fetched::Registers(moving))
    }

    fn fetch_first_shared(&mut self, ahead: &Ahead, moving: &[ValueId], fixed: &[ValueId]) -> Result<Fetched> {
        if self.s.unrolled && self.words(fixed) <= self.free_registers() {
            self.read_fixed(fixed)?;
        }
        let most = most_ahead(self.s.threads(), self.p.shared.settings.clusters);
        let slots = self.slots(moving, 2, most);
        self.first(ahead);
        self.copy_loads(&slots, "0")?;
        self.p.line("copies_begun(); }");
        self.p.held.extend(slots.iter().map(|s| (s.load, format!("*{}", s.pointer("turn")))));
        Ok(Fetched::Slots(slots))
    }

    /// Opens a scope in which a thread is where its first step is.
    fn first(&mut self, ahead: &Ahead) {
        let ty = self.p.index_type();
        let _ = writeln!(self.p.out, "{{ const {ty} first = r < steps ? r : 0;");
        self.step(ahead, "first");
    }

    pub(super) fn read_fixed(&mut self, fixed: &[ValueId]) -> Result<()> {
        self.declare_loads(fixed, "c");
        self.read_loads(fixed, "c")?;
        self.hold_registers(fixed);
        Ok(())
    }

    fn hold_registers(&mut self, loads: &[ValueId]) {
        for &v in loads {
            let at = if self.loop_of(v).is_empty() { "" } else { "[i]" };
            self.p.held.insert(v, format!("c{v}{at}"));
        }
    }

    /// Registers that loads take per thread, all steps of their loops together.
    pub(super) fn words(&self, loads: &[ValueId]) -> i64 {
        let bytes = |&v: &ValueId| {
            let FlatDef::Load { arg, .. } = self.flat.value(v).def else { return 0 };
            let lanes = if self.lanes_in(self.loop_of(v)) { self.s.lanes } else { 1 };
            self.p.shared.dtypes[arg].size() as i64 * lanes * self.s.steps(self.chunks_of(self.loop_of(v)))
        };
        loads.iter().map(bytes).sum::<i64>() / 4
    }

    /// Registers of a thread that neither accumulators nor the computation take.
    pub(super) fn free_registers(&self) -> i64 {
        let kept = |&(v, set): &(ValueId, AxisSet)| {
            let states = self.partials.iter().find(|p| p.value == v).map_or(1, |p| p.states.len() as i64);
            let lanes = if self.lanes_in(set) { self.s.lanes } else { 1 };
            states * lanes * self.s.steps(self.chunks_of(set))
        };
        let all = (REGISTERS / self.s.threads()).min(MOST_REGISTERS);
        all - COMPUTING - self.kept.iter().map(kept).sum::<i64>()
    }

    /// Whether the loops that read a load take the steps of its own: it varies over all of their inner axes, or over none.
    pub(super) fn steps_with_readers(&self, v: ValueId) -> bool {
        let own = self.loop_of(v);
        let mut readers = self.plan.iter().filter(|(_, roots)| self.order.reachable(roots).contains(&v));
        own.is_empty() || readers.all(|(loops, _)| loops.axes == own)
    }

    /// Takes what was read ahead, and begins to read what the next step needs.
    fn fetch_next(&mut self, ahead: &Ahead, fetched: &Fetched) -> Result<()> {
        if let Fetched::Registers(loads) = fetched {
            for &v in loads {
                let set = self.loop_of(v);
                if set.is_empty() {
                    let _ = writeln!(self.p.out, "c{v} = h{v};");
                } else {
                    let steps = self.s.steps(self.chunks_of(set));
                    let _ = writeln!(self.p.out, "UNROLL for (int i = 0; i < {steps}; ++i) c{v}[i] = h{v}[i];");
                }
            }
        }
        let (ty, walkers) = (self.p.index_type(), self.s.walkers);
        match fetched {
            Fetched::Nothing => {}
            Fetched::Registers(loads) => {
                let _ = writeln!(self.p.out, "{{ const {ty} next = step + {walkers} + r < steps ? step + {walkers} + r : now;");
                self.step(ahead, "next");
                self.read_loads(loads, "h")?;
                self.p.line("}");
            }
            Fetched::Slots(slots) => {
                let _ = writeln!(self.p.out, "if (const {ty} next = step + {walkers} + r; next < steps) {{");
                self.step(ahead, "next");
                self.copy_loads(slots, "turn ^ 1")?;
                self.p.line("}\ncopies_begun(); copies_done<1>();");
            }
        }
        Ok(())
    }

    /// Inner axes that a value varies over.
    pub(super) fn loop_of(&self, v: ValueId) -> AxisSet {
        self.order.inner_of(self.flat.value(v).free)
    }

    /// Declares a variable per load, with an element per step of the loops that it is in.
    pub(super) fn declare_loads(&mut self, loads: &[ValueId], letter: &str) {
        let outer = self.p.has_lanes;
        for &v in loads {
            let FlatDef::Load { arg, .. } = self.flat.value(v).def else { continue };
            let set = self.loop_of(v);
            self.p.has_lanes = self.lanes_in(set);
            let count = if self.p.varies(self.flat.value(v).free) { "V" } else { "1" };
            let steps = if set.is_empty() { String::new() } else { format!("[{}]", self.s.steps(self.chunks_of(set))) };
            let _ = writeln!(self.p.out, "Vec<{}, {count}> {letter}{v}{steps};", stored(self.p.shared.dtypes[arg]));
        }
        self.p.has_lanes = outer;
    }

    /// Reads loads into their declared variables: all steps of the loops that they are in.
    pub(super) fn read_loads(&mut self, loads: &[ValueId], letter: &str) -> Result<()> {
        self.for_loads(loads, true, &mut |nest, v| {
            let at = if nest.loop_of(v).is_empty() { "" } else { "[i]" };
            nest.read_held(v, &format!("{letter}{v}{at}"))
        })
    }

    fn declare_partials(&mut self) -> Result<()> {
        for p in self.partials {
            let ty = self.p.state_type(p.value)?;
            let inner = self.order.inner_of(self.flat.value(p.value).free);
            let mut dims = Vec::new();
            if !inner.is_empty() {
                let set = self.loops_of(p.value);
                if set != inner {
                    return Err(unsupported("a partial result that varies over some of its inner axes"));
                }
                dims.push(self.s.steps(self.chunks_of(set)).to_string());
                self.kept.push((p.value, set));
            }
            if self.state_lanes(p.value) {
                dims.push("V".into());
            }
            self.p.declare_state(&format!("y{}", p.value), &ty, &dims);
        }
        Ok(())
    }

    fn store_partials(&mut self) -> Result<()> {
        let Schedule { group, walkers, points, strided, .. } = self.s;
        for p in self.partials {
            let lanes = self.state_lanes(p.value);
            let kept = self.kept.iter().find(|k| k.0 == p.value).map(|k| k.1);
            let name = format!("y{}", p.value);
            if let Some(set) = kept {
                let steps = self.s.steps(self.chunks_of(set));
                let (merge, threads) = (if lanes { "across_walkers" } else { "across_walkers_one" }, self.s.threads());
                if walkers > 1 {
                    let (ty, count) = (self.p.state_type(p.value)?, if lanes { "V" } else { "1" });
                    self.p.scratch.insert(format!("sizeof({ty}) * {threads} * at_once<{ty}, {threads}, {count}>()"));
                    let _ = writeln!(
                        self.p.out,
                        "UNROLL for (int i = 0; i < {steps}; ++i) {merge}<{walkers}, {group}, {threads}>({name}[i], scratch);"
                    );
                }
                self.open_loop(set, true)?;
                self.p.has_lanes = self.lanes_in(set);
                let guard = self.guard.clone();
                if walkers > 1 {
                    self.guard = Some(guard.as_ref().map_or("r == 0".to_owned(), |g| format!("{g} && r == 0")));
                }
                self.store_state(p, &format!("{name}[i]{}", if lanes { "[j]" } else { "" }), lanes)?;
                self.guard = guard;
                self.p.line("} }");
                continue;
            }
            let all = if self.loops_of(p.value).is_empty() { walkers } else { walkers * group };
            let stride = if strided {
                if self.loops_of(p.value).is_empty() { points * group } else { points }
            } else if self.loops_of(p.value).is_empty() {
                group
            } else {
                1
            };
            let at = if lanes { "[j]" } else { "" };
            let ty = self.p.state_type(p.value)?;
            self.across(&name, at, &ty, all, stride);
            let first = format!("{}{}", if walkers > 1 { "r == 0" } else { "true" }, if group > 1 { " && g == 0" } else { "" });
            let _ = writeln!(self.p.out, "if ({first}) {{");
            self.store_state(p, &format!("{name}{at}"), lanes)?;
            self.p.line("}");
        }
        Ok(())
    }

    /// Whether states of adjacent elements can be in adjacent registers, as wide stores need them: not beside a row in registers.
    fn has_room(&self) -> bool {
        self.s.hold != Hold::Registers || self.free_registers() >= COMPUTING
    }

    fn store_state(&mut self, p: &Partial, state: &str, lanes: bool) -> Result<()> {
        let guard = self.guard.clone().map_or(String::new(), |g| format!("if ({g}) "));
        for ((arg, index), field) in p.states.iter().zip(["a", "b", "c"]) {
            let adjacent =
                lanes && self.has_room() && self.s.vector.is_some_and(|a| is_vector(self.flat, index, a, self.s.lanes));
            let pointer = self.p.pointer(*arg);
            let at = self.p.lin(index, lanes && !adjacent)?;
            let ty = stored(self.p.shared.dtypes[*arg]);
            let _ = if adjacent {
                writeln!(
                    self.p.out,
                    "{guard}{{ Vec<{ty}, V> all; LANES(j) all.x[j] = Down<{ty}>::of({state}.{field}); \
                     store<{ty}, V>({pointer}, {at}, all); }}"
                )
            } else {
                let each = if lanes { "LANES(j) " } else { "" };
                writeln!(self.p.out, "{each}{guard}{pointer}[{at}] = Down<{ty}>::of({state}.{field});")
            };
        }
        Ok(())
    }
}
