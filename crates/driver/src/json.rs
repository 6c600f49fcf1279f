//! The versioned JSON form of reports.

use base::Remark;
use serde_json::{Value, json};

use crate::report::{KernelReport, Report, Totals};

/// Version of the report schema; raised when a field changes meaning or disappears.
const VERSION: u32 = 1;

impl Report {
    /// The report as JSON: `{"version": 1, "model": …, "dims": …, "roof": …, "before": …, "after": …, "kernels": […], "edges": […]}`.
    pub fn to_json(&self) -> Value {
        json!({
            "version": VERSION,
            "model": self.model,
            "dims": self.dims,
            "nodes": self.nodes,
            "roof": {
                "source": self.roof.source,
                "bytes_per_second": self.roof.bandwidth,
                "gemm_flop_per_second": self.roof.gemm_flops,
                "pointwise_ops_per_second": self.roof.pointwise_ops,
            },
            "before": totals(&self.before),
            "after": totals(&self.after),
            "kernels": self.kernels.iter().map(kernel).collect::<Vec<_>>(),
            "edges": self.edges.iter().map(edge).collect::<Vec<_>>(),
        })
    }
}

fn totals(t: &Totals) -> Value {
    json!({ "launches": t.launches, "bytes": t.bytes, "peak_bytes": t.peak, "predicted_seconds": t.time, "measured_seconds": t.measured })
}

fn kernel(k: &KernelReport) -> Value {
    json!({
        "name": k.name,
        "class": k.class,
        "ops": k.ops,
        "nodes": k.nodes,
        "read_bytes": k.read,
        "written_bytes": k.written,
        "flops": k.flops,
        "bound": format!("{:?}", k.bound).to_lowercase(),
        "predicted_seconds": k.time,
        "measured_seconds": k.measured,
        "roofline_seconds": k.roofline,
        "once": k.once,
    })
}

fn edge(e: &Remark) -> Value {
    json!({
        "code": format!("{:?}", e.code),
        "meaning": e.code.meaning(),
        "places": e.places,
        "reason": e.message,
        "bytes": e.bytes,
        "hint": e.hint,
    })
}
