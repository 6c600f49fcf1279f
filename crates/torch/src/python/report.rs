//! What a compiled program did, as text and as versioned JSON.

use std::fmt::Write;

use driver::{Cached, Report, bytes_text, time_text};
use serde_json::{Value, json};

use super::bind::Dims;
use super::runner::{Call, Part, Runner, Work};

/// Version of the JSON form; raised when a field changes meaning or disappears.
const VERSION: u32 = 1;

/// Memory of a segment for the sizes that it ran with last, in bytes.
struct Memory {
    /// Most intermediates alive at once; `None` where the driver does not plan them ahead.
    arena: Option<usize>,
    outputs: usize,
}

fn memory(part: &Part) -> Option<Memory> {
    let (_, sized) = part.bindings.last()?;
    Some(Memory { arena: sized.ready.intermediate_bytes(), outputs: sized.bytes.iter().sum() })
}

fn report_of(part: &Part) -> base::Result<Report> {
    part.executable.report(&part.bindings.last().map_or_else(Dims::new, |(dims, _)| dims))
}

fn segment(part: &Part) -> base::Result<Value> {
    let memory = memory(part);
    Ok(json!({
        "kind": "segment",
        "calls": part.tally.calls(),
        "seconds": part.tally.time().as_secs_f64(),
        "sizes": part.bindings.len(),
        "plan": part.executable.cached().to_string(),
        "output_bytes": memory.as_ref().map(|m| m.outputs),
        "arena_bytes": memory.as_ref().and_then(|m| m.arena),
        "report": report_of(part)?.to_json(),
    }))
}

impl Runner {
    fn extern_(&self, call: &Call) -> Value {
        let node = &self.fx.nodes[call.node];
        json!({
            "kind": "extern",
            "op": node.op,
            "target": node.target,
            "source": node.source,
            "reason": call.reason,
            "calls": call.tally.calls(),
            "seconds": call.tally.time().as_secs_f64(),
        })
    }

    /// `{"version": 1, "name": …, "calls": …, "compile_seconds": …, "steps": […]}`.
    pub(super) fn report_json(&self) -> base::Result<Value> {
        let step = |work: &Work| match work {
            Work::Part(part) => segment(part),
            Work::Call(call) => Ok(self.extern_(call)),
        };
        let steps = self.work.iter().map(step).collect::<base::Result<Vec<_>>>()?;
        Ok(json!({
            "version": VERSION,
            "name": self.fx.name,
            "calls": self.calls(),
            "compile_seconds": self.compile_time().as_secs_f64(),
            "steps": steps,
        }))
    }

    /// Segments as `fuseline explain` prints them, then torch's calls.
    pub(super) fn report_text(&self) -> base::Result<String> {
        let mut out = String::new();
        for work in &self.work {
            let Work::Part(part) = work else { continue };
            let _ = writeln!(out, "{}", report_of(part)?);
            if let cached @ Cached::Failed(_) = part.executable.cached() {
                let _ = writeln!(out, "plan {cached}");
            }
            if let Some(memory) = memory(part) {
                let arena = memory.arena.map_or_else(|| "not planned".to_owned(), |n| bytes_text(n as f64));
                let _ = writeln!(out, "memory: intermediates {arena}, outputs {}\n", bytes_text(memory.outputs as f64));
            }
        }
        let mut calls = self.work.iter().filter_map(|w| if let Work::Call(c) = w { Some(c) } else { None }).peekable();
        if calls.peek().is_some() {
            let _ = writeln!(out, "torch runs {:<29} {:>7} {:>10} {:>10}  reason", "", "calls", "each", "all");
        }
        for call in calls {
            let node = &self.fx.nodes[call.node];
            let (count, all) = (call.tally.calls(), call.tally.time().as_secs_f64());
            let each = all / count.max(1) as f64;
            let what = if node.source.is_empty() { node.target.clone() } else { format!("{} ({})", node.target, node.source) };
            let _ = writeln!(out, "{what:<40} {count:>7} {:>10} {:>10}  {}", time_text(each), time_text(all), call.reason);
        }
        Ok(out)
    }
}
