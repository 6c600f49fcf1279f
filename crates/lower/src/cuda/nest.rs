//! The loops of a nest: points dealt to threads, stages over inner points, walks over blocks of points.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base::{HashMap, Numerics, Result};
use kernel::{AxisSet, ValueId};
use scalar::Combiner;

use super::hold::{Hold, plain_loads};
use super::online::{moments, online};
use super::print::{Held, Print, Shared};
use super::scalar::stored;
use super::schedule::{Schedule, schedule};
use super::stream::Refill;
use super::tiled::{self, Turn, turn};
use crate::flat::{Flat, FlatDef, Root};
use crate::lin::Lin;
use crate::partial::{Block, Partial, Unit};
use crate::stages::{LATER, Loops, Plan, Stages};
use crate::unsupported;

/// A device function's body, and how it is launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    /// Statements.
    pub(crate) text: String,
    /// Parameters that it takes the addresses of, in order.
    pub(crate) args: Vec<u16>,
    /// Numbers after the addresses.
    pub(crate) numbers: Vec<i64>,
    /// Blocks.
    pub(crate) blocks: i64,
    /// Threads of a block.
    pub(crate) threads: i64,
    /// Bytes of dynamic shared memory.
    pub(crate) shared: i64,
    /// Blocks of a cluster.
    pub(crate) cluster: i64,
    /// Clusters take turns.
    pub(crate) in_turns: bool,
}

/// Prints a nest.
pub(crate) fn nest(unit: &Unit, shared: &mut Shared<'_>) -> Result<Body> {
    let mut flat = unit.flat.clone();
    let partials = unit.block.as_ref().map_or(&[][..], |b| &b.partials);
    let online = online(&mut flat, partials);
    let mut planned = schedule(&flat, unit.block.as_ref(), shared);
    if planned.cluster > 1 && shared.settings.numerics == Numerics::Wide && moments(&mut flat, partials) {
        planned = schedule(&flat, unit.block.as_ref(), shared);
    }
    let flat = &flat;
    let mut schedule = shared.settings.choice.of(planned, flat, unit.block.is_some());
    let order = Stages::new(flat, partials);
    let turn = if unit.block.is_none() { turn(flat, &schedule, &order.needed, shared) } else { None };
    if turn.is_some() {
        schedule = Schedule { points: tiled::THREADS, unroll: 1, ..schedule };
    }
    let has_lanes = schedule.lanes > 1 && schedule.vector.is_some_and(|v| !flat.inner.has(v));
    let print = Print {
        flat,
        vector: schedule.vector,
        lanes: schedule.lanes,
        has_lanes,
        out: String::new(),
        have: HashMap::default(),
        held: Held::default(),
        rests: None,
        online,
        scratch: BTreeSet::new(),
        args: Vec::new(),
        numbers: Vec::new(),
        wide: needs_wide(flat, unit.block.as_ref()),
        shared,
    };
    let plan = order.plan();
    let nest = Nest {
        flat,
        block: unit.block.as_ref(),
        partials,
        order,
        plan,
        s: schedule,
        p: print,
        guard: None,
        kept: Vec::new(),
        slots: 0,
        meetings: Vec::new(),
        refilled: None,
        walking: false,
    };
    nest.run(turn.as_ref())
}

/// Whether some index or number of points does not fit 32 bits.
fn needs_wide(flat: &Flat, block: Option<&Block>) -> bool {
    let mut axes = flat.order.iter().filter(|&&a| block.is_none_or(|b| b.block != a));
    let points = axes.try_fold(1i64, |n, &a| n.checked_mul(flat.extents[a].max(1)));
    let mut wide = points.is_none_or(|n| n > 1 << 30);
    flat.for_each_lin(&mut |e| {
        let affine = Lin {
            base: e.base,
            terms: e.terms.iter().filter(|(a, _)| matches!(a, crate::lin::Atom::Axis(_))).cloned().collect(),
        };
        let (least, most) = affine.range(flat);
        wide |= least < -(1 << 30) || most > 1 << 30;
    });
    wide
}

