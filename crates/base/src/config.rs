//! Settings of one compilation, passed explicitly.

use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Where results are rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Numerics {
    /// Every node rounds to its dtype: fused pointwise work equals one-kernel-per-op execution bit for bit.
    #[default]
    Eager,
    /// Intermediates of low-precision dtypes keep f32 and multiply-add may be contracted.
    Wide,
}

/// How ops become kernels and launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Fused into few kernels.
    Fused,
    /// One kernel per user op: the control experiment.
    Eager,
    /// Fused; and on a GPU a program that ran with sizes before is recorded, and repeated as one launch from then on. Results are
    /// never overwritten while they live, and everything is as in [`Mode::Fused`] but the time of the host.
    ReduceOverhead,
    /// Fused, and the schedules of a GPU's kernels chosen by time: see [`Config::tune`].
    MaxAutotune,
}

impl std::str::FromStr for Mode {
    type Err = Error;

    /// Reads `fused`, `eager`, `reduce-overhead` or `max-autotune`.
    fn from_str(text: &str) -> Result<Mode> {
        match text {
            "fused" => Ok(Mode::Fused),
            "eager" => Ok(Mode::Eager),
            "reduce-overhead" => Ok(Mode::ReduceOverhead),
            "max-autotune" => Ok(Mode::MaxAutotune),
            _ => Err(Error::invalid(format!("no mode {text:?}: use fused, eager, reduce-overhead or max-autotune"))),
        }
    }
}

/// Where programs run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceId {
    /// The embedded CPU engine.
    #[default]
    Cpu,
    /// The NVIDIA GPU with this number.
    Cuda(usize),
}

impl std::str::FromStr for DeviceId {
    type Err = Error;

    /// Reads `cpu`, `cuda` (the first GPU) or `cuda:N`.
    fn from_str(text: &str) -> Result<DeviceId> {
        match text.split_once(':') {
            None if text == "cpu" => Ok(DeviceId::Cpu),
            None if text == "cuda" => Ok(DeviceId::Cuda(0)),
            Some(("cuda", n)) if n.parse::<usize>().is_ok() => Ok(DeviceId::Cuda(n.parse().unwrap_or(0))),
            _ => Err(Error::invalid(format!("no device {text:?}: use cpu, cuda or cuda:N"))),
        }
    }
}

impl std::fmt::Display for DeviceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DeviceId::Cpu => f.write_str("cpu"),
            DeviceId::Cuda(n) => write!(f, "cuda:{n}"),
        }
    }
}

/// What [`Config::log`] may name.
pub const LOG_TOPICS: [&str; 6] = ["remarks", "plan", "kernels", "source", "passes", "timing"];

/// Settings of one compilation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Rounding policy.
    pub numerics: Numerics,
    /// Fuse at all; off gives one kernel per user op ("eager" mode, the control experiment).
    pub fuse: bool,
    /// Record runs on a GPU, and repeat each as one launch.
    pub replay: bool,
    /// Where programs run.
    pub device: DeviceId,
    /// Worker threads; 0 means all cores.
    pub threads: usize,
    /// At most this many merges, to bisect a wrong result.
    pub fuel: Option<u64>,
    /// What to print to standard error: any of [`LOG_TOPICS`].
    pub log: Vec<String>,
    /// Folder for everything that [`Config::log`] can print, as files: one folder per compile.
    pub dump: Option<String>,
    /// Folder for what other processes can use again; `None` keeps everything in memory.
    pub cache: Option<String>,
    /// Seconds that trying out schedules of a GPU's kernels may take, for each set of sizes that an executable meets; none are
    /// tried without.
    pub tune: Option<u64>,
    /// How CUDA is found and used.
    pub cuda: CudaConfig,
}

