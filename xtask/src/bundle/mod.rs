//! A folder with everything that tests and times a GPU on a machine without cargo, and a script that does so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base::{Error, Result};
use serde_json::Value;

use crate::flags::Flags;

/// How to run the command.
pub(crate) const USAGE: &str = "bundle [--out target/bundle]";

/// What runs there.
const SCRIPT: &str = include_str!("run.sh");

/// Files that it needs: folders, relative to the repository, and the ends of the names.
const FILES: [(&str, &str); 4] =
    [("tests/files/plan", ".t"), ("tests/files/cuda", ".t"), ("benches/cuda", ".t"), ("benches", "cuda*.py")];

/// Words of cargo that build the tests which use a GPU where there is one, and the bridge with its own.
const BUILD: &str = "test --release --no-run --package fuseline-bridge --package fuseline-driver --package fuseline-runtime \
                     --package fuseline-testing --test abi --test call --test cuda --test cuda_* --test replay \
                     --message-format json-render-diagnostics";

/// Builds the programs and copies them and their files into a folder, which is emptied before.
///
/// # Errors
/// What does not build; files that cannot be copied.
pub(crate) fn bundle(words: &[&str]) -> Result<()> {
    let flags = Flags::parse(words, &["out"], &[])?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = flags.text("out").map_or_else(|| root.join("target/bundle"), PathBuf::from);
    if folder.exists() {
        if !folder.join("run").exists() && fs::read_dir(&folder)?.next().is_some() {
            return Err(Error::invalid(format!("{} is not empty, and no bundle", folder.display())));
        }
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("tests/bin"))?;
    // First, as the script tells a bundle from other folders, also one that was not finished.
    let script = folder.join("run");
    fs::write(&script, SCRIPT)?;
    executable(&script)?;
    program(&std::env::current_exe()?, &folder.join("xtask"))?;
    for message in built(&root)? {
        if let Some(library) = of_bridge(&message) {
            program(&library, &folder.join("libfuseline_bridge.so"))?;
        }
        if let Some(test) = message["executable"].as_str().map(Path::new) {
            program(test, &folder.join("tests/bin").join(test.file_name().unwrap_or_default()))?;
        }
    }
    FILES.iter().try_for_each(|(from, names)| copied(&root, &folder, from, names))?;
    println!("{}: copy it to the machine and start `run` there", folder.display());
    Ok(())
}

/// The shared library among what a message of cargo tells of.
fn of_bridge(message: &Value) -> Option<PathBuf> {
    let is_bridge = message["target"]["name"] == "fuseline_bridge";
    let files = message["filenames"].as_array().filter(|_| is_bridge)?;
    files.iter().filter_map(Value::as_str).find(|f| f.ends_with(".so")).map(PathBuf::from)
}

/// What cargo tells of what it built.
fn built(root: &Path) -> Result<Vec<Value>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(BUILD.split_whitespace()).current_dir(root).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(Error::invalid(format!("cargo {BUILD}: {}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(|l| serde_json::from_str(l).ok()).collect())
}

/// Copies a program, without what only debuggers read where `strip` is there.
fn program(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map_err(|e| Error::io(format!("{}: {e}", from.display())))?;
    if Command::new("strip").arg(to).status().is_err() {
        println!("{}: with debug information, as there is no `strip`", to.display());
    }
    Ok(())
}

/// Copies the files of a folder whose names contain what is before the `*` and end in what is after it.
fn copied(root: &Path, folder: &Path, from: &str, names: &str) -> Result<()> {
    let (start, end) = names.split_once('*').unwrap_or(("", names));
    fs::create_dir_all(folder.join(from))?;
    for entry in fs::read_dir(root.join(from))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains(start) && name.ends_with(end) {
            fs::copy(entry.path(), folder.join(from).join(&name))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

#[cfg(not(unix))]
fn executable(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_files_of_a_bundle_are_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = std::env::temp_dir().join(format!("fuseline-bundle-{}", std::process::id()));
        FILES.iter().try_for_each(|(from, names)| copied(&root, &folder, from, names)).unwrap();
        for file in [
            "tests/files/cuda/scan.t",
            "tests/files/plan/04a_softmax_last.t",
            "benches/cuda/10_adamw.t",
            "benches/peers_cuda.py",
            "benches/cuda_rows.py",
        ] {
            assert!(folder.join(file).exists(), "{file}");
        }
        assert!(!folder.join("benches/peers.py").exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_message_of_cargo_names_the_library() {
        let message = |name: &str| json!({ "target": { "name": name }, "filenames": ["a/libx.rlib", "a/libx.so"] });
        assert_eq!(of_bridge(&message("fuseline_bridge")), Some("a/libx.so".into()));
        assert_eq!(of_bridge(&message("other")), None);
    }
}
