//! Compiled functions.

use fuseline::{ArgSpec, DType, Param, Result, Sym, Tensor, compile, compile_pure, nn, trace};

#[test]
fn compile_runs_and_follows_the_function() -> Result<()> {
    let f = compile(|x: &[Tensor]| {
        let y = &x[0] * 2.0;
        if y.sum(..).item::<f32>().unwrap() > 0.0 { vec![y + 1.0] } else { vec![-y] }
    });
    assert_eq!(f.call(&[Tensor::new([1.0f32, 2.0])])?[0].to_vec::<f32>()?, [3.0, 5.0]);
    assert_eq!(f.call(&[Tensor::new([-1.0f32, -2.0])])?[0].to_vec::<f32>()?, [2.0, 4.0]);
    Ok(())
}

#[test]
fn reads_are_graph_breaks_with_their_line() -> Result<()> {
    let line = line!() + 3;
    let f = compile(|x: &[Tensor]| {
        let y = x[0].exp();
        let scale: f32 = y.sum(..).item().unwrap();
        vec![y / scale]
    });
    assert_eq!(f.explain(), "not called yet\n");
    let y = f.call(&[Tensor::new([0.0f32, 0.0])])?;
    assert_eq!(y[0].to_vec::<f32>()?, [0.5, 0.5]);
    assert_eq!(f.graph_breaks(), [format!("{}:{line}", file!())]);
    let report = f.explain();
    assert!(
        report.contains("segment 2 of 2") && report.contains(&format!("graph break: a value is read at {}:{line}", file!())),
        "{report}"
    );
    Ok(())
}

#[test]
fn a_replaced_parameter_is_seen() -> Result<()> {
    let w = Param::new("w", &Tensor::new([1.0f32, 1.0]))?;
    let f = compile({
        let w = w.clone();
        move |x: &[Tensor]| vec![&x[0] + w.tensor()]
    });
    let g = compile_pure({
        let w = w.clone();
        move |x: &[Tensor]| vec![&x[0] + w.tensor()]
    });
    let x = [Tensor::new([1.0f32, 2.0])];
    for value in [1.0f32, 5.0, 7.0] {
        w.set(&Tensor::new([value, value]))?;
        assert_eq!(f.call(&x)?[0].to_vec::<f32>()?, [1.0 + value, 2.0 + value]);
        assert_eq!(g.call(&x)?[0].to_vec::<f32>()?, [1.0 + value, 2.0 + value]);
    }
    Ok(())
}

#[test]
fn pure_serves_many_sizes_with_one_compile() -> Result<()> {
    let layer = nn::Linear::new(&nn::Vars::seeded(1), 4, 3)?;
    let f = compile_pure(move |x: &[Tensor]| vec![layer.forward(&x[0]).relu().softmax(-1)]);
    for n in 2..9 {
        let y = f.call(&[Tensor::rand([n, 4])])?;
        assert_eq!(y[0].shape(), [n, 3]);
        assert!((y[0].sum(..).item::<f32>()? - n as f32).abs() < 1e-4);
    }
    assert_eq!(f.compiled(), 1);
    f.call(&[Tensor::rand([1, 4])])?;
    assert_eq!(f.compiled(), 2, "an extent of 1 broadcasts, so it is another form");
    assert!(f.call(&[Tensor::rand([2, 5])]).unwrap_err().to_string().contains("linear at "));
    Ok(())
}

#[test]
fn pure_specialises_extents_that_are_read() -> Result<()> {
    let f = compile_pure(|x: &[Tensor]| vec![&x[0] * x[0].shape()[0] as f64]);
    assert_eq!(f.call(&[Tensor::ones([2, 2], DType::F32)])?[0].to_vec::<f32>()?, [2.0; 4]);
    assert_eq!(f.call(&[Tensor::ones([3, 2], DType::F32)])?[0].to_vec::<f32>()?, [3.0; 6]);
    assert_eq!(f.call(&[Tensor::ones([3, 5], DType::F32)])?[0].to_vec::<f32>()?, [3.0; 15]);
    Ok(())
}

#[test]
fn pure_learns_that_extents_are_equal() -> Result<()> {
    let f = compile_pure(|x: &[Tensor]| vec![&x[0] + &x[1]]);
    for n in 2..5 {
        let x = Tensor::ones([n], DType::F32);
        assert_eq!(f.call(&[x.clone(), x])?[0].to_vec::<f32>()?, vec![2.0; n]);
    }
    assert_eq!(f.compiled(), 1);
    assert!(f.call(&[Tensor::ones([2], DType::F32), Tensor::ones([3], DType::F32)]).is_err());
    Ok(())
}

#[test]
fn pure_refuses_reads_and_impurity() {
    let f = compile_pure(|x: &[Tensor]| vec![Tensor::scalar((&x[0] + 1.0).sum(..).item::<f32>().unwrap_or(0.0))]);
    assert_eq!(f.call(&[Tensor::ones([2], DType::F32)]).unwrap()[0].item::<f32>().unwrap(), 0.0, "the read fails inside");
    let count = std::sync::atomic::AtomicI64::new(0);
    let g = compile_pure(move |x: &[Tensor]| vec![&x[0] + count.fetch_add(1, std::sync::atomic::Ordering::Relaxed)]);
    let all: Vec<_> = (0..20).map(|_| g.call(&[Tensor::ones([2], DType::F32)])).collect();
    assert_eq!(all.iter().any(|r| r.is_err()), cfg!(debug_assertions), "debug builds notice");
}

#[test]
fn dropout_in_a_pure_function_draws_anew() -> Result<()> {
    let f = compile_pure(|x: &[Tensor]| vec![nn::dropout(&x[0], 0.5, true)]);
    let x = [Tensor::ones([256], DType::F32)];
    assert_ne!(f.call(&x)?[0].to_vec::<f32>()?, f.call(&x)?[0].to_vec::<f32>()?);
    Ok(())
}

#[test]
fn traces_name_ops_and_lines() -> Result<()> {
    let x = ArgSpec::new("x", DType::F32, [Sym::named("n"), 4.into()]);
    let line = line!() + 1;
    let module = trace("f", &[x], |x| vec![x[0].softmax(-1)])?;
    let ops: Vec<_> = module.graph.origins.iter().filter(|o| !o.op.is_empty()).collect();
    assert_eq!(ops.len(), 1, "{ops:?}");
    assert_eq!((ops[0].op.as_str(), ops[0].source.as_str()), ("softmax", format!("{}:{line}", file!()).as_str()));
    Ok(())
}