/// Where the libraries of CUDA may lie, and how kernels are launched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CudaConfig {
    /// Folders to look in before all others.
    pub path: Vec<String>,
    /// Roots of Python environments, in whose site-packages the wheels of the libraries may lie; or a program `python3` that
    /// knows its root.
    pub python: Vec<String>,
    /// Wait after each launch, so that a fault is reported with the kernel that made it.
    pub sync: bool,
    /// Every buffer is an allocation of its own of exactly its size, so that NVIDIA's compute-sanitizer sees each access outside it.
    pub watch: bool,
    /// Blocks may share a row as a cluster. GPUs below compute capability 9.0 have none, whatever this says.
    pub clusters: bool,
    /// cuBLASLt may multiply 8-bit floats. On GPUs below compute capability 8.9 it cannot, whatever this says.
    pub f8_products: bool,
    /// What cuDNN may compute.
    pub convolutions: Convolutions,
    /// cuBLASLt may compute what follows a product as well.
    pub followed_products: bool,
}

/// What a library may compute of convolutions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Convolutions {
    /// Nothing: they are generated loops.
    Loops,
    /// Convolutions; generated code does what follows them.
    Alone,
    /// Convolutions with the bias and the activation that follow them.
    #[default]
    Followed,
}

impl Default for CudaConfig {
    fn default() -> Self {
        CudaConfig {
            path: Vec::new(),
            python: Vec::new(),
            sync: false,
            watch: false,
            clusters: true,
            f8_products: true,
            convolutions: Convolutions::default(),
            followed_products: true,
        }
    }
}

impl CudaConfig {
    /// `FUSELINE_CUDA_PATH` (folders, separated as in `PATH`), `FUSELINE_SYNC`, `FUSELINE_WATCH`, and the Python environments that are active:
    /// `VIRTUAL_ENV`, `CONDA_PREFIX`, that of the first `python3` of `PATH`, and the user's own.
    pub fn from_env() -> CudaConfig {
        let var = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let folders = |name: &str| -> Vec<PathBuf> { var(name).map(|v| std::env::split_paths(&v).collect()).unwrap_or_default() };
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let mut python: Vec<String> = Vec::new();
        let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|name| var(name)).map(PathBuf::from);
        let own = var("HOME").map(|home| Path::new(&home).join(".local"));
        for root in active.chain(python_roots(&folders("PATH"))).chain(own).map(text) {
            if !python.contains(&root) {
                python.push(root);
            }
        }
        let path = folders("FUSELINE_CUDA_PATH").into_iter().map(text).collect();
        let is_on = |name: &str| var(name).is_some_and(|v| v != "0");
        CudaConfig { path, python, sync: is_on("FUSELINE_SYNC"), watch: is_on("FUSELINE_WATCH"), ..CudaConfig::default() }
    }
}

/// Roots of the first `python3` in some folders: as its name says, and as the file behind it does; or itself, if it only starts
/// another.
fn python_roots(folders: &[PathBuf]) -> Vec<PathBuf> {
    let Some(python) = folders.iter().map(|f| f.join("python3")).find(|p| p.exists()) else { return Vec::new() };
    if python.parent().is_some_and(|folder| folder.ends_with("shims")) {
        return vec![python];
    }
    let real = python.canonicalize().ok();
    let root = |program: &Path| program.parent()?.parent().map(Path::to_path_buf);
    [Some(python), real].into_iter().flatten().filter_map(|p| root(&p)).collect()
}

impl Default for Config {
    fn default() -> Self {
        Config {
            numerics: Numerics::Eager,
            fuse: true,
            replay: false,
            device: DeviceId::Cpu,
            threads: 0,
            fuel: None,
            log: Vec::new(),
            dump: None,
            cache: None,
            tune: None,
            cuda: CudaConfig::default(),
        }
    }
}

impl Config {
    /// Seconds of [`Config::tune`] where nothing else is said.
    pub const TUNE_SECONDS: u64 = 60;

