//! The rows of `bench cuda`: `benches/cuda/*.t` are what the code here writes (`BLESS=1` rewrites them), their plans for a GPU
//! have the kernels that they state, and small versions of all of them run.

mod matrix;
mod norms;
mod pointwise;
mod reductions;
mod training;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use base::{Config, Numerics, Result};
use driver::Target;
use graph::{Builder, Graph, text};

/// Beginning of the names of files that are written by hand: convolutions.
const BY_HAND: &str = "15_conv";

/// One file of the table.
struct Row {
    /// File name without its ending.
    file: String,
    /// Name, and lines `# key value` after it.
    header: Vec<String>,
    /// The program; none for a model of the zoo.
    graph: Option<Graph>,
}

impl Row {
    fn text(&self) -> String {
        let header: String = self.header.iter().map(|l| format!("# {l}\n")).collect();
        header + &self.graph.as_ref().map_or_else(String::new, text::print)
    }
}

/// What a table is made with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    Full,
    /// Extents for a test.
    Small,
}

impl Scale {
    /// An extent, or a small one of the same divisibility.
    fn of(self, n: i64) -> i64 {
        if self == Scale::Full { n } else { (n / 256).clamp(4, 96) }
    }
}

/// A row: file, header and graph.
fn row(file: impl Into<String>, header: &[&str], graph: impl FnOnce(&mut Builder) -> Result<()>) -> Row {
    let file = file.into();
    let mut b = Builder::new(file.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_'));
    graph(&mut b).unwrap_or_else(|e| panic!("{file}: {e}"));
    Row { file, header: header.iter().map(|&l| l.to_owned()).collect(), graph: Some(b.finish()) }
}

/// A model of the zoo.
fn model(scale: Scale) -> Row {
    let name = if scale == Scale::Full { "gpt2" } else { "gpt2-mini" };
    let header = vec![format!("row {name} forward f32 [1, 64]"), "ruler read".to_owned(), format!("model {name}")];
    Row { file: "14_gpt2".to_owned(), header, graph: None }
}

fn rows(scale: Scale) -> Vec<Row> {
    let parts = [pointwise::rows(scale), norms::rows(scale), reductions::rows(scale), training::rows(scale), matrix::rows(scale)];
    parts.into_iter().flatten().chain([model(scale)]).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/cuda")
}

#[test]
fn files_are_what_the_code_writes() {
    let rows = rows(Scale::Full);
    let bless = std::env::var("BLESS").is_ok_and(|v| v == "1");
    for row in &rows {
        let path = folder().join(format!("{}.t", row.file));
        if bless {
            fs::write(&path, row.text()).unwrap();
        }
        let same = fs::read_to_string(&path).is_ok_and(|file| file == row.text());
        assert!(same, "{} is another; BLESS=1 rewrites it", path.display());
    }
    let names = fs::read_dir(folder()).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
    let written = |name: &String| name.ends_with(".t") && !name.starts_with(BY_HAND);
    assert_eq!(names.filter(written).count(), rows.len(), "files that no code writes");
}

/// `04_softmax_512x262144` is of the family `softmax`.
fn family(file: &str) -> &str {
    let name = file.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('_');
    let is_size = |s: &str| s.split('x').count() == 2 && s.bytes().all(|b| b.is_ascii_digit() || b == b'x');
    name.rsplit_once('_').filter(|(_, size)| is_size(size)).map_or(name, |(name, _)| name)
}

#[test]
fn every_row_says_who_computes_the_same() {
    let file = folder().join("../cuda_rows.py");
    let peers = fs::read_to_string(&file).unwrap();
    let (_, families) = peers.split_once("FAMILIES = {").expect("a table of families");
    let rows = rows(Scale::Full);
    let without = rows.iter().map(|r| family(&r.file)).filter(|f| !families.contains(&format!("    \"{f}\": ")));
    let without: std::collections::BTreeSet<_> = without.collect();
    assert!(without.is_empty(), "families that {} lacks: {without:?}", file.display());
}

#[test]
fn plans_for_a_gpu_have_the_stated_kernels() {
    let mut wrong = Vec::new();
    for row in rows(Scale::Full).iter().filter(|r| r.graph.is_some()) {
        let graph = text::parse(&row.file, &row.text()).unwrap();
        assert!(Some(&graph) == row.graph.as_ref(), "{}: the parsed text is another graph", row.file);
        let wanted = row.header.iter().find_map(|l| l.strip_prefix("kernels ")).unwrap_or("1");
        for numerics in [Numerics::Wide, Numerics::Eager] {
            let config = Config { numerics, ..Config::default() };
            let plan = driver::passes(&graph, &BTreeMap::new(), &Target::cuda(), &config).unwrap().plan;
            if plan.kernels.len().to_string() != wanted {
                wrong.push(format!("{} {numerics:?}: {wanted} kernels wanted\n{}", row.file, plan.summary()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn small_rows_run() {
    let folder = std::env::temp_dir().join(format!("fuseline-rows-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let rows = rows(Scale::Small);
    rows.iter().for_each(|row| fs::write(folder.join(format!("{}.t", row.file)), row.text()).unwrap());
    let out = folder.join("out.json");
    let args = ["bench", "cuda", "--device", "cpu", "--rounds", "1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let ran = command.args(args).args([Path::new("--files"), &folder, Path::new("--out"), &out]).env_clear().output().unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    let written: serde_json::Value = serde_json::from_str(&fs::read_to_string(&out).unwrap_or_default()).unwrap_or_default();
    fs::remove_dir_all(&folder).unwrap();
    assert!(ran.status.success() && !printed.contains("ERROR"), "{printed}{}", String::from_utf8_lossy(&ran.stderr));
    let timed = written["rows"].as_array().map_or(0, Vec::len);
    assert_eq!(timed, 2 * rows.len());
}
