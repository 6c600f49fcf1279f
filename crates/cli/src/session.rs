//! What most commands start with: a loaded model, its inputs, and compiled code.

use base::Config;
use driver::{Array, Executable, to_array};
use graph::HostTensor;

use crate::args::ModelArgs;
use crate::bind::{Binding, bind};
use crate::error::Outcome;
use crate::model::{Model, load};
use crate::progress::Progress;

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
        config.device = args.device.unwrap_or(config.device);
        if let Some(mode) = args.mode {
            config.set_mode(mode);
        }
        config.threads = args.threads.unwrap_or(config.threads);
        let mut model = load(&args.model, args.seed, &args.dims)?;
        let binding = bind(&model, args)?;
        let inputs = binding.inputs(&mut model, tell)?;
        Ok(Session { model, binding, inputs, config })
    }

    /// Compiles with the session's configuration.
    ///
    /// # Errors
    /// What compiling gives.
    pub(crate) fn compile(&self) -> Outcome<Executable> {
        self.compile_with(&self.config)
    }

    /// Compiles with another configuration.
    ///
    /// # Errors
    /// What compiling gives.
    pub(crate) fn compile_with(&self, config: &Config) -> Outcome<Executable> {
        let _progress = Progress::start(format!("compiling {}", self.model.graph().name), 0);
        Ok(driver::compile(&self.model.module, config)?)
    }

    /// The inputs in the memory of an executable's device.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn on_device(&self, exe: &Executable) -> Outcome<Vec<Array>> {
        Ok(self.inputs.iter().map(|t| to_array(exe.device().pool(), t)).collect::<base::Result<_>>()?)
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
}
