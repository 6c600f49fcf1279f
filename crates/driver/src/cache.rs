//! Plans on disk, by content: what one process planned, no other plans again.
//!
//! A file is named by the SHA-256 of everything that a plan depends on (graph, sizes that the choice is made for, target, settings,
//! planning code), and holds the SHA-256 of the plan before the plan. Files appear by renaming, so that readers see whole ones; damaged
//! ones are written again.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use std::{fmt, fs};

use base::Config;
use fuse::Plan;
use graph::Graph;
use kernel::Target;
use scalar::Var;
use sha2::{Digest, Sha256};

use crate::compile::{Compiled, passes};

/// Identifies the code that plans.
const PLANNER: &str = env!("FUSELINE_PLANNER");
/// Bytes of a SHA-256.
const DIGEST: usize = 32;

/// What the cache of plans did for one graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cached {
    /// There is none, by the configuration.
    #[default]
    Off,
    /// The plan was read.
    Loaded,
    /// The plan was made, and written.
    Stored,
    /// The plan was made, and could not be written.
    Failed(String),
}

impl fmt::Display for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cached::Off => f.write_str("off"),
            Cached::Loaded => f.write_str("loaded"),
            Cached::Stored => f.write_str("stored"),
            Cached::Failed(why) => write!(f, "not stored: {why}"),
        }
    }
}

/// What the cache of a configuration holds, in words: the folder, its plans and their bytes, or why it cannot be used.
pub fn describe_cache(config: &Config) -> String {
    let Some(folder) = &config.cache else { return "off".into() };
    match stock(&plans(folder)) {
        Ok((plans, bytes)) => format!("{folder}, {plans} plan(s), {}", crate::table::bytes(bytes as f64)),
        Err(e) => format!("{folder} cannot be used: {e}"),
    }
}

/// Number and bytes of the plans in a folder.
fn stock(folder: &Path) -> Result<(usize, u64)> {
    match check_private(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok((0, 0)),
        checked => checked?,
    }
    let sizes = fs::read_dir(folder)?.map(|e| Ok(e?.metadata()?.len())).collect::<Result<Vec<u64>>>()?;
    Ok((sizes.len(), sizes.iter().sum()))
}

/// The folder of the plans in a cache.
fn plans(cache: &str) -> PathBuf {
    Path::new(cache).join("plans")
}

/// [`passes`], or what they gave before, from the folder [`Config::cache`].
///
/// # Errors
/// As [`passes`]; a folder that cannot be used is no error.
pub(crate) fn cached_passes(
    graph: &Graph,
    given: &BTreeMap<Var, i64>,
    target: &Target,
    config: &Config,
) -> base::Result<Compiled> {
    let Some(folder) = &config.cache else { return passes(graph, given, target, config) };
    let start = Instant::now();
    let file = key(graph, given, target, config).map(|key| plans(folder).join(key));
    if let Some(plan) = file.as_ref().ok().and_then(|f| load(f).ok()) {
        return Ok(Compiled { plan, timing: vec![("load", start.elapsed())], cached: Cached::Loaded });
    }
    let mut compiled = passes(graph, given, target, config)?;
    let start = Instant::now();
    compiled.cached = match file.and_then(|f| store(&compiled.plan, &f)) {
        Ok(()) => Cached::Stored,
        Err(e) => Cached::Failed(format!("{folder}: {e}")),
    };
    compiled.timing.push(("store", start.elapsed()));
    Ok(compiled)
}

/// The name of a plan's file.
fn key(graph: &Graph, given: &BTreeMap<Var, i64>, target: &Target, config: &Config) -> Result<String> {
    let Config { numerics, fuse, fuel, device: _, threads: _, log: _, dump: _, cache: _, cuda: _ } = config;
    let settings = format!("{PLANNER} {numerics:?} {fuse} {fuel:?}");
    let bytes = postcard::to_stdvec(&(settings, target, given, graph)).map_err(Error::other)?;
    Ok(Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect())
}

fn load(file: &Path) -> Result<Plan> {
    check_private(file.parent().unwrap_or(file))?;
    let bytes = fs::read(file)?;
    match bytes.split_at_checked(DIGEST) {
        Some((digest, plan)) if Sha256::digest(plan)[..] == *digest => postcard::from_bytes(plan).map_err(Error::other),
        _ => Err(Error::from(ErrorKind::InvalidData)),
    }
}

fn store(plan: &Plan, file: &Path) -> Result<()> {
    let plan = postcard::to_stdvec(plan).map_err(Error::other)?;
    let mut bytes = Sha256::digest(&plan).to_vec();
    bytes.extend(plan);
    let folder = file.parent().unwrap_or(file);
    create_private(folder)?;
    check_private(folder)?;
    let part = unfinished(file);
    let written = fs::write(&part, bytes).and_then(|()| fs::rename(&part, file));
    if written.is_err() {
        // What is left of it is of no use to anybody; the first error is the one to tell.
        let _ = fs::remove_file(&part);
    }
    written
}

/// A name for a file that is being written, of its own for every writer.
fn unfinished(file: &Path) -> PathBuf {
    static WRITERS: AtomicU64 = AtomicU64::new(0);
    let number = WRITERS.fetch_add(1, Ordering::Relaxed);
    file.with_extension(format!("{}-{number}", std::process::id()))
}

#[cfg(unix)]
fn create_private(folder: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)
}

/// Refuses a folder in which another user could have put files.
#[cfg(unix)]
fn check_private(folder: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = fs::metadata(folder)?;
    let writable_by_others = meta.mode() & 0o022 != 0;
    if writable_by_others || meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(Error::new(
            ErrorKind::PermissionDenied,
            "another user may write here; run `chmod 700`, or set FUSELINE_CACHE",
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_private(_: &Path) -> Result<()> {
    Ok(())
}