pub(crate) struct Nest<'a, 'b> {
    pub(crate) flat: &'a Flat,
    pub(super) block: Option<&'a Block>,
    pub(super) partials: &'a [Partial],
    pub(super) order: Stages<'a>,
    pub(super) plan: Plan,
    pub(crate) s: Schedule,
    pub(crate) p: Print<'a, 'b>,
    /// Condition under which a thread's point exists.
    pub(super) guard: Option<String>,
    /// Partial reductions whose state varies over inner points, with the set that they vary over.
    pub(super) kept: Vec<(ValueId, AxisSet)>,
    /// Bytes of shared memory in which loads wait.
    pub(super) slots: i64,
    /// Where states of threads meet.
    meetings: Vec<Meeting>,
    /// What the pass at hand fills again as it leaves it.
    pub(super) refilled: Option<Refill>,
    /// The statement at hand is in the loop of a walk.
    pub(super) walking: bool,
}

/// Shared memory in which the states of all warps of a block or cluster, or of all blocks of a cluster, meet.
struct Meeting {
    ty: String,
    states: i64,
    /// One per lane.
    lanes: bool,
}

impl Nest<'_, '_> {
    fn run(mut self, turn: Option<&Turn>) -> Result<Body> {
        let blocks = match (self.block, turn, self.s.vector) {
            (Some(block), ..) => self.walk(block)?,
            (None, Some(turn), Some(vector)) => self.tiles(turn, vector)?,
            _ if self.s.depth > 1 => self.stream()?,
            _ => self.points()?,
        };
        let threads = self.s.threads();
        let mut text = String::new();
        for (n, &arg) in self.p.args.iter().enumerate() {
            let ty = stored(self.p.shared.dtypes[arg as usize]);
            let _ = writeln!(text, "{ty}* p{arg} = ({ty}*)w[{n}];");
        }
        for (n, &number) in self.p.numbers.iter().enumerate() {
            // Extents that are no axis, such as that of a table, may be larger than every index computed here.
            let ty = if i32::try_from(number).is_ok() { self.p.index_type() } else { "i64" };
            let _ = writeln!(text, "const {ty} n{n} = ({ty})(i64)w[{}];", self.p.args.len() + n);
        }
        let _ = writeln!(text, "constexpr int V = {};", self.s.lanes);
        if self.p.out.contains("scratch") {
            let members: String = self.p.scratch.iter().enumerate().map(|(n, size)| format!(" char s{n}[{size}];")).collect();
            let _ = writeln!(text, "union alignas(16) Scratch {{ char one[16];{members} }};\n__shared__ Scratch scratch[1];");
        }
        self.declare_meetings(&mut text);
        text.push_str(&self.p.out);
        let (args, numbers, shared, cluster) = (self.p.args, self.p.numbers, self.slots, self.s.cluster);
        Ok(Body { text, args, numbers, blocks, threads, shared, cluster, in_turns: self.s.depth > 1 && self.block.is_none() })
    }

    /// Parallel axes that the grid covers, slowest first, the vector axis last.
    pub(crate) fn grid_axes(&self) -> Vec<usize> {
        let walked = |a: usize| self.block.is_some_and(|b| b.walks(a) || b.block == a);
        let all = self.flat.order.iter().copied();
        self.vector_last(all.filter(|&a| !self.flat.inner.has(a) && self.flat.extents[a] > 1 && !walked(a)).collect())
    }

    pub(super) fn vector_last(&self, mut axes: Vec<usize>) -> Vec<usize> {
        if let Some(at) = axes.iter().position(|&a| self.s.vector == Some(a)) {
            let vector = axes.remove(at);
            axes.push(vector);
        }
        axes
    }

    /// Chunks along an axis: of lanes along the vector axis.
    pub(super) fn chunks(&self, axis: usize) -> i64 {
        let extent = self.flat.extents[axis];
        if self.s.vector == Some(axis) { extent / self.s.lanes } else { extent }
    }

    /// Splits a number of chunks, in the variable `from`, into axes.
    pub(crate) fn decompose(&mut self, from: &str, axes: &[usize]) {
        let ty = self.p.index_type();
        let mut rest = from.to_owned();
        for (n, &axis) in axes.iter().enumerate().rev() {
            let extent = self.chunks(axis);
            let scale = if self.s.vector == Some(axis) && self.s.lanes > 1 { " * V" } else { "" };
            if n == 0 {
                let _ = writeln!(self.p.out, "{ty} a{axis} = {rest}{scale};");
                continue;
            }
            let extent = self.p.number(extent);
            let unsigned = if self.p.wide { "u64" } else { "u32" };
            let _ = writeln!(self.p.out, "{ty} a{axis} = ({ty})(({unsigned}){rest} % ({unsigned}){extent}){scale};");
            let next = format!("{from}_{n}");
            let _ = writeln!(self.p.out, "{ty} {next} = ({ty})(({unsigned}){rest} / ({unsigned}){extent});");
            rest = next;
        }
    }

