//! Which memory every launch argument of a size tuple lies in.
//!
//! A kernel's result takes the memory of a value that ends with it, where the kernel reads the value only where it writes the result.
//! Other intermediates, and workspaces, take pieces of memory in turn: which, and how large they are, is known before anything runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fuse::{Kernel, Plan, Storage};
use graph::NodeId;
use scalar::DType;

use crate::executable::Executable;
use crate::instance::{Instance, Made, Ready, ReadyStep, root, sizes};
use crate::pieces::Pieces;

/// Where the memory of a launch argument comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// An input that comes with the call, by number.
    Input(usize),
    /// A result, by number.
    Result(usize),
    /// A piece of memory of the call, by number.
    Own(usize),
    /// A root value that all calls share.
    Kept(NodeId),
}

/// One launch.
pub(crate) struct Step {
    /// Index in the plan.
    pub(crate) kernel: usize,
    /// Workspaces are the last ones.
    pub(crate) args: Vec<Source>,
}

/// A root value that outputs show, and that no input or shared value holds.
pub(crate) struct Root {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    /// The input whose memory it may take if the caller gives that away.
    pub(crate) takes: Option<usize>,
}

impl Root {
    /// Bytes of its buffer.
    pub(crate) fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size()
    }
}

/// A size tuple as launches, with the memory that they take.
pub(crate) struct Launches {
    pub(crate) steps: Vec<Step>,
    /// Bytes of the call's pieces of memory.
    pub(crate) own: Vec<usize>,
    pub(crate) results: Vec<Root>,
    /// The root value that each output shows.
    pub(crate) outputs: Vec<Source>,
}

/// The launches; `None` for a plan that needs more than launches.
pub(crate) fn resolve(executable: &Executable, instance: &Instance) -> Option<Launches> {
    let mut resolver = Resolver::new(executable, instance);
    let results = resolver.number_results();
    let drafts = resolver.drafts(&[])?;
    let (steps, own) = resolver.settle(drafts);
    let outputs = instance.outputs.iter().map(|o| resolver.place(o.base.root)).collect::<Option<_>>()?;
    let plan = executable.plan();
    let takes = taken(executable, &results);
    let described = |(root, takes): (NodeId, Option<usize>)| {
        let shape = sizes(plan.graph.shape(root), &instance.dims).ok()?;
        Some(Root { dtype: plan.graph.dtype(root), shape, takes })
    };
    Some(Launches { steps, own, results: results.into_iter().zip(takes).map(described).collect::<Option<_>>()?, outputs })
}

/// The launches where output `n` is stored as result `n`, and the bytes of the pieces; `None` for a plan that needs more than
/// launches, or shows something else than whole buffers. `overwrites` gives for each output the input, if any, whose memory it takes.
pub(crate) fn resolve_into(
    executable: &Executable,
    instance: &Instance,
    overwrites: &[Option<usize>],
) -> Option<(Vec<Step>, Vec<usize>)> {
    let mut resolver = Resolver::new(executable, instance);
    resolver.place_outputs(overwrites)?;
    let drafts = resolver.drafts(overwrites)?;
    Some(resolver.settle(drafts))
}

/// A launch while intermediates have numbers of their own.
struct Draft {
    kernel: usize,
    args: Vec<Source>,
    /// Intermediates that begin with it, with their bytes.
    begin: Vec<(usize, usize)>,
    /// Intermediates that nothing after it needs.
    end: Vec<usize>,
    workspaces: Vec<usize>,
}

/// Numbers the memory of root values while it walks the plan.
struct Resolver<'a> {
    executable: &'a Executable,
    instance: &'a Instance,
    places: BTreeMap<NodeId, Source>,
    /// Root values of which some kernel has written a part or all.
    begun: BTreeSet<NodeId>,
    own: usize,
    /// Intermediates that lie in the memory of a result.
    shared: BTreeMap<usize, usize>,
}

