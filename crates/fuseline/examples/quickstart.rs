//! Tensors, laziness, a compiled function and its report: `cargo run --release --example quickstart`.

use fuseline::{Result, Tensor, compile, manual_seed};

fn main() -> Result<()> {
    manual_seed(0);
    let x = Tensor::randn([3, 4]);
    println!("{x}");

    // Nothing runs until the result is printed; then it is one kernel.
    let y = (x.exp() / x.exp().sum_keepdim(-1) * 100.0).round();
    println!("percent: {y}");

    // Mistakes are kept in the tensor, with the line that made them.
    let bad = &x + Tensor::new([1.0f32, 2.0]);
    println!("error: {}", bad.eval().unwrap_err());

    let f = compile(|x| vec![(&x[0] * 2.0 + 1.0).relu().mean(-1)]);
    println!("{}", f.call(&[x])?[0]);
    println!("{}", f.explain());
    Ok(())
}
