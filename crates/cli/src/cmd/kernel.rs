//! `fuseline explain --kernel N`

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base::{DeviceId, ErrorKind, Result};
use driver::{Device, Plan, Target};
use runtime::cuda::{Compiler, Resources};
use serde_json::{Value, json as object};

use crate::error::{Failure, Outcome};
use crate::json;
use crate::session::Session;

/// Compute capability that kernels are compiled for where there is no GPU.
const ASSUMED: (u32, u32) = (9, 0);

/// One kernel, by number or name: what it computes, and its program for the session's sizes. It needs no GPU; with one, or with
/// NVIDIA's compiler, it says what the generated code takes.
///
/// # Errors
/// No such kernel; a model that cannot be planned.
pub(crate) fn show(session: &Session, wanted: &str, as_json: bool) -> Outcome<String> {
    let target = Target::of(session.config.device);
    let mut plan = driver::passes(session.model.graph(), &BTreeMap::new(), &target, &session.config)?.plan;
    let kernels = std::mem::take(&mut plan.kernels);
    let at = kernels.iter().enumerate().position(|(n, k)| k.name == wanted || n.to_string() == wanted);
    let Some(at) = at else {
        let list = kernels.iter().map(|k| format!("\n  {}", k.name)).collect::<String>();
        return Err(Failure::invalid(format!("no kernel {wanted:?}"), format!("the kernels, from 0, are{list}")));
    };
    plan.kernels = vec![kernels[at].clone()];
    let comp = plan.to_string();
    let shown = Shown::of(session, &plan);
    Ok(if as_json {
        json::text(&object!({
            "version": json::VERSION,
            "kernel": plan.kernels[0].name,
            "comp": comp,
            "program": shown.program,
            "resources": shown.takes.as_ref().map(Takes::document),
        }))
    } else {
        format!("{comp}\n{}\n{}", shown.program, shown.takes.as_ref().map_or_else(String::new, Takes::text))
    })
}

/// A kernel's program as text, and what its generated code takes on a GPU.
struct Shown {
    program: String,
    takes: Option<Takes>,
}

impl Shown {
    fn of(session: &Session, plan: &Plan) -> Shown {
        let (kernel, dims, config) = (&plan.kernels[0], &session.binding.dims, &session.config);
        let DeviceId::Cuda(ordinal) = config.device else {
            let program = driver::tile_program(plan, kernel, dims, config);
            return Shown { program: program.map_or_else(|e| format!("no tile program: {e}"), |p| p.to_string()), takes: None };
        };
        match driver::cuda_program(plan, kernel, dims, config) {
            Err(e) => Shown { program: format!("no CUDA program: {e}"), takes: None },
            Ok(program) => {
                let (text, source) = (program.to_string(), program.source.clone());
                let on_gpu = Device::cuda_with(ordinal, config).and_then(|gpu| {
                    let resources = gpu.prepare(program)?.resources().to_vec();
                    Ok(Takes { on: gpu.info().map_or_else(String::new, |i| i.name), kernels: Ok(resources) })
                });
                let takes = on_gpu.unwrap_or_else(|e| match e.kind {
                    ErrorKind::Unsupported => Takes::compiled(session, &source),
                    _ => Takes { on: config.device.to_string(), kernels: Err(e) },
                });
                Shown { program: text, takes: Some(takes) }
            }
        }
    }
}

/// What each generated kernel takes, and of which GPU that is true.
struct Takes {
    on: String,
    kernels: Result<Vec<Resources>>,
}

impl Takes {
    /// As the compiler alone says.
    fn compiled(session: &Session, source: &str) -> Takes {
        let on = format!("compiled for capability {}.{}, without a GPU", ASSUMED.0, ASSUMED.1);
        if source.is_empty() {
            return Takes { on, kernels: Ok(Vec::new()) };
        }
        Takes { on, kernels: Compiler::open(&session.config).and_then(|c| c.compile(source, ASSUMED)) }
    }

    fn text(&self) -> String {
        let kernels = match &self.kernels {
            Ok(kernels) => kernels,
            Err(e) => return format!("registers and spills are not known: {e}\n"),
        };
        let mut out = String::new();
        for Resources { entry, registers, spills, local, shared } in kernels {
            let _ = writeln!(
                out,
                "{entry}: {registers} registers, {spills} bytes of spills, {local} bytes of local and {shared} of shared memory ({})",
                self.on
            );
        }
        out
    }

    fn document(&self) -> Value {
        let kernel = |r: &Resources| {
            object!({
                "entry": r.entry,
                "registers": r.registers,
                "spill_bytes": r.spills,
                "local_bytes": r.local,
                "shared_bytes": r.shared,
            })
        };
        object!({
            "on": self.on,
            "kernels": self.kernels.as_ref().ok().map(|k| k.iter().map(kernel).collect::<Vec<_>>()),
            "error": self.kernels.as_ref().err().map(ToString::to_string),
        })
    }
}
