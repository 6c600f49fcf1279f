//! What the documentation quotes, names and links to is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use scalar::{Combiner, ScalarOp};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace root exists")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Every page, relative to the root.
fn pages() -> Vec<String> {
    let docs = fs::read_dir(root().join("docs")).expect("docs/ exists").flatten();
    let mut pages: Vec<String> = docs.map(|e| format!("docs/{}", e.file_name().to_string_lossy())).collect();
    pages.extend(["README.md", "ARCHITECTURE.md"].map(str::to_owned));
    pages.sort();
    pages
}

/// The output part of a filetest.
fn output(file: &str) -> String {
    let text = read(file);
    let (_, output) = text.split_once("----\n").unwrap_or_else(|| panic!("{file} has no line ----"));
    assert!(!output.is_empty(), "{file} has no output yet: run its test with BLESS=1, then this one");
    output.to_owned()
}

/// A page with the block after each mark replaced by the output that the mark names.
fn with_outputs(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("<!-- output of ") {
        let (file, block) = after.split_once(" -->\n```text\n").expect("a text block follows the mark");
        let (_, after) = block.split_once("```\n").expect("the block ends");
        out += &format!("{before}<!-- output of {file} -->\n```text\n{}```\n", output(file));
        rest = after;
    }
    out + rest
}

#[test]
fn quoted_outputs_are_those_of_the_tests() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    for page in pages() {
        let text = read(&page);
        let wanted = with_outputs(&text);
        if text != wanted && bless {
            fs::write(root().join(&page), wanted).expect("pages are writable");
        } else {
            assert!(text == wanted, "{page} quotes outdated outputs; BLESS=1 updates it");
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        let text = read(&page);
        let path = root().join(&page);
        let folder = path.parent().expect("pages lie in a folder");
        for link in text.split("](").skip(1).filter_map(|l| l.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if !file.is_empty() && !link.contains("://") && !folder.join(file).exists() {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn every_row_is_documented() {
    let page = read("docs/ir.md");
    let words: BTreeSet<&str> = page.split('`').collect();
    let rows = ScalarOp::PLAIN.iter().map(|op| op.name()).chain(Combiner::ALL.iter().map(|c| c.info().name.to_owned()));
    let missing: Vec<String> = rows.filter(|name| !words.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "not in docs/ir.md: {missing:?}");
}

#[test]
fn every_variable_is_documented() {
    let (source, page) = (read("crates/base/src/config.rs"), read("docs/debugging.md"));
    let words = source.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let variables: BTreeSet<&str> = words.filter(|w| w.starts_with("FUSELINE_")).collect();
    let missing: Vec<&str> = variables.iter().copied().filter(|v| !page.contains(v)).collect();
    assert!(variables.len() > 3 && missing.is_empty(), "not in docs/debugging.md: {missing:?}");
}

#[test]
fn the_two_commands_of_the_readme_are_checked() {
    let (readme, script) = (read("README.md"), read(".ci/run"));
    let block = readme.split("```sh\n").nth(1).and_then(|b| b.split("```").next()).expect("README starts with commands");
    let commands: Vec<&str> = block.lines().map(|l| l.split('#').next().unwrap_or_default().trim()).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for command in commands {
        assert!(script.lines().any(|l| l.trim() == command), ".ci/run does not run `{command}`");
    }
}
