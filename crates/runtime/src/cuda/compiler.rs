//! The run-time compiler without a GPU.

use std::time::Duration;

use base::{Config, Result};

use super::load::{LibraryInfo, compiler};
use super::module::Source;
use super::nvrtc::{Nvrtc, taken};
use super::prepare::Resources;

/// NVIDIA's run-time compiler, for looking at kernels where there is no GPU. A GPU compiles its own.
pub struct Compiler {
    nvrtc: Nvrtc,
    info: LibraryInfo,
    /// Time that finding and loading it took.
    pub load_time: Duration,
}

impl Compiler {
    /// The compiler of the first folder that has one; those of [`base::CudaConfig::path`] come first.
    ///
    /// # Errors
    /// `Unsupported`, with what was looked for and what installs it.
    pub fn open(config: &Config) -> Result<Compiler> {
        let start = std::time::Instant::now();
        let (nvrtc, info) = compiler(&config.cuda)?;
        Ok(Compiler { nvrtc, info, load_time: start.elapsed() })
    }

    /// Where it was found, and its version.
    pub fn info(&self) -> &LibraryInfo {
        &self.info
    }

    /// Compiles a source as a GPU with a compute capability would, and says what each kernel takes.
    ///
    /// # Errors
    /// What the compiler says, with the lines that it names.
    pub fn compile(&self, source: &str, capability: (u32, u32)) -> Result<Vec<Resources>> {
        let compiled = Source::new(source, capability, self.nvrtc.number()).build(&self.nvrtc, None)?;
        Ok(taken(&compiled.log))
    }
}
