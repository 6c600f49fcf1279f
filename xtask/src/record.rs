//! What recording and replaying a compiled function costs per op.

use base::{Error, Result};
use fuseline::{Tensor, compile, compile_pure};
use serde_json::json;

use crate::stats::{interleaved, record};

const OPS: usize = 400;
const ROUNDS: usize = 400;

fn chain(x: &[Tensor]) -> Vec<Tensor> {
    let mut y = x[0].clone();
    for k in 0..OPS {
        y = if k % 2 == 0 { y.tanh() } else { y + &x[1] };
    }
    vec![y]
}

/// Times a call of a function of 400 ops that is recorded anew, one that is not, and the recording alone.
pub(crate) fn bench() -> Result<()> {
    let x = [Tensor::new([0.5f32, 0.25]), Tensor::new([1.0f32, 2.0])];
    let recorded = compile(chain);
    let traced = compile_pure(chain);
    let times = interleaved(
        ROUNDS,
        &mut [&mut || recorded.call(&x).map(drop), &mut || traced.call(&x).map(drop), &mut || chain(&x)[0].check().map(drop)],
    )?;
    let ns = |seconds: f64| seconds * 1e9 / OPS as f64;
    let (all, record_only) = (ns(times[0] - times[1]), ns(times[2]));
    if recorded.compiled() != 1 {
        return Err(Error::internal("the function was compiled more than once"));
    }
    println!("{OPS} ops: record {record_only:.0} ns an op, record and look up {all:.0} ns an op");
    record(
        "recording",
        json!({
            "ops": OPS,
            "call_us": times[0] * 1e6,
            "call_without_recording_us": times[1] * 1e6,
            "record_ns_per_op": record_only,
            "record_and_lookup_ns_per_op": all,
        }),
    )
}
