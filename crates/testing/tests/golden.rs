//! The golden plans: every `tests/files/plan/*.t` with a line `# golden N` has N kernels per call.
//!
//! Kernels that run once, at load, do not count; a line `# once N` states their number where it matters. `RED.txt` beside the
//! files lists those that miss their number, as `file.t: got M — reason`. A listed file must give M still, so that an
//! improvement is noticed; M is `error` where planning fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use base::{Config, Result};
use driver::Plan;
use graph::text;
use kernel::Target;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/plan")
}

/// One file with a required number.
struct Golden {
    name: String,
    body: String,
    kernels: usize,
    once: Option<usize>,
}

impl Golden {
    fn read(path: &Path) -> Option<Golden> {
        let file = fs::read_to_string(path).expect("the file is readable");
        let (head, _) = file.split_once("----\n").expect("the file has a line ----");
        let (_, body) = head.split_once('\n').expect("the file has a header");
        let number = |key: &str| {
            let line = body.lines().find_map(|l| l.strip_prefix(key))?;
            Some(line.parse().unwrap_or_else(|_| panic!("{}: {key}{line} is not a number", path.display())))
        };
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some(Golden { name, kernels: number("# golden ")?, once: number("# once "), body: body.to_owned() })
    }

    fn plan(&self) -> Result<Plan> {
        let graph = text::parse(&self.name, &self.body)?;
        Ok(driver::passes(&graph, &BTreeMap::new(), &Target::cpu(), &Config::default())?.plan)
    }

    /// The number of kernels, with those at load where their number is not the required one.
    fn count(&self) -> Result<String> {
        let plan = self.plan()?;
        let once = plan.kernels.iter().filter(|k| k.once).count();
        let each = plan.kernels.len() - once;
        Ok(if self.once.is_none_or(|n| n == once) { each.to_string() } else { format!("{each} and {once} once") })
    }

    /// What the plan has, and what is wrong with that.
    fn check(&self, red: Option<&String>) -> (String, Option<String>) {
        let (got, why) = match self.count() {
            Ok(got) => (got, String::new()),
            Err(e) => ("error".to_owned(), format!(": {e}")),
        };
        let wrong = match red {
            None if got != self.kernels.to_string() => Some(format!("{}: required {}, got {got}{why}", self.name, self.kernels)),
            Some(_) if got == self.kernels.to_string() => {
                Some(format!("{}: has the required {got}; take it off RED.txt", self.name))
            }
            Some(listed) if got != *listed => {
                Some(format!("{}: RED.txt says {listed}, got {got} (required {}){why}", self.name, self.kernels))
            }
            _ => None,
        };
        (got, wrong)
    }
}

fn goldens() -> Vec<Golden> {
    let entries = fs::read_dir(folder()).expect("the folder exists");
    let paths: BTreeSet<PathBuf> = entries.map(|e| e.expect("the folder is readable").path()).collect();
    paths.iter().filter(|p| p.extension().is_some_and(|e| e == "t")).filter_map(|p| Golden::read(p)).collect()
}

/// What the listed files give.
fn red_list() -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder().join("RED.txt")).expect("RED.txt is readable");
    let entry = |line: &str| {
        let (name, rest) = line.split_once(": got ")?;
        let (got, reason) = rest.split_once(" — ")?;
        (!reason.trim().is_empty()).then(|| (name.to_owned(), got.to_owned()))
    };
    text.lines().map(|l| entry(l).unwrap_or_else(|| panic!("RED.txt: not `file.t: got M — reason`: {l:?}"))).collect()
}

#[test]
fn kernel_counts() {
    let (goldens, red) = (goldens(), red_list());
    assert!(!goldens.is_empty(), "no golden plans in {}", folder().display());
    let mut wrong: Vec<String> = Vec::new();
    for golden in &goldens {
        let (got, complaint) = golden.check(red.get(&golden.name));
        println!("{}: required {}, got {got}", golden.name, golden.kernels);
        wrong.extend(complaint);
    }
    let known: BTreeSet<&String> = goldens.iter().map(|g| &g.name).collect();
    wrong.extend(red.keys().filter(|name| !known.contains(name)).map(|name| format!("RED.txt: there is no golden plan {name}")));
    assert!(wrong.is_empty(), "{} of {} golden plans\n{}", wrong.len(), goldens.len(), wrong.join("\n"));
}

#[test]
fn plans_are_equal_after_a_file() {
    for golden in goldens() {
        let Ok(plan) = golden.plan() else { continue };
        let bytes = postcard::to_stdvec(&plan).unwrap();
        let read: Plan = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(format!("{read:#?}"), format!("{plan:#?}"), "{}", golden.name);
        assert_eq!(postcard::to_stdvec(&read).unwrap(), bytes, "{}", golden.name);
    }
}