    /// Declares the numbers of a thread.
    pub(super) fn threads(&mut self) {
        let Schedule { points, group, walkers, strided, .. } = self.s;
        let t = if self.s.threads() == 1 { "0" } else { "(int)threadIdx.x" };
        let (x, g, r) = if strided {
            (format!("{t} % {points}"), format!("{t} / {points} % {group}"), format!("{t} / {}", points * group))
        } else if walkers > 1 {
            ("0".to_owned(), format!("{t} % {group}"), format!("{t} / {group}"))
        } else {
            (format!("{t} / {group}"), format!("{t} % {group}"), "0".to_owned())
        };
        if self.s.cluster > 1 {
            let (cluster, threads) = (self.s.cluster, self.s.threads());
            let _ = writeln!(self.p.out, "const int x = 0, g = (int)(block % {cluster}) * {threads} + (int)threadIdx.x, r = 0;");
            return;
        }
        let _ = writeln!(self.p.out, "const int x = {x}, g = {g}, r = {r};");
    }

    /// Every point on its own.
    fn points(&mut self) -> Result<i64> {
        self.threads();
        let axes = self.grid_axes();
        let serial = self.flat.stores.iter().any(|s| s.collides);
        let count: i64 = axes.iter().map(|&a| self.chunks(a)).product();
        if serial {
            return self.serial(&axes, count);
        }
        let tile = self.s.points * self.s.unroll;
        let blocks = (count + tile - 1) / tile;
        let ty = self.p.index_type();
        let whole = count % tile == 0 && !self.p.shared.settings.numbers;
        let total = self.p.number(count);
        let synchronises = self.s.group > 1;
        if self.s.unroll > 1 {
            return self.unrolled_points(&axes, blocks, whole, &total);
        }
        let block = if self.s.cluster > 1 { format!("(block / {})", self.s.cluster) } else { "block".to_owned() };
        let _ = writeln!(self.p.out, "{ty} q = ({ty}){block} * {} + x;", self.s.points);
        if !whole {
            if synchronises {
                let _ = writeln!(self.p.out, "const bool live = q < {total}; if (!live) q = 0;");
                self.guard = Some("live".into());
            } else {
                let _ = writeln!(self.p.out, "if (q >= {total}) return;");
            }
        }
        self.decompose("q", &axes);
        self.stages()?;
        Ok(blocks * self.s.cluster)
    }

    /// Several points of a pointwise nest per thread: all loads first.
    fn unrolled_points(&mut self, axes: &[usize], blocks: i64, whole: bool, total: &str) -> Result<i64> {
        let ty = self.p.index_type();
        let unroll = self.s.unroll;
        let loads = plain_loads(&self.order);
        for &v in &loads {
            let FlatDef::Load { arg, .. } = self.flat.value(v).def else { continue };
            let count = if self.p.varies(self.flat.value(v).free) { "V" } else { "1" };
            let _ = writeln!(self.p.out, "Vec<{}, {count}> h{v}[{unroll}];", stored(self.p.shared.dtypes[arg]));
        }
        let head = format!(
            "UNROLL for (int u = 0; u < {unroll}; ++u) {{\n{ty} q = ({ty})block * {} + u * {} + x;",
            self.s.points * unroll,
            self.s.points
        );
        let test = if whole { String::new() } else { format!("if (q < {total}) ") };
        for phase in 0..2 {
            self.p.line(&head);
            let _ = writeln!(self.p.out, "{test}{{");
            self.decompose("q", axes);
            if phase == 0 {
                for &v in &loads {
                    self.read_held(v, &format!("h{v}[u]"))?;
                }
            } else {
                self.p.held = loads.iter().map(|&v| (v, format!("h{v}[u]"))).collect();
                self.stages()?;
            }
            self.p.line("} }");
            self.p.have.clear();
        }
        Ok(blocks)
    }

