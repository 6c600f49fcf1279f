//! Calls on arrays.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Error, Result};
use runtime::{Arg, Array, Buffer};
use smallvec::SmallVec;

use crate::bound::{Unwatched, Watch};
use crate::executable::Executable;
use crate::host::readable;
use crate::instance::{Instance, ReadyStep};
use crate::places::{Launches, Source, Step};
use crate::values::Kept;

/// The memory of one run of launches.
pub(crate) struct Memory<'a> {
    pub(crate) inputs: &'a [Arg<'a>],
    pub(crate) results: &'a [Arg<'a>],
    /// The call's pieces of memory.
    pub(crate) own: &'a [Buffer],
    pub(crate) kept: &'a Kept,
}

impl<'a> Memory<'a> {
    fn at(&self, source: Source) -> Result<Arg<'a>> {
        match source {
            Source::Input(n) => Ok(self.inputs[n]),
            Source::Result(n) => Ok(self.results[n]),
            Source::Own(n) => Ok(Arg::from(&self.own[n])),
            Source::Kept(root) => {
                let array = self.kept.get(&root).ok_or_else(|| Error::internal(format!("{root:?} is shared, and not there")))?;
                Ok(Arg::shared(&array.buffer, array.offset_bytes()))
            }
        }
    }
}

/// Where a result lies.
enum Room {
    New(Arc<Buffer>),
    /// In the memory of an input.
    Of(usize),
}

impl Executable {
    /// Runs with arrays; outputs may be strided views, and may share memory with inputs that they show. On a GPU it returns before
    /// the results are there, which reading them waits for.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run_arrays(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        self.call(inputs, &[])
    }

    /// As [`Executable::run_arrays`], with inputs that the caller gives away: results take the memory of donated inputs where nobody
    /// else holds it, and where the plan reads them only to compute what it writes there.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run_owned(&self, inputs: Vec<Array>) -> Result<Vec<Array>> {
        let mut free = vec![false; inputs.len()];
        for (_, n) in self.donated().filter(|&(_, n)| n < inputs.len()) {
            free[n] = Arc::strong_count(&inputs[n].buffer) == 1 && inputs[n].buffer.is_writable();
        }
        self.call(&inputs, &free)
    }

    /// `free` says which inputs may be overwritten; those that it does not name may not.
    fn call(&self, inputs: &[Array], free: &[bool]) -> Result<Vec<Array>> {
        let instance = self.instance_for(&BTreeMap::new(), inputs)?;
        let copies = readable(&self.device, inputs)?;
        let inputs = copies.as_deref().unwrap_or(inputs);
        match self.replay(&instance, inputs, free)? {
            Some(outputs) => Ok(outputs),
            None => self.execute(&instance, inputs, free),
        }
    }

    /// Runs an instance on inputs that the device can read.
    pub(crate) fn execute(&self, instance: &Instance, inputs: &[Array], free: &[bool]) -> Result<Vec<Array>> {
        let kept = self.shared(instance)?;
        if let Some(launches) = instance.launches(self) {
            return self.launch(instance, launches, inputs, free, kept);
        }
        let mut values = self.values(instance, inputs)?;
        self.run_kernels(instance, &mut values, &Unwatched)?;
        self.outputs(instance, &values)
    }

    fn launch(
        &self,
        instance: &Instance,
        launches: &Launches,
        inputs: &[Array],
        free: &[bool],
        kept: &Kept,
    ) -> Result<Vec<Array>> {
        let taken = |takes: Option<usize>| takes.filter(|&n| free.get(n) == Some(&true));
        let new = launches.results.iter().filter(|r| taken(r.takes).is_none()).map(|r| r.bytes());
        let mut memory = self.device.pool().alloc_all(new.chain(launches.own.iter().copied()))?;
        let own = memory.split_off(memory.len() - launches.own.len());
        let mut memory = memory.into_iter();
        let mut room = |takes: Option<usize>| match taken(takes) {
            Some(n) => Ok(Room::Of(n)),
            None => memory.next().map(|b| Room::New(Arc::new(b))).ok_or_else(|| Error::internal("too little memory was taken")),
        };
        let rooms = launches.results.iter().map(|r| room(r.takes)).collect::<Result<Vec<_>>>()?;
        let inputs_at: SmallVec<[Arg<'_>; 16]> = inputs.iter().map(arg).collect();
        let result = |room| match room {
            &Room::Of(n) => inputs_at[n],
            Room::New(buffer) => Arg::from(&**buffer),
        };
        let results: SmallVec<[Arg<'_>; 16]> = rooms.iter().map(result).collect();
        let at = Memory { inputs: &inputs_at, results: &results, own: &own, kept };
        self.run_steps(&launches.steps, instance, &at, &Unwatched)?;
        self.show(instance, launches, inputs, &rooms, kept)
    }

    /// Runs launches on memory.
    pub(crate) fn run_steps(&self, steps: &[Step], instance: &Instance, at: &Memory<'_>, watch: &dyn Watch) -> Result<()> {
        for step in steps {
            let ReadyStep::Program { prepared, .. } = &instance.kernels[step.kernel].step else { continue };
            let mut args: SmallVec<[Arg<'_>; 16]> = SmallVec::with_capacity(step.args.len());
            for &source in &step.args {
                args.push(at.at(source)?);
            }
            let name = || self.plan().kernels[step.kernel].name.clone();
            let mut launch = || self.device.launch(prepared, &args).map_err(|e| e.context(name()));
            watch.kernel(step.kernel, &mut launch)?;
        }
        Ok(())
    }

    /// What outputs show of results, inputs and shared values.
    fn show(
        &self,
        instance: &Instance,
        launches: &Launches,
        inputs: &[Array],
        rooms: &[Room],
        kept: &Kept,
    ) -> Result<Vec<Array>> {
        let one = |(shown, source): (&crate::instance::Shown, &Source)| {
            let part = &shown.base.part;
            let within = |a: &Array| part.of(&a.buffer, a.dtype, a.offset);
            let base = match *source {
                Source::Input(n) => within(&inputs[n]),
                Source::Result(n) => match &rooms[n] {
                    &Room::Of(n) => within(&inputs[n]),
                    Room::New(buffer) => part.of(buffer, launches.results[n].dtype, 0),
                },
                Source::Kept(root) => within(kept.get(&root).ok_or_else(|| Error::internal("a shared value that is not there"))?),
                Source::Own(_) => return Err(Error::internal("an output among the intermediates")),
            };
            self.viewed(shown, base)
        };
        instance.outputs.iter().zip(&launches.outputs).map(one).collect()
    }
}

/// Where an array lies.
fn arg(array: &Array) -> Arg<'_> {
    Arg::at(&array.buffer, array.offset_bytes())
}