impl<'a> Resolver<'a> {
    fn new(executable: &'a Executable, instance: &'a Instance) -> Resolver<'a> {
        let places = executable.given().iter().map(|&(node, n)| (node, Source::Input(n))).collect();
        Resolver { executable, instance, places, begun: BTreeSet::new(), own: 0, shared: BTreeMap::new() }
    }

    /// Where a root value lies.
    fn place(&self, root: NodeId) -> Option<Source> {
        let kept = || self.executable.is_kept(root).then_some(Source::Kept(root));
        self.places.get(&root).copied().or_else(kept)
    }

    /// Numbers the root values that outputs show, but those that lie in inputs or are shared.
    fn number_results(&mut self) -> Vec<NodeId> {
        let mut results = Vec::new();
        for shown in &self.instance.outputs {
            let root = shown.base.root;
            if self.place(root).is_none() {
                self.places.insert(root, Source::Result(results.len()));
                results.push(root);
            }
        }
        results
    }

    fn place_outputs(&mut self, overwrites: &[Option<usize>]) -> Option<()> {
        let plan = self.executable.plan();
        for ((n, shown), input) in self.instance.outputs.iter().enumerate().zip(overwrites) {
            let input = input.and_then(|i| self.executable.given().iter().find(|g| g.1 == i)).map(|g| g.0);
            if input.is_some() && input == shown.written_into(plan) {
                continue;
            }
            let root = shown.whole(plan)?;
            if input.is_some_and(|input| !may_overwrite_input(plan, self.instance, input, root)) || self.place(root).is_some() {
                return None;
            }
            self.places.insert(root, Source::Result(n));
        }
        Some(())
    }

    fn drafts(&mut self, overwrites: &[Option<usize>]) -> Option<Vec<Draft>> {
        let kernels = self.executable.plan().kernels.iter().enumerate();
        kernels.filter(|(_, kernel)| !kernel.once).map(|(n, _)| self.draft(n, overwrites)).collect()
    }

    fn draft(&mut self, n: usize, overwrites: &[Option<usize>]) -> Option<Draft> {
        let (kernel, ready) = (&self.executable.plan().kernels[n], &self.instance.kernels[n]);
        let (args, workspaces) = match &ready.step {
            ReadyStep::Program { args, workspaces, .. } => (args.as_slice(), workspaces.clone()),
            ReadyStep::Nothing => (&[][..], Vec::new()),
            ReadyStep::Interpret | ReadyStep::Opaque(_) => return None,
        };
        let mut ending: BTreeSet<NodeId> = self.executable.last_use()[n].iter().copied().collect();
        let mut begin = Vec::new();
        for made in &ready.outputs {
            // A kernel that runs once may have written a part of what others complete: every call has a copy of that.
            if made.copy_of.is_some() || self.executable.is_kept(made.root) {
                return None;
            }
            let first = self.begun.insert(made.root);
            match self.places.get(&made.root) {
                None => match self.inherits(kernel, args, made, &mut ending) {
                    Some(number) => {
                        self.places.insert(made.root, Source::Own(number));
                    }
                    None => {
                        self.places.insert(made.root, Source::Own(self.own));
                        begin.push((self.own, made.bytes()));
                        self.own += 1;
                    }
                },
                Some(&Source::Result(result)) if first && overwrites.get(result).is_none_or(Option::is_none) => {
                    if let Some(number) = self.inherits(kernel, args, made, &mut ending) {
                        self.shared.insert(number, result);
                    }
                }
                Some(_) => {}
            }
        }
        let args = args.iter().map(|&root| self.place(root)).collect::<Option<Vec<_>>>()?;
        let end = ending.iter().filter_map(|root| self.own_number(*root)).collect();
        Some(Draft { kernel: n, args, begin, end, workspaces })
    }

    fn own_number(&self, root: NodeId) -> Option<usize> {
        if let Some(&Source::Own(number)) = self.places.get(&root) { Some(number) } else { None }
    }

    /// The intermediate, among those that end with a kernel, whose memory a result takes; it ends no more.
    fn inherits(&self, kernel: &Kernel, args: &[NodeId], made: &Made, ending: &mut BTreeSet<NodeId>) -> Option<usize> {
        let plan = self.executable.plan();
        let alike = |root: &NodeId| plan.graph.tensor(*root) == plan.graph.tensor(made.root);
        let alone = |root: &NodeId| args.iter().filter(|&a| a == root).count() == 1;
        let fits = |root: &&NodeId| alike(root) && alone(root) && may_overwrite(plan, kernel, **root, made.root);
        let found = *ending.iter().filter(|root| self.own_number(**root).is_some()).find(fits)?;
        ending.remove(&found);
        self.own_number(found)
    }

    /// Gives intermediates pieces of memory in turn, but those that lie in a result from the start.
    fn settle(&self, drafts: Vec<Draft>) -> (Vec<Step>, Vec<usize>) {
        let (mut pieces, mut at) = (Pieces::default(), BTreeMap::new());
        let step = |draft: Draft| {
            for (number, bytes) in draft.begin.into_iter().filter(|(number, _)| !self.shared.contains_key(number)) {
                at.insert(number, pieces.take(bytes));
            }
            let workspaces: Vec<usize> = draft.workspaces.into_iter().map(|bytes| pieces.take(bytes)).collect();
            let lies = |source| match source {
                Source::Own(number) => self.shared.get(&number).map_or_else(|| Source::Own(at[&number]), |&n| Source::Result(n)),
                other => other,
            };
            let args = draft.args.into_iter().map(lies).chain(workspaces.iter().map(|&w| Source::Own(w))).collect();
            workspaces.into_iter().for_each(|w| pieces.give(w));
            draft.end.iter().filter_map(|number| at.get(number)).for_each(|&piece| pieces.give(piece));
            Step { kernel: draft.kernel, args }
        };
        let steps = drafts.into_iter().map(step).collect();
        (steps, pieces.into_bytes())
    }
}

