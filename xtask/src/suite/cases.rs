//! The cases by name: `plan/FILE`, `cuda/FILE`, `rows/FILE`, `schedules/FILE`, `threads/FILE`, `record/FILE`, `device/PROPERTY`, `zoo/MODEL`, and `tame`, `exact` and
//! `bits` with a seed; `planted/FAULT`, which no filter finds.

use std::path::Path;

use base::{Error, Result};
use fuseline::zoo;

use super::outcome::Outcome;
use super::{Context, device, fuzz, plan, planted, rows, schedules};

/// Files that several threads run at once.
const SHARED: [&str; 6] = [
    "01_mixed_pointwise.t",
    "03_gelu_linear_scale.t",
    "04a_softmax_last.t",
    "05_residual_layer_norm.t",
    "07_cross_entropy.t",
    "22_both_sums.t",
];

/// Runs a case by its name.
///
/// # Errors
/// A name that is not understood; what the case itself gives.
pub(crate) fn run(context: &Context, case: &str) -> Result<Outcome> {
    let (kind, name) = case.split_once('/').ok_or_else(|| Error::invalid(format!("no case {case:?}")))?;
    match kind {
        "plan" | "cuda" => plan::check(context, kind, name),
        "threads" => device::threads(context, name),
        "record" => device::recording(context, name),
        "device" => device::check(context, name),
        "planted" => planted::run(context, name),
        "rows" => rows::check(context, name),
        "schedules" => schedules::check(context, name),
        "zoo" => super::zoo::check(context, name),
        _ => {
            let seed = name.parse().map_err(|_| Error::invalid(format!("no case {case:?}")))?;
            fuzz::check(context, kind, seed)
        }
    }
}

/// Cases before which and beside which none runs: they take all memory of a GPU.
pub(crate) const ALONE: [&str; 1] = ["device/too-little-memory"];

/// The other cases with an end.
///
/// # Errors
/// A folder that cannot be read.
pub(crate) fn fixed(files: &Path, rows: &Path) -> Result<Vec<String>> {
    let (plans, families, rows) = (names(&files.join("plan"))?, names(&files.join("cuda"))?, names(rows)?);
    // The slowest first, so that none is left for the end.
    let zoo = zoo::names().into_iter().rev().map(|n| format!("zoo/{n}"));
    let device = device::PROPERTIES.map(|n| format!("device/{n}"));
    let each = |kind: &'static str| plans.iter().map(move |n| format!("{kind}/{n}"));
    let families = families.iter().map(|n| format!("cuda/{n}"));
    let schedules = rows.iter().map(|n| format!("schedules/{n}"));
    let rows = rows.iter().map(|n| format!("rows/{n}"));
    let shared = SHARED.iter().map(|n| format!("threads/{n}"));
    Ok(device
        .into_iter()
        .chain(zoo)
        .chain(rows)
        .chain(families)
        .chain(each("plan"))
        .chain(shared)
        .chain(each("record"))
        .chain(schedules)
        .chain(each("schedules"))
        .collect())
}

/// The programs of a folder.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(format!("{}: {e}", folder.display())))?;
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|n| n.ends_with(".t")).collect();
    names.sort();
    Ok(names)
}

/// The generated cases, kinds in turn: so many seeds of each.
pub(crate) fn generated(seeds: u64) -> impl Iterator<Item = String> {
    (0..seeds).flat_map(|n| fuzz::KINDS.into_iter().map(move |(kind, first)| format!("{kind}/{}", first + n)))
}
