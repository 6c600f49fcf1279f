//! `fuseline reduce`

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base::{Config, Error, Result};
use fuseline::{Tensor, save_npy};
use graph::{Graph, HostTensor};
use testing::tolerance::{Tolerance, compare};

use crate::args::Reduce;
use crate::error::{Failure, Outcome, Verdict};
use crate::output;
use crate::progress::Progress;
use crate::session::Session;

/// Shrinks a failing graph, and writes it with its inputs.
///
/// # Errors
/// A graph that does not load or does not fail, or files that cannot be written.
pub(crate) fn reduce(args: &Reduce) -> Outcome<Verdict> {
    let session = Session::open(&args.model)?;
    let candidate = Candidate::new(&args.output)?;
    let check = |graph: &Graph, inputs: &[HostTensor]| match &args.check {
        Some(command) => candidate.fails(command, graph),
        None => deviates(graph, inputs, &session.config),
    };
    let (graph, inputs) = (session.model.graph(), session.arguments());
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let reduced = check(graph, &inputs).then(|| {
        let progress = Progress::start("reducing, candidates tried:", 0);
        testing::reduce(graph, &inputs, &mut |g, i| {
            progress.step();
            check(g, i)
        })
    });
    std::panic::set_hook(hook);
    let Some((small, inputs)) = reduced else {
        let help = "give the inputs and --dim that fail, another --seed, or --check CMD";
        return Err(Failure::invalid(format!("{}: it does not fail, so there is nothing to reduce", args.model.model), help));
    };
    let files = write(&args.output, &small, &inputs)?;
    let shown = args.output.display();
    let mut text = format!("{} nodes → {} nodes: {shown}\n", graph.nodes.len(), small.nodes.len());
    text.push_str(&format!("reproduce with: fuseline verify --whole {shown}{files}\n"));
    output::emit(&text)?;
    Ok(Verdict::Pass)
}

/// Whether compiled results differ from the interpreter's, or compiling or running fails where interpreting does not.
fn deviates(graph: &Graph, inputs: &[HostTensor], config: &Config) -> bool {
    let attempt = || {
        let want = graph::interp::run(graph, inputs, graph::interp::Options::default()).ok()?;
        let got = catch_unwind(AssertUnwindSafe(|| testing::cpu::run_compiled(graph, inputs, config)));
        Some(!matches!(got, Ok(Ok(got)) if compare(&want, &got, Tolerance::CLOSE).is_ok()))
    };
    catch_unwind(AssertUnwindSafe(attempt)).ok().flatten().unwrap_or(false)
}

/// The file that `--check` commands read; removed in the end.
struct Candidate(PathBuf);

impl Candidate {
    fn new(output: &Path) -> Result<Candidate> {
        let name = output.file_stem().ok_or_else(|| Error::invalid(format!("--output {} is no file", output.display())))?;
        Ok(Candidate(output.with_file_name(format!("{}.candidate.t", name.to_string_lossy()))))
    }
    /// Whether the command exits with non-zero; a command that cannot start does not count as failing.
    fn fails(&self, command: &str, graph: &Graph) -> bool {
        if std::fs::write(&self.0, graph::text::print(graph)).is_err() {
            return false;
        }
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).arg("sh").arg(&self.0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.status().is_ok_and(|s| !s.success() && !matches!(s.code(), Some(126 | 127)))
    }
}

impl Drop for Candidate {
    fn drop(&mut self) {
        // It exists only if a command was run.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Writes graph and inputs; the `-i` arguments for them.
fn write(path: &Path, graph: &Graph, inputs: &[HostTensor]) -> Outcome<String> {
    std::fs::write(path, graph::text::print(graph)).map_err(|e| Error::from(e).context(path.display().to_string()))?;
    let stem = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let mut arguments = String::new();
    for (decl, data) in graph.inputs.iter().zip(inputs) {
        let plain: String =
            decl.name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
        let file = path.with_file_name(format!("{stem}.{plain}.npy"));
        save_npy(&file, &Tensor::from_host(data.clone()))?;
        arguments.push_str(&format!(" -i {}={}", decl.name, file.display()));
    }
    Ok(arguments)
}