    /// Defaults, changed by `FUSELINE_NOFUSE`, `FUSELINE_MODE` (`fused`, `eager`, `reduce-overhead` or `max-autotune`), `FUSELINE_TUNE`
    /// (seconds), `FUSELINE_DEVICE` (`cpu`, `cuda` or `cuda:N`), `FUSELINE_THREADS`, `FUSELINE_FUEL`, `FUSELINE_LOG`,
    /// `FUSELINE_DUMP`, `FUSELINE_NUMERICS` (`eager` or `wide`) and `FUSELINE_CACHE` (a folder, or `0` for none; unset, the folder
    /// `fuseline` of the user's cache folder, `XDG_CACHE_HOME` or `~/.cache`), and what [`CudaConfig::from_env`] reads.
    ///
    /// # Errors
    /// A variable that does not parse.
    pub fn from_env() -> Result<Config> {
        let mut c = Config::default();
        let var = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        c.fuse = var("FUSELINE_NOFUSE").is_none_or(|v| v == "0");
        if let Some(v) = var("FUSELINE_MODE") {
            c.set_mode(v.parse().map_err(|e: Error| e.context("FUSELINE_MODE"))?);
        }
        if let Some(v) = var("FUSELINE_DEVICE") {
            c.device = v.parse().map_err(|e: Error| e.context("FUSELINE_DEVICE"))?;
        }
        if let Some(v) = var("FUSELINE_THREADS") {
            c.threads = v.parse().map_err(|_| Error::invalid(format!("FUSELINE_THREADS={v} is not a number")))?;
        }
        if let Some(v) = var("FUSELINE_FUEL") {
            c.fuel = Some(v.parse().map_err(|_| Error::invalid(format!("FUSELINE_FUEL={v} is not a number")))?);
        }
        if let Some(v) = var("FUSELINE_LOG") {
            c.log = v.split(',').map(|t| t.trim().to_owned()).filter(|t| !t.is_empty()).collect();
            if let Some(topic) = c.log.iter().find(|t| !LOG_TOPICS.contains(&t.as_str())) {
                return Err(Error::invalid(format!("FUSELINE_LOG: no topic {topic:?}; there are {}", LOG_TOPICS.join(", "))));
            }
        }
        if let Some(v) = var("FUSELINE_TUNE") {
            let seconds = v.parse().map_err(|_| Error::invalid(format!("FUSELINE_TUNE={v} is not a number of seconds")))?;
            c.tune = Some(seconds).filter(|s| *s > 0);
        }
        c.dump = var("FUSELINE_DUMP");
        let user = || var("XDG_CACHE_HOME").or_else(|| Some(var("HOME")? + "/.cache"));
        c.cache = match var("FUSELINE_CACHE") {
            Some(folder) => Some(folder).filter(|f| f != "0"),
            None => user().map(|folder| folder + "/fuseline"),
        };
        c.numerics = match var("FUSELINE_NUMERICS").as_deref() {
            None | Some("eager") => Numerics::Eager,
            Some("wide") => Numerics::Wide,
            Some(v) => return Err(Error::invalid(format!("FUSELINE_NUMERICS={v}: use eager or wide"))),
        };
        c.cuda = CudaConfig::from_env();
        Ok(c)
    }

    /// Sets what a mode is short for.
    pub fn set_mode(&mut self, mode: Mode) {
        self.fuse = mode != Mode::Eager;
        self.replay = mode == Mode::ReduceOverhead;
        self.tune = (mode == Mode::MaxAutotune).then(|| self.tune.unwrap_or(Config::TUNE_SECONDS));
    }

    /// Whether a log topic is on.
    pub fn logs(&self, topic: &str) -> bool {
        self.log.iter().any(|t| t == topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_by_name() {
        let of = |name: &str| {
            let mut config = Config { fuse: false, ..Config::default() };
            config.set_mode(name.parse().unwrap());
            (config.fuse, config.replay, config.tune.is_some())
        };
        assert_eq!(["fused", "eager"].map(of), [(true, false, false), (false, false, false)]);
        assert_eq!(["reduce-overhead", "max-autotune"].map(of), [(true, true, false), (true, false, true)]);
        let error = "fast".parse::<Mode>().unwrap_err();
        assert_eq!(error.message(), "no mode \"fast\": use fused, eager, reduce-overhead or max-autotune");
    }
}
