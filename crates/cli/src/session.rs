//! What most commands start with: a loaded model, its inputs, and compiled code.

use base::Config;
use driver::Executable;
use graph::HostTensor;

use crate::args::ModelArgs;
use crate::bind::{Binding, bind};
use crate::error::Outcome;
use crate::model::{Model, load};
use crate::progress::Progress;
use crate::term::warn;

/// Topics of `FUSELINE_LOG`.
const TOPICS: [&str; 5] = ["remarks", "plan", "kernels", "passes", "timing"];

/// A model with its dimensions and data.
pub(crate) struct Session {
    pub(crate) model: Model,
    pub(crate) binding: Binding,
    /// Data of the inputs that are not frozen, in slot order.
    pub(crate) inputs: Vec<HostTensor>,
    pub(crate) config: Config,
}

impl Session {
    /// Loads a model, makes its inputs, and tells which of them were made up.
    ///
    /// # Errors
    /// What loading, the inputs and the environment give.
    pub(crate) fn open(args: &ModelArgs) -> Outcome<Session> {
        Session::start(args, true)
    }

    /// [`Session::open`] for commands whose result does not depend on the values of inputs, without that note.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub(crate) fn open_for_shapes(args: &ModelArgs) -> Outcome<Session> {
        Session::start(args, false)
    }

    fn start(args: &ModelArgs, tell: bool) -> Outcome<Session> {
        let mut config = Config::from_env()?;
        config.threads = args.threads.unwrap_or(config.threads);
        if let Some(topic) = config.log.iter().find(|t| !TOPICS.contains(&t.as_str())) {
            warn(&format!("FUSELINE_LOG: no topic {topic:?}; there are {}", TOPICS.join(", ")));
        }
        let mut model = load(&args.model, args.seed)?;
        let binding = bind(&model, args)?;
        let inputs = binding.inputs(&mut model, tell)?;
        Ok(Session { model, binding, inputs, config })
    }

    /// Compiles with the session's configuration and prints the chosen logs.
    ///
    /// # Errors
    /// What compiling gives.
    pub(crate) fn compile(&self) -> Outcome<Executable> {
        let exe = self.compile_with(&self.config)?;
        self.log(&exe)?;
        Ok(exe)
    }

    /// Compiles with another configuration, without logs.
    ///
    /// # Errors
    /// What compiling gives.
    pub(crate) fn compile_with(&self, config: &Config) -> Outcome<Executable> {
        let _progress = Progress::start(format!("compiling {}", self.model.graph().name), 0);
        Ok(driver::compile(&self.model.module, config)?)
    }

    /// One tensor per input slot: data of frozen inputs, and the given ones.
    pub(crate) fn arguments(&self) -> Vec<HostTensor> {
        let mut given = self.inputs.iter();
        let frozen = &self.model.module.frozen;
        let slot = |s: usize| match frozen.iter().find(|f| f.slot as usize == s) {
            Some(f) => Some((*f.data).clone()),
            None => given.next().cloned(),
        };
        (0..self.model.graph().inputs.len()).map_while(slot).collect()
    }

    fn log(&self, exe: &Executable) -> Outcome<()> {
        if self.config.logs("passes") {
            let simplified = transform::simplify(exe.graph(), &transform::Options::default());
            for (name, graph) in [("parse", exe.graph()), ("simplify", &simplified), ("prepare", &exe.plan().graph)] {
                eprintln!("# after {name}\n{}", graph::text::print(graph));
            }
        }
        if self.config.logs("plan") {
            eprint!("{}", exe.plan().summary());
        }
        if self.config.logs("kernels") {
            eprint!("{}", exe.plan());
        }
        if self.config.logs("remarks") {
            let lowering = exe.remarks(&self.inputs)?;
            for r in exe.report(&self.binding.dims)?.edges.iter().chain(&lowering) {
                eprintln!("{:?} [{}] {}: {}; {} bytes; {}", r.code, r.pass, r.places.join(" → "), r.message, r.bytes, r.hint);
            }
        }
        if self.config.logs("timing") {
            for (pass, time) in exe.timing() {
                eprintln!("{pass:<10} {:>9.3} ms", time.as_secs_f64() * 1e3);
            }
        }
        Ok(())
    }
}
