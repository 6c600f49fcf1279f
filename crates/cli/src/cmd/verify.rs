//! `fuseline verify`

use std::fmt::Write as _;
use std::path::Path;

use driver::{Deviation, Tolerance};
use graph::HostTensor;
use scalar::DType;
use serde_json::{Value, json as object};

use crate::args::Verify;
use crate::error::{Failure, Outcome, Verdict};
use crate::progress::Progress;
use crate::session::Session;
use crate::term::Style;
use crate::{json, output};

/// Roundings add up over a whole graph: how many times the tolerance of one kernel its outputs get.
const WHOLE_FACTOR: f64 = 10.0;

/// What was found.
struct Findings {
    model: String,
    kernels: usize,
    deviations: Vec<Deviation>,
    /// Sentences about outputs.
    outputs: Vec<String>,
    /// Outputs that were compared with given ones or with the whole graph's.
    compared: usize,
}

/// Compares every fused kernel with the interpreter, and outputs with expected ones.
///
/// # Errors
/// A model, inputs or expected outputs that do not load, compile or run.
pub(crate) fn verify(args: &Verify) -> Outcome<Verdict> {
    for (name, t) in [("--rtol", args.rtol), ("--atol", args.atol)] {
        if t.is_some_and(|t| t.is_nan() || t < 0.0) {
            return Err(Failure::invalid(format!("{name} must be at least 0"), ""));
        }
    }
    let session = Session::open(&args.model)?;
    let exe = session.compile()?;
    let given = (args.rtol.is_some() || args.atol.is_some()).then(|| tolerance(args, DType::F32));
    let (outputs, deviations) = {
        let _progress = Progress::start("verifying", 0);
        exe.verify(&session.inputs, given)?
    };
    let kernels = exe.plan().kernels.iter().filter(|k| !k.once).count();
    let mut findings =
        Findings { model: session.model.graph().name.clone(), kernels, deviations, outputs: Vec::new(), compared: 0 };
    if let Some(path) = &args.expect {
        let names = session.model.output_names();
        let expected = output::read_expected(path, &names)?;
        findings.compare(&names, &outputs, expected, "expected", &|d| tolerance(args, d))?;
    }
    if args.whole {
        findings.whole(&session, &outputs, args)?;
    }
    output::emit(&if args.json { json::text(&findings.document()) } else { findings.text(args.expect.as_deref()) })?;
    Ok(Verdict::of(findings.deviations.is_empty() && findings.outputs.is_empty()))
}

/// The given tolerance, completed by the dtype's.
fn tolerance(args: &Verify, dtype: DType) -> Tolerance {
    let usual = Tolerance::of(dtype);
    match (args.rtol, args.atol) {
        (Some(relative), absolute) => Tolerance { relative, absolute: absolute.unwrap_or(relative / 10.0) },
        (None, Some(absolute)) => Tolerance { absolute, ..usual },
        (None, None) => usual,
    }
}

impl Findings {
    /// Compares outputs by number with wanted ones.
    fn compare(
        &mut self,
        names: &[String],
        got: &[HostTensor],
        wanted: Vec<(usize, HostTensor)>,
        what: &str,
        within: &dyn Fn(DType) -> Tolerance,
    ) -> Outcome<()> {
        for (k, want) in wanted {
            let (name, got) =
                names.get(k).zip(got.get(k)).ok_or_else(|| Failure::invalid(format!("there is no output {k}"), ""))?;
            let t = within(got.dtype());
            self.compared += 1;
            match output::compare(got, &want, t.relative, t.absolute) {
                Ok(None) => {}
                Ok(Some(d)) => self.outputs.push(format!(
                    "output {name}: {} of {} elements differ from the {what} values; worst at {:?}: got {}, want {} (rtol {:e}, atol {:e})",
                    d.count, got.len(), d.at, d.got, d.want, t.relative, t.absolute
                )),
                Err(e) => self.outputs.push(format!("output {name} {e}")),
            }
        }
        Ok(())
    }

    /// Compares outputs with the interpreter's on the graph as it was loaded.
    fn whole(&mut self, session: &Session, outputs: &[HostTensor], args: &Verify) -> Outcome<()> {
        let _progress = Progress::start("interpreting the whole graph", 0);
        let graph = session.model.graph();
        let wanted = graph::interp::run(graph, &session.arguments(), graph::interp::Options::default())?;
        let within = |d| {
            let t = tolerance(args, d);
            Tolerance { relative: t.relative * WHOLE_FACTOR, absolute: t.absolute * WHOLE_FACTOR }
        };
        self.compare(&session.model.output_names(), outputs, wanted.into_iter().enumerate().collect(), "interpreter's", &within)
    }

    fn text(&self, expect: Option<&Path>) -> String {
        let style = Style::stdout();
        let mut out = String::new();
        for d in &self.deviations {
            let _ = writeln!(
                out,
                "{} kernel {}: {} elements differ from the interpreter; worst at {}: got {}, want {}",
                style.red("mismatch:"),
                d.kernel,
                d.count,
                d.at,
                d.got,
                d.want
            );
            d.ops.iter().for_each(|op| out.push_str(&format!("    · {op}\n")));
        }
        self.outputs.iter().for_each(|o| out.push_str(&format!("{} {o}\n", style.red("mismatch:"))));
        if self.deviations.is_empty() {
            let _ = writeln!(out, "{} {}: {} kernels agree with the interpreter", style.green("ok:"), self.model, self.kernels);
        }
        if self.compared > 0 && self.outputs.is_empty() {
            let with = expect.map_or_else(|| "the whole graph".to_owned(), |p| p.display().to_string());
            let _ = writeln!(out, "{} {} output comparisons agree with {with}", style.green("ok:"), self.compared);
        }
        out
    }

    fn document(&self) -> Value {
        let deviations = self
            .deviations
            .iter()
            .map(|d| object!({ "kernel": d.kernel, "ops": d.ops, "count": d.count, "at": d.at, "got": d.got, "want": d.want }));
        object!({
            "version": json::VERSION,
            "model": self.model,
            "ok": self.deviations.is_empty() && self.outputs.is_empty(),
            "kernels": self.kernels,
            "deviations": deviations.collect::<Vec<_>>(),
            "outputs_compared": self.compared,
            "output_mismatches": self.outputs,
        })
    }
}