    pub(super) fn read_held(&mut self, v: ValueId, into: &str) -> Result<()> {
        let FlatDef::Load { arg, index, when, fill } = &self.flat.value(v).def else { return Ok(()) };
        self.p.read(v, into, *arg, index, when, *fill)
    }

    /// All points in order, on one thread.
    fn serial(&mut self, axes: &[usize], count: i64) -> Result<i64> {
        let ty = self.p.index_type();
        let total = self.p.number(count);
        let _ = writeln!(self.p.out, "for ({ty} q = 0; q < {total}; ++q) {{");
        self.decompose("q", axes);
        self.stages()?;
        self.p.line("}");
        Ok(1)
    }

    /// Loop set of a partial reduction's stage.
    pub(super) fn loops_of(&self, v: ValueId) -> AxisSet {
        let found = self.plan.iter().find(|(_, roots)| roots.contains(&Root::Value(v)));
        found.map(|(l, _)| l.axes).unwrap_or_default()
    }

    pub(super) fn chunks_of(&self, set: AxisSet) -> i64 {
        set.iter().map(|a| self.chunks(a)).product()
    }

    /// Whether a state has a component per lane, for loops over a set.
    pub(super) fn state_lanes(&self, v: ValueId) -> bool {
        self.s.lanes > 1 && self.s.vector.is_some_and(|a| self.flat.value(v).free.has(a))
    }

    /// Merges a state of a type, or one per lane, over `count` threads at a distance.
    pub(super) fn across(&mut self, name: &str, at: &str, ty: &str, count: i64, stride: i64) {
        if count <= 1 {
            return;
        }
        let (threads, cluster) = (self.s.threads(), self.s.cluster);
        let each = if at.is_empty() { "" } else { "LANES(j) " };
        if cluster == 1 && stride > 1 {
            self.p.scratch.insert(format!("sizeof({ty}) * {threads}"));
            let call = format!("across_strided<{count}, {stride}, {threads}>({name}{at}, scratch)");
            let _ = writeln!(self.p.out, "{each}{name}{at} = {call};");
            return;
        }
        if cluster == 1 && count <= 32 {
            let _ = writeln!(self.p.out, "{each}{name}{at} = across_warp<{count}>({name}{at});");
            return;
        }
        let (m, states) = (self.meeting(ty, !at.is_empty()), threads / 32);
        if cluster == 1 && !at.is_empty() {
            let turn = if self.turns() > 1 { format!(" + turn * V * {states}") } else { String::new() };
            let _ = writeln!(self.p.out, "across_all<{count}, {threads}>({name}, m{m}{turn});");
            return;
        }
        if cluster == 1 {
            let (_, place_states) = self.place_of_meeting(m);
            let _ = writeln!(self.p.out, "{each}{name}{at} = across<{count}, {threads}>({name}{at}, m{m}{place_states});");
            return;
        }
        let (send, receive) = (self.send(m, &format!("{name}{at}")), self.received(m));
        let _ = writeln!(self.p.out, "{each} {{ {send} {name}{at} = {receive}; }}");
    }

    /// Reserves places where states meet; gives their number.
    pub(super) fn meeting(&mut self, ty: &str, lanes: bool) -> usize {
        let warps = self.s.threads() / 32;
        let states = match (self.s.cluster, self.s.depth) {
            (1, _) => warps,
            (cluster, 1) => cluster * warps,
            (cluster, _) => cluster,
        };
        self.meetings.push(Meeting { ty: ty.to_owned(), states, lanes });
        self.meetings.len() - 1
    }

    /// Sends a state to a meeting of a block or cluster: in a stream of clusters, one for each block.
    pub(super) fn send(&self, m: usize, state: &str) -> String {
        let (cluster, threads, (place, states)) = (self.s.cluster, self.s.threads(), self.place_of_meeting(m));
        if cluster == 1 {
            return format!("to_group({state}, m{m}{states});");
        }
        if self.s.depth == 1 {
            return format!("warps_to_cluster<{cluster}, {threads}>({state}, m{m}{states}, b{m}{place});");
        }
        let warps = threads / 32;
        format!("to_cluster<{cluster}, {threads}>({state}, s{m}{place} * {warps}, m{m}{states}, b{m}{place}, turn);")
    }

