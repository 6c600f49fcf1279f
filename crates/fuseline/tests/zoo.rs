//! The zoo: every model builds, and runs compiled; small ones also run in the interpreter.

use base::Config;
use fuseline::{Result, zoo};
use graph::{HostTensor, interp};
use scalar::Sym;

/// Runs a model in the interpreter on made-up inputs with extents for its symbols.
fn run(model: &zoo::ZooModel, sizes: &[&[usize]]) -> Result<Vec<HostTensor>> {
    let mut given = model.inputs.iter().zip(sizes).map(|(input, size)| input.generate(size, 1));
    let graph = &model.module.graph;
    let value = |(slot, decl): (usize, &graph::InputDecl)| match model.module.frozen.iter().find(|f| f.slot as usize == slot) {
        Some(frozen) => Ok((*frozen.data).clone()),
        None => given.next().unwrap_or_else(|| panic!("no value for {}", decl.name)),
    };
    let inputs = graph.inputs.iter().enumerate().map(value).collect::<Result<Vec<_>>>()?;
    interp::run(graph, &inputs, interp::Options::default())
}

fn finite(t: &HostTensor) -> bool {
    t.to_f64s().iter().all(|v| v.is_finite())
}

#[test]
fn every_model_builds_with_its_parameters() -> Result<()> {
    // Millions of parameters, from the papers.
    let sizes = [
        ("mlp", 1.86),
        ("geglu-mlp", 12.6),
        ("lstm", 3.7),
        ("unet-block", 6.5),
        ("bert-mini", 11.2),
        ("gpt2-mini", 0.56),
        ("llama-block", 44.0),
        ("resnet18", 11.7),
        ("resnet50", 25.6),
        ("mobilenet-v2", 3.54),
    ];
    for (name, millions) in sizes {
        let model = zoo::build(name, 0)?;
        graph::verify(&model.module.graph)?;
        let count: usize = model.module.frozen.iter().map(|f| f.data.len()).sum();
        assert!((count as f64 / 1e6 / millions - 1.0).abs() < 0.02, "{name} has {count} parameters");
        let free: Vec<&str> = model.module.graph.inputs.iter().filter(|i| !i.frozen).map(|i| i.name.as_str()).collect();
        assert_eq!(free, model.inputs.iter().map(|i| i.name.as_str()).collect::<Vec<_>>(), "{name}");
        assert!(model.module.graph.guards.is_empty(), "{name}: {:?}", model.module.graph.guards);
    }
    Ok(())
}

#[test]
fn weights_follow_the_seed() -> Result<()> {
    let (a, b, c) = (zoo::build("mlp", 1)?, zoo::build("mlp", 1)?, zoo::build("mlp", 2)?);
    let bytes = |m: &zoo::ZooModel| m.module.frozen[0].data.bytes().to_vec();
    assert_eq!(bytes(&a), bytes(&b));
    assert_ne!(bytes(&a), bytes(&c));
    Ok(())
}

#[test]
fn small_models_run_at_several_sizes() -> Result<()> {
    let mlp = zoo::build("mlp", 0)?;
    for batch in [1, 3] {
        let out = run(&mlp, &[&[batch, 784]])?;
        assert_eq!(out[0].shape(), [batch, 10]);
        assert!(finite(&out[0]));
    }
    let gpt = zoo::build("gpt2-mini", 0)?;
    for (batch, seq) in [(1, 5), (2, 3)] {
        let out = run(&gpt, &[&[batch, seq]])?;
        assert_eq!(out[0].shape(), [batch, seq, 1000]);
        assert!(finite(&out[0]));
    }
    let bert = zoo::build("bert-mini", 0)?;
    let out = run(&bert, &[&[1, 4], &[1, 4], &[1, 4]])?;
    assert_eq!((out[0].shape(), out[1].shape()), (&[1, 4, 256][..], &[1, 256][..]));
    assert!(finite(&out[0]) && finite(&out[1]));
    Ok(())
}

/// Every model, whole: fused kernels agree with one kernel per op, up to the order of a contraction's sums.
#[test]
fn every_model_runs_fused_as_unfused() -> Result<()> {
    for name in zoo::names() {
        let model = zoo::build(name, 0)?;
        let extent = |dim: &Sym| dim.as_int().map_or(if *dim == Sym::named("batch") { 1 } else { 9 }, |n| n as usize);
        let sizes = model.inputs.iter().map(|i| i.dims.iter().map(extent).collect::<Vec<_>>());
        let inputs = model.inputs.iter().zip(sizes).map(|(i, size)| i.generate(&size, 1)).collect::<Result<Vec<_>>>()?;
        let run = |fuse: bool| {
            let config = Config { fuse, ..Config::default() };
            driver::compile(&model.module, &config)?.run(&inputs)
        };
        for (i, (fused, unfused)) in run(true)?.iter().zip(&run(false)?).enumerate() {
            assert!(finite(fused) && fused.shape() == unfused.shape(), "{name}, output {i}");
            let (fused, unfused) = (fused.to_f64s(), unfused.to_f64s());
            let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, |m: f64, v| m.max(v.abs()));
            let error = most(&mut fused.iter().zip(&unfused).map(|(f, u)| f - u));
            assert!(error <= 1e-5 * most(&mut unfused.iter().copied()), "{name}, output {i}: off by {error}");
        }
    }
    Ok(())
}

#[test]
fn an_unknown_name_lists_the_known() {
    let error = zoo::build("bert-huge", 0).unwrap_err().to_string();
    assert!(zoo::names().iter().all(|n| error.contains(n)), "{error}");
}
