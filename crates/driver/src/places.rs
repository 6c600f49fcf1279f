//! Which memory every launch argument of a size tuple lies in.
//!
//! A kernel's result takes the memory of a value that ends with it, where the kernel reads the value only where it writes the result.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fuse::{Kernel, Plan};
use graph::NodeId;

use crate::executable::Executable;
use crate::instance::{Instance, Made, Ready, ReadyStep, root};

/// Where the memory of a launch argument comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Input(usize),
    Output(usize),
    /// An intermediate, by number.
    Own(usize),
}

/// One launch.
pub(crate) struct Step {
    /// Index in the plan.
    pub(crate) kernel: usize,
    /// Intermediates that get memory before it, with their bytes.
    pub(crate) allocate: Vec<(usize, usize)>,
    pub(crate) args: Vec<Source>,
    /// Intermediates that nothing after it needs.
    pub(crate) release: Vec<usize>,
}

/// The launches and the number of intermediates; `None` for a plan that needs more than launches, or shows something else than
/// whole buffers. `overwrites` gives for each output the input, if any, whose memory it takes.
pub(crate) fn resolve(executable: &Executable, instance: &Instance, overwrites: &[Option<usize>]) -> Option<(Vec<Step>, usize)> {
    let places = executable.given().iter().map(|&(node, n)| (node, Source::Input(n))).collect();
    let mut resolver = Resolver { executable, instance, places, begun: BTreeSet::new(), own: 0, shared: BTreeMap::new() };
    resolver.place_outputs(overwrites)?;
    let mut steps = (0..instance.kernels.len()).map(|n| resolver.step(n, overwrites)).collect::<Option<Vec<_>>>()?;
    steps.iter_mut().for_each(|step| resolver.share(step));
    Some((steps, resolver.own))
}

/// Numbers the memory of root values while it walks the plan.
struct Resolver<'a> {
    executable: &'a Executable,
    instance: &'a Instance,
    places: BTreeMap<NodeId, Source>,
    /// Root values of which some kernel has written a part or all.
    begun: BTreeSet<NodeId>,
    own: usize,
    /// Intermediates that lie in the memory of an output.
    shared: BTreeMap<usize, usize>,
}

impl Resolver<'_> {
    fn place_outputs(&mut self, overwrites: &[Option<usize>]) -> Option<()> {
        let plan = self.executable.plan();
        for ((n, shown), input) in self.instance.outputs.iter().enumerate().zip(overwrites) {
            let input = input.and_then(|i| self.executable.given().iter().find(|g| g.1 == i)).map(|g| g.0);
            if input.is_some() && input == shown.written_into(plan) {
                continue;
            }
            let root = shown.whole(plan)?;
            if input.is_some_and(|input| !may_overwrite_input(plan, self.instance, input, root)) {
                return None;
            }
            if self.places.insert(root, Source::Output(n)).is_some() {
                return None;
            }
        }
        Some(())
    }

    fn step(&mut self, n: usize, overwrites: &[Option<usize>]) -> Option<Step> {
        let (kernel, ready) = (&self.executable.plan().kernels[n], &self.instance.kernels[n]);
        let args = match &ready.step {
            _ if kernel.once => return None,
            ReadyStep::Program { args, .. } => args.as_slice(),
            ReadyStep::Nothing => &[],
            ReadyStep::Interpret | ReadyStep::Opaque(_) => return None,
        };
        let mut ending: BTreeSet<NodeId> = self.executable.last_use()[n].iter().copied().collect();
        let mut allocate = Vec::new();
        for made in &ready.outputs {
            if made.copy_of.is_some() {
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
                        allocate.push((self.own, made.bytes()));
                        self.own += 1;
                    }
                },
                Some(&Source::Output(output)) if first && overwrites[output].is_none() => {
                    if let Some(number) = self.inherits(kernel, args, made, &mut ending) {
                        self.shared.insert(number, output);
                    }
                }
                Some(_) => {}
            }
        }
        let args = args.iter().map(|root| self.places.get(root).copied()).collect::<Option<Vec<_>>>()?;
        let release = ending.iter().filter_map(|root| self.own_number(*root)).collect();
        Some(Step { kernel: n, allocate, args, release })
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

    /// Puts intermediates that an output takes over into its memory from the start.
    fn share(&self, step: &mut Step) {
        step.allocate.retain(|(number, _)| !self.shared.contains_key(number));
        step.release.retain(|number| !self.shared.contains_key(number));
        for arg in &mut step.args {
            if let Source::Own(number) = arg
                && let Some(&output) = self.shared.get(number)
            {
                *arg = Source::Output(output);
            }
        }
    }
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