    /// The merged state of a meeting of a block or cluster.
    pub(super) fn received(&self, m: usize) -> String {
        if self.s.cluster == 1 {
            return format!("from_group<{}, {}>(m{m}{})", self.s.group, self.s.threads(), self.place_of_meeting(m).1);
        }
        let (sent, parity, (place, states)) = (self.meetings[m].states, self.parity(), self.place_of_meeting(m));
        format!("from_cluster<{sent}>(m{m}{states}, b{m}{place}, {parity})")
    }

    /// Turns of the places where states meet: in a walk, the threads that are ahead are in the other one; in a stream they may be
    /// two rows ahead, and send what belongs to the row after that.
    fn turns(&self) -> i64 {
        if self.s.depth > 1 {
            4
        } else if self.block.is_some() {
            2
        } else {
            1
        }
    }

    /// Whether an even or an odd number of turns of a meeting's place came before, as text.
    fn parity(&self) -> &'static str {
        if self.s.depth > 1 {
            "turn >> 2 & 1"
        } else if self.walking {
            "(step >> 1) & 1"
        } else {
            "0"
        }
    }

    /// Where a meeting is within its places: as a number of places, and of states.
    fn place_of_meeting(&self, m: usize) -> (String, String) {
        let Meeting { states, lanes, .. } = self.meetings[m];
        let place = match (self.turns(), lanes) {
            (1, false) => return (String::new(), String::new()),
            (1, true) => "j",
            (2, false) => "turn",
            (2, true) => "(turn * V + j)",
            (_, false) => "(turn & 3)",
            (_, true) => "((turn & 3) * V + j)",
        };
        (format!(" + {place}"), format!(" + {place} * {states}"))
    }

    /// Declares the shared memory of meetings, and begins those of clusters.
    fn declare_meetings(&self, text: &mut String) {
        let (turns, warps) = (self.turns(), self.s.threads() / 32);
        for (m, Meeting { ty, states, lanes }) in self.meetings.iter().enumerate() {
            let places = if *lanes { format!("{turns} * V") } else { turns.to_string() };
            let _ = writeln!(text, "__shared__ {ty} m{m}[{places} * {states}];");
            if self.s.cluster > 1 && self.s.depth > 1 {
                let _ = writeln!(text, "__shared__ {ty} s{m}[{places} * {warps}];");
            }
            if self.s.cluster > 1 {
                let _ = writeln!(
                    text,
                    "__shared__ u64 b{m}[{places}];\n\
                     if (threadIdx.x == 0) for (int i = 0; i < {places}; ++i) meeting_begun(b{m} + i, {states} * sizeof({ty}));"
                );
            }
        }
        if self.s.cluster > 1 {
            text.push_str("cluster_arrive();\n");
        }
    }

    /// Whether values have lanes in a loop over a set.
    pub(super) fn lanes_in(&self, set: AxisSet) -> bool {
        self.s.lanes > 1 && self.s.vector.is_some_and(|v| !self.flat.inner.has(v) || set.has(v))
    }

    /// The stages at one point.
    pub(crate) fn stages(&mut self) -> Result<()> {
        self.hold()?;
        if self.s.cluster > 1 && self.one_step() {
            self.p.line("cluster_wait();");
        }
        for level in self.levels() {
            self.level(level)?;
        }
        Ok(())
    }

    /// Numbers of reductions before which there is something to compute.
    pub(super) fn levels(&self) -> BTreeSet<usize> {
        self.plan.keys().map(|k| k.level).filter(|&l| l < LATER).collect()
    }

    /// The stages after so many reductions.
    pub(super) fn level(&mut self, level: usize) -> Result<()> {
        let outer = self.p.has_lanes;
        self.prelude(level)?;
        for (loops, roots) in self.stages_of(level) {
            self.stage(&loops, &roots)?;
            self.p.has_lanes = outer;
        }
        Ok(())
    }

    /// Loops after so many reductions, with what they compute.
    pub(super) fn stages_of(&self, level: usize) -> Vec<(Loops, Vec<Root>)> {
        let of = |(loops, roots): (&Loops, &Vec<Root>)| {
            let stored = |r: &Root| loops.axes.is_empty() && matches!(r, Root::Store(_));
            (loops.clone(), roots.iter().copied().filter(|r| !stored(r)).collect::<Vec<Root>>())
        };
        let here = self.plan.iter().filter(|(loops, _)| loops.level == level);
        here.map(of).filter(|(_, roots)| !roots.is_empty()).collect()
    }

    /// Values and stores that do not vary over inner axes and need `level` reductions.
    pub(super) fn prelude(&mut self, level: usize) -> Result<()> {
        let flat = self.flat;
        for id in 0..flat.values.len() as ValueId {
            let ready = self.order.when[id as usize] == level && self.order.needed[id as usize];
            let reduction = flat.value(id).def.is_reduction() || matches!(flat.value(id).def, FlatDef::Component(..));
            let uniform = self.order.inner_of(flat.value(id).free).is_empty();
            if ready && uniform && !reduction && !self.p.have.contains_key(&id) {
                self.p.value(id)?;
            }
        }
        for s in &flat.stores {
            if self.order.store_level(s) == level && self.order.inner_of(self.order.store_free(s)).is_empty() {
                let first = (self.s.group > 1).then(|| "g == 0".to_owned());
                let guard: Vec<String> = first.into_iter().chain(self.guard.clone()).collect();
                let guard = (!guard.is_empty()).then(|| guard.join(" && "));
                self.p.store(s, guard.as_deref())?;
            }
        }
        Ok(())
    }

    /// Opens the loop over the chunks of a set and says where it is; closed by two braces.
    pub(super) fn open_loop(&mut self, set: AxisSet, unrolled: bool) -> Result<()> {
        let ty = self.p.index_type();
        let axes: Vec<usize> = self.vector_last(self.flat.order.iter().copied().filter(|&a| set.has(a)).collect());
        let chunks = self.chunks_of(set);
        let group = self.s.group;
        if unrolled {
            let steps = self.s.steps(chunks);
            let test = if chunks == steps * group { String::new() } else { format!("if (k < {chunks}) ") };
            let _ = writeln!(self.p.out, "UNROLL for (int i = 0; i < {steps}; ++i) {{ const {ty} k = g + i * {group}; {test}{{");
        } else {
            let total = self.p.number(chunks);
            let (start, step) = if self.s.hold == Hold::Shared { ("i = 0, ", "++i, ") } else { ("", "") };
            let _ = writeln!(self.p.out, "_Pragma(\"unroll 4\") for ({ty} {start}k = g; k < {total}; {step}k += {group}) {{ {{");
        }
        self.decompose("k", &axes);
        Ok(())
    }

    /// One pass over inner points, and what its reductions give.
    fn stage(&mut self, loops: &Loops, roots: &[Root]) -> Result<()> {
        let own = self.pass(loops.axes, roots)?;
        if !loops.axes.is_empty() && self.s.group > 1 {
            self.merge_all(&own)?;
        }
        for v in own {
            let lanes = self.state_lanes(v);
            self.p.results(v, &format!("y{v}"), lanes)?;
        }
        Ok(())
    }

    /// One pass over inner points; gives the reductions of which each thread has a state now.
    pub(super) fn pass(&mut self, set: AxisSet, roots: &[Root]) -> Result<Vec<ValueId>> {
        let reachable = self.order.reachable(roots);
        let is_scan = |v: &ValueId| matches!(self.flat.value(*v).def, FlatDef::Scan { .. }) && !self.p.have.contains_key(v);
        let scans: Vec<ValueId> = reachable.iter().copied().filter(is_scan).collect();
        let reductions: Vec<ValueId> =
            roots.iter().filter_map(|r| if let Root::Value(v) = r { Some(*v) } else { None }).collect();
        let own: Vec<ValueId> = reductions.into_iter().filter(|v| !self.partials.iter().any(|p| p.value == *v)).collect();
        for &v in &own {
            let ty = self.p.state_type(v)?;
            let dims = if self.state_lanes(v) { vec!["V".to_owned()] } else { Vec::new() };
            self.p.declare_state(&format!("y{v}"), &ty, &dims);
        }
        let before = self.p.have.clone();
        self.p.has_lanes = self.lanes_in(set);
        let shifted: Vec<ValueId> = own.iter().copied().filter(|&v| self.is_shifted(v, set)).collect();
        for &v in &shifted {
            self.p.declare_state(&format!("d{v}"), &self.p.state_type(v)?.replace("Welford", "Shifted"), &[]);
        }
        if !scans.is_empty() {
            self.scan_loop(set, &scans, roots)?;
        } else {
            if set.is_empty() {
                self.p.line("{ {");
            } else {
                self.open_loop(set, self.s.unrolled)?;
            }
            self.p.rests = (!set.is_empty()).then(Vec::new);
            self.body(set, roots)?;
            self.p.end_rests();
            self.refill()?;
            self.p.line("} }");
        }
        for v in shifted {
            let _ = writeln!(self.p.out, "y{v} = d{v}.state();");
        }
        self.p.have = before;
        self.p.has_lanes = self.lanes_in(AxisSet::default());
        Ok(own)
    }

    /// Merges the states of a stage's reductions over the threads of a group: those without lanes two at a time.
    fn merge_all(&mut self, own: &[ValueId]) -> Result<()> {
        let stride = if self.s.strided { self.s.points } else { 1 };
        let (with_lanes, plain): (Vec<ValueId>, Vec<ValueId>) = own.iter().partition(|&&v| self.state_lanes(v));
        for v in with_lanes {
            let ty = self.p.state_type(v)?;
            self.across(&format!("y{v}"), "[j]", &ty, self.s.group, stride);
        }
        for some in plain.chunks(2) {
            let (name, ty) = self.joined(some)?;
            self.across(&name, "", &ty, self.s.group, stride);
            self.parted(some);
        }
        Ok(())
    }

    /// The states of one or two reductions as one: its name and type.
    pub(super) fn joined(&mut self, some: &[ValueId]) -> Result<(String, String)> {
        let of_first = self.p.state_type(some[0])?;
        let &[a, b] = some else { return Ok((format!("y{}", some[0]), of_first)) };
        let ty = format!("Both<{of_first}, {}>", self.p.state_type(b)?);
        let _ = writeln!(self.p.out, "{ty} z{a}; z{a}.a = y{a}; z{a}.b = y{b};");
        Ok((format!("z{a}"), ty))
    }

    /// The states of two reductions, after they were one.
    pub(super) fn parted(&mut self, some: &[ValueId]) {
        if let &[a, b] = some {
            let _ = writeln!(self.p.out, "y{a} = z{a}.a; y{b} = z{a}.b;");
        }
    }

    fn body(&mut self, set: AxisSet, roots: &[Root]) -> Result<()> {
        for &root in roots {
            match root {
                Root::Value(v) => self.accumulate(v, set)?,
                Root::Store(i) => {
                    let guard = self.guard.clone();
                    self.p.store(&self.flat.stores[i], guard.as_deref())?;
                }
            }
        }
        Ok(())
    }

    /// Adds the elements at hand to a reduction's state.
    fn accumulate(&mut self, v: ValueId, set: AxisSet) -> Result<()> {
        let flat = self.flat;
        let partial = self.partials.iter().any(|p| p.value == v);
        let kept = self.kept.iter().any(|k| k.0 == v);
        let lanes = self.state_lanes(v);
        let state = format!("y{v}{}{}", if kept { "[i]" } else { "" }, if lanes { "[j]" } else { "" });
        let over_lanes = !lanes && self.vector_reduced(v, set);
        let guard = if partial { self.guard.clone().map_or(String::new(), |g| format!("if ({g}) ")) } else { String::new() };
        let each = if lanes || over_lanes { "LANES(j) " } else { "" };
        let names = match &flat.value(v).def {
            FlatDef::Reduce { src, index, .. } => {
                let names = src.iter().chain(index.iter()).map(|&s| self.p.value(s)).collect::<Result<Vec<_>>>()?;
                if self.is_shifted(v, set) {
                    let _ = writeln!(self.p.out, "add_all<V>(d{v}, {});", names[0].text);
                    return Ok(());
                }
                if names.len() == 1 && names[0].lanes && over_lanes {
                    let _ = writeln!(self.p.out, "{guard}add_all<V>({state}, {});", names[0].text);
                    return Ok(());
                }
                names
            }
            FlatDef::Contract { a, b, acc, .. } => {
                let ty = super::scalar::register(*acc);
                let (a, b) = (self.p.value(*a)?, self.p.value(*b)?);
                let _ = writeln!(self.p.out, "{guard}{each}{state}.add(({ty})((({ty}){}) * (({ty}){})));", a.at(), b.at());
                return Ok(());
            }
            FlatDef::Merge { states, .. } => {
                let ty = self.p.state_type(v)?;
                let states = states.clone();
                let mut text = String::new();
                for ((arg, index), field) in states.iter().zip(["a", "b", "c"]) {
                    let pointer = self.p.pointer(*arg);
                    let at = self.p.lin(index, lanes || over_lanes)?;
                    let _ = write!(text, "o.{field} = up({pointer}[{at}]); ");
                }
                let _ = writeln!(self.p.out, "{each}{{ {ty} o; {text}{state}.merge(o); }}");
                return Ok(());
            }
            _ => return Err(unsupported("not a reduction")),
        };
        let operands: Vec<String> = names.iter().map(super::print::Name::at).collect();
        let _ = writeln!(self.p.out, "{guard}{each}{state}.add({});", operands.join(", "));
        Ok(())
    }

    /// Whether a thread's own elements of a row's moments are summed as differences to a pivot.
    fn is_shifted(&self, v: ValueId, set: AxisSet) -> bool {
        let FlatDef::Reduce { combiner: Combiner::Welford, src, .. } = &self.flat.value(v).def else { return false };
        let varies = self.s.vector.is_some_and(|a| self.flat.value(src[0]).free.has(a));
        let partial = self.partials.iter().any(|p| p.value == v);
        !partial && varies && !self.state_lanes(v) && self.vector_reduced(v, set)
    }

    /// Whether the lanes of the loop are elements of one result.
    fn vector_reduced(&self, v: ValueId, set: AxisSet) -> bool {
        let walked = |a: usize| self.block.is_some_and(|b| b.walks(a));
        let partial = self.partials.iter().any(|p| p.value == v);
        self.s.lanes > 1
            && self.s.vector.is_some_and(|a| set.has(a) || (partial && walked(a) && self.flat.value(v).def.reduced().has(a)))
    }

    /// A pass with scans: chunks of the group's size in order.
    fn scan_loop(&mut self, set: AxisSet, scans: &[ValueId], roots: &[Root]) -> Result<()> {
        let ty = self.p.index_type();
        let axes: Vec<usize> = self.flat.order.iter().copied().filter(|&a| set.has(a)).collect();
        let total = self.p.number(self.chunks_of(set));
        let (group, threads) = (self.s.group, self.s.threads());
        // Other stages may scan the same values: states are this one's.
        self.p.line("{");
        for &v in scans {
            let ty = self.p.state_type(v)?;
            self.p.declare_state(&format!("y{v}"), &ty, &[]);
        }
        let head = if self.kept.is_empty() {
            format!("for ({ty} base = 0; base < {total}; base += {group}) {{")
        } else {
            let steps = self.s.steps(self.chunks_of(set));
            format!("UNROLL for (int i = 0; i < {steps}; ++i) {{ const {ty} base = i * {group};")
        };
        let _ = writeln!(
            self.p.out,
            "{head} {ty} k = base + g; const bool within_row = k < {total}; if (!within_row) k = {total} - 1;"
        );
        self.decompose("k", &axes);
        for &v in scans {
            let FlatDef::Scan { src, index, .. } = &self.flat.value(v).def else { continue };
            let names = src.iter().chain(index.iter()).map(|&s| self.p.value(s)).collect::<Result<Vec<_>>>()?;
            let operands: Vec<String> = names.iter().map(super::print::Name::at).collect();
            let state = self.p.state_type(v)?;
            self.p.scratch.insert(format!("sizeof({state}) * {threads}"));
            let _ = writeln!(
                self.p.out,
                "{state} e{v} = {state}::none(); if (within_row) e{v}.add({});\n\
                 e{v} = scan_across<{group}, {threads}>(e{v}, y{v}, scratch);",
                operands.join(", ")
            );
            self.p.results(v, &format!("e{v}"), false)?;
        }
        let guard = self.guard.clone();
        self.guard = Some(guard.as_ref().map_or("within_row".to_owned(), |g| format!("{g} && within_row")));
        let reduces = roots.iter().any(|r| matches!(r, Root::Value(_)));
        if reduces {
            self.p.line("if (within_row) {");
        }
        self.body(set, roots)?;
        if reduces {
            self.p.line("}");
        }
        self.guard = guard;
        self.p.line("} }");
        Ok(())
    }
}