/// For each result, the donated input whose memory it may take: the kernel that begins the result is the last that reads the input,
/// and reads it only where it writes.
fn taken(executable: &Executable, results: &[NodeId]) -> Vec<Option<usize>> {
    let plan = executable.plan();
    let mut donated: BTreeMap<NodeId, usize> = executable.donated().collect();
    let written = plan.storage.values().filter_map(|s| if let Storage::Write { dst, .. } = s { Some(*dst) } else { None });
    for used in written.chain(plan.outputs.iter().map(|o| o.base)) {
        donated.remove(&root(plan, used));
    }
    let mut taken = vec![None; results.len()];
    if donated.is_empty() {
        return taken;
    }
    let numbers: BTreeMap<NodeId, usize> = results.iter().enumerate().map(|(n, &root)| (root, n)).collect();
    let (readers, mut begun) = (readers(plan, &donated), BTreeSet::new());
    for (n, kernel) in plan.kernels.iter().enumerate() {
        let fuse::Step::Comps(parts) = &kernel.step else { continue };
        for part in parts {
            let roots: Vec<NodeId> = part.built.args.iter().map(|&a| root(plan, a)).collect();
            for (to, written) in roots.iter().enumerate() {
                let Some(&result) = numbers.get(written) else { continue };
                if !begun.insert(*written) {
                    continue;
                }
                let fits = |(from, read): &(usize, &NodeId)| {
                    donated.contains_key(read)
                        && readers.get(read) == Some(&(n, 1))
                        && plan.graph.tensor(**read) == plan.graph.tensor(*written)
                        && part.built.comp.may_overwrite(*from, to)
                };
                let found = roots.iter().enumerate().find(fits).map(|(_, read)| *read);
                taken[result] = found.and_then(|read| donated.remove(&read));
            }
        }
    }
    taken
}

/// The last kernel that reads each input, and how many of its parts do.
fn readers(plan: &Plan, inputs: &BTreeMap<NodeId, usize>) -> BTreeMap<NodeId, (usize, usize)> {
    let mut readers: BTreeMap<NodeId, (usize, usize)> = BTreeMap::new();
    for (n, kernel) in plan.kernels.iter().enumerate() {
        let parts: Vec<BTreeSet<NodeId>> = match &kernel.step {
            fuse::Step::Comps(parts) => parts.iter().map(|p| p.built.args.iter().map(|&a| root(plan, a)).collect()).collect(),
            fuse::Step::Opaque(_) => vec![kernel.step.args(&plan.graph).into_iter().map(|a| root(plan, a)).collect()],
        };
        for read in parts.into_iter().flatten().filter(|read| inputs.contains_key(read)) {
            let last = readers.entry(read).or_insert((n, 0));
            *last = (n, if last.0 == n { last.1 + 1 } else { 1 });
        }
    }
    readers
}

/// Whether one buffer may serve as both root values in a kernel: one that is read, and a result.
fn may_overwrite(plan: &Plan, kernel: &Kernel, read: NodeId, written: NodeId) -> bool {
    let fuse::Step::Comps(parts) = &kernel.step else { return false };
    let find = |part: &fuse::Part, value| part.built.args.iter().position(|&a| root(plan, a) == value);
    let mut readers = parts.iter().filter(|p| find(p, read).is_some());
    let (Some(part), None) = (readers.next(), readers.next()) else { return false };
    let at = |value| find(part, value);
    at(read).zip(at(written)).is_some_and(|(read, written)| part.built.comp.may_overwrite(read, written))
}

/// Whether a root value may be computed into the memory of an input: nothing reads the input afterwards, and the kernel that makes
/// the value reads it only where it writes.
fn may_overwrite_input(plan: &Plan, instance: &Instance, input: NodeId, value: NodeId) -> bool {
    let makes = |ready: &Arc<Ready>| ready.outputs.iter().any(|m| m.root == value);
    let reads = |ready: &Arc<Ready>| matches!(&ready.step, ReadyStep::Program { args, .. } if args.contains(&input));
    let Some(made) = instance.kernels.iter().position(makes) else { return false };
    match instance.kernels.iter().rposition(reads) {
        Some(read) if read == made => may_overwrite(plan, &plan.kernels[made], input, value),
        read => read.is_none_or(|read| read < made),
    }
}
