//! Saves the weights of a model, loads them into another instance and compares: `cargo run --release --example safetensors`.

use std::collections::BTreeMap;

use fuseline::nn::{Linear, Vars};
use fuseline::{Error, Result, Tensor, save_safetensors};

fn model(vars: &Vars) -> Result<(Linear, Linear)> {
    Ok((Linear::new(&vars.sub("fc1"), 4, 8)?, Linear::new(&vars.sub("fc2"), 8, 2)?))
}

fn forward(layers: &(Linear, Linear), x: &Tensor) -> Tensor {
    layers.1.forward(&layers.0.forward(x).relu())
}

fn main() -> Result<()> {
    let path = std::env::temp_dir().join("fuseline-example.safetensors");
    let seeded = Vars::seeded(42);
    let first = model(&seeded)?;
    let weights: BTreeMap<String, Tensor> = seeded.params().iter().map(|p| (p.name().to_owned(), p.tensor())).collect();
    save_safetensors(&path, &weights)?;
    let second = model(&Vars::from_safetensors(&path)?)?;

    let x = Tensor::randn([3, 4]);
    let (a, b) = (forward(&first, &x), forward(&second, &x));
    println!("{a}");
    if !a.eq(&b).all(..).item::<bool>()? {
        return Err(Error::internal("the loaded model differs"));
    }
    println!("loaded {} tensors from {}", weights.len(), path.display());
    std::fs::remove_file(path)?;
    Ok(())
}
