//! Settings in force on this thread.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::LazyLock;

use base::{Config, Result};

/// How recorded ops become kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Fused into few kernels.
    Fused,
    /// Fused, and the schedules of a GPU's kernels chosen by time: see [`Config::tune`].
    MaxAutotune,
    /// One kernel per user op: the control experiment.
    Eager,
}

thread_local! {
    static CONFIG: RefCell<Option<Config>> = const { RefCell::new(None) };
}

/// Puts the earlier settings back when it goes out of scope.
#[must_use = "the settings last as long as this value"]
#[derive(Debug)]
pub struct Scoped {
    earlier: Option<Config>,
    /// The settings belong to the thread, so this must not leave it.
    thread: PhantomData<*const ()>,
}

impl Drop for Scoped {
    fn drop(&mut self) {
        CONFIG.set(self.earlier.take());
    }
}

/// Sets everything that [`Config`] holds, on this thread, while the returned value lives.
pub fn set_config(config: Config) -> Scoped {
    Scoped { earlier: CONFIG.replace(Some(config)), thread: PhantomData }
}

/// Chooses between fused, tuned and one-kernel-per-op execution, on this thread, while the returned value lives.
///
/// ```
/// use fuseline::{Mode, Tensor, set_mode};
/// let x = Tensor::new([1.0f32, 2.0]);
/// let fused = (&x * 2.0 + 1.0).to_vec::<f32>()?;
/// let _eager = set_mode(Mode::Eager);
/// assert_eq!((&x * 2.0 + 1.0).to_vec::<f32>()?, fused);
/// # Ok::<(), fuseline::Error>(())
/// ```
pub fn set_mode(mode: Mode) -> Scoped {
    let mut config = config().unwrap_or_default();
    config.fuse = mode != Mode::Eager;
    config.tune = (mode == Mode::MaxAutotune).then_some(Config::TUNE_SECONDS);
    set_config(config)
}

/// Settings of this thread; those of the environment, which is read once, unless set.
pub(crate) fn config() -> Result<Config> {
    static ENVIRONMENT: LazyLock<Result<Config>> = LazyLock::new(Config::from_env);
    CONFIG.with_borrow(Clone::clone).map_or_else(|| ENVIRONMENT.clone(), Ok)
}
