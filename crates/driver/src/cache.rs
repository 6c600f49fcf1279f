//! Plans on disk, by content: what one process planned, no other plans again.
//!
//! A file is named by the SHA-256 of everything that a plan depends on (graph, sizes that the choice is made for, target, settings,
//! planning code).

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Error, Result};
use std::time::Instant;

use base::{Config, Stock};
use graph::Graph;
use kernel::Target;
use scalar::Var;

use crate::compile::{Compiled, passes};

/// Identifies the code that plans.
const PLANNER: &str = env!("FUSELINE_PLANNER");

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
    match plans(folder).size() {
        Ok((plans, bytes)) => format!("{folder}, {plans} plan(s), {}", crate::table::bytes(bytes as f64)),
        Err(e) => format!("{folder} cannot be used: {e}"),
    }
}

/// The folder of the plans in a cache.
fn plans(cache: &str) -> Stock {
    Stock::new(cache, "plans")
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
    let (stock, name) = (plans(folder), key(graph, given, target, config));
    let found = name.as_ref().ok().and_then(|name| postcard::from_bytes(&stock.load(name).ok()?).ok());
    if let Some(plan) = found {
        return Ok(Compiled { plan, timing: vec![("load", start.elapsed())], cached: Cached::Loaded });
    }
    let mut compiled = passes(graph, given, target, config)?;
    let start = Instant::now();
    compiled.cached = match name.and_then(|name| stock.store(&name, &postcard::to_stdvec(&compiled.plan).map_err(Error::other)?))
    {
        Ok(()) => Cached::Stored,
        Err(e) => Cached::Failed(format!("{folder}: {e}")),
    };
    compiled.timing.push(("store", start.elapsed()));
    Ok(compiled)
}

/// The name of a plan's file.
fn key(graph: &Graph, given: &BTreeMap<Var, i64>, target: &Target, config: &Config) -> Result<String> {
    let Config { numerics, fuse, fuel, replay: _, tune: _, device: _, threads: _, log: _, dump: _, cache: _, cuda } = config;
    let settings = format!("{PLANNER} {numerics:?} {fuse} {fuel:?} {:?}", cuda.convolutions);
    let bytes = postcard::to_stdvec(&(settings, target, given, graph)).map_err(Error::other)?;
    Ok(base::digest(&bytes))
}
