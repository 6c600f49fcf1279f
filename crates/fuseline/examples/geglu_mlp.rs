//! A GeGLU feed-forward block, compiled once for all batch sizes, fused against one kernel per op:
//! `cargo run --release --example geglu_mlp`.

use std::time::{Duration, Instant};

use fuseline::nn::{LayerNorm, Linear, Vars};
use fuseline::{Mode, Result, Tensor, compile_pure, set_mode};

const WIDTH: usize = 512;

struct GegluMlp {
    norm: LayerNorm,
    gate: Linear,
    up: Linear,
    down: Linear,
}

impl GegluMlp {
    fn new(vars: &Vars) -> Result<GegluMlp> {
        Ok(GegluMlp {
            norm: LayerNorm::new(&vars.sub("norm"), WIDTH, 1e-5)?,
            gate: Linear::new(&vars.sub("gate"), WIDTH, 4 * WIDTH)?,
            up: Linear::new(&vars.sub("up"), WIDTH, 4 * WIDTH)?,
            down: Linear::new(&vars.sub("down"), 4 * WIDTH, WIDTH)?,
        })
    }
    fn forward(&self, x: &Tensor) -> Tensor {
        let h = self.norm.forward(x);
        let h = self.gate.forward(&h).gelu() * self.up.forward(&h);
        x + self.down.forward(&h)
    }
}

/// Best of ten calls in a mode, and the sum of the result.
fn measure(mode: Mode, x: &Tensor) -> Result<(Duration, f32)> {
    let _mode = set_mode(mode);
    let model = GegluMlp::new(&Vars::seeded(0))?;
    let f = compile_pure(move |x| vec![model.forward(&x[0])]);
    let sum = f.call(std::slice::from_ref(x))?[0].sum(..).item::<f32>()?;
    let mut best = Duration::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        f.call(std::slice::from_ref(x))?;
        best = best.min(start.elapsed());
    }
    Ok((best, sum))
}

fn main() -> Result<()> {
    let x = Tensor::randn([64, WIDTH]);
    let (fused, a) = measure(Mode::Fused, &x)?;
    let (eager, b) = measure(Mode::Eager, &x)?;
    println!("fused {fused:?}, one kernel per op {eager:?}; sums {a} and {b}");
    Ok(())
}
