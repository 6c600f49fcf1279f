//! A number for the code that plans: plans of another build are never loaded.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::Result;
use std::path::Path;

/// Crates whose code decides what a plan is, and how files hold it.
const PLANNERS: [&str; 7] = ["base", "scalar", "graph", "kernel", "transform", "fuse", "driver"];

fn main() -> Result<()> {
    let mut hasher = DefaultHasher::new();
    for name in PLANNERS {
        let sources = Path::new("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        hash_folder(&sources, &mut hasher)?;
    }
    println!("cargo::rustc-env=FUSELINE_PLANNER={:016x}", hasher.finish());
    Ok(())
}

fn hash_folder(folder: &Path, hasher: &mut DefaultHasher) -> Result<()> {
    let mut entries = fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            hash_folder(&path, hasher)?;
        } else {
            path.hash(hasher);
            fs::read(&path)?.hash(hasher);
        }
    }
    Ok(())
}
