//! Laziness: long chains, shared work, threads.

use std::thread;

use fuseline::{DType, Generator, Mode, Param, Result, Tensor, eval_all, nn, set_mode};

#[test]
fn a_long_chain_neither_overflows_nor_leaks() -> Result<()> {
    let work = || -> Result<f64> {
        let mut x = Tensor::zeros([2], DType::F64);
        for _ in 0..100_000 {
            x = x + 1.0;
        }
        x.sum(..).item::<f64>()
    };
    // Recursion over the chain would need several times this stack.
    let total = thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap()?;
    assert_eq!(total, 200_000.0);
    Ok(())
}

#[test]
fn a_long_chain_is_dropped_without_recursion() {
    let work = || {
        let x = Tensor::zeros([2], DType::F32);
        // Below the length at which chains evaluate themselves, many times over.
        for _ in 0..100 {
            let mut y = x.clone();
            for _ in 0..2000 {
                y = y.sin();
            }
        }
    };
    thread::Builder::new().stack_size(128 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn held_values_are_kept() -> Result<()> {
    let g = Generator::new(1);
    let x = Tensor::ones([1000], DType::F32);
    let dropped = nn::dropout_with(&x, 0.5, true, &g);
    let twice = &dropped * 2.0;
    // Evaluating `twice` evaluates `dropped` too, once: both must agree on what was dropped.
    let (a, b) = (twice.to_vec::<f32>()?, dropped.to_vec::<f32>()?);
    assert!(a.iter().zip(&b).all(|(a, b)| *a == 2.0 * b));
    Ok(())
}

#[test]
fn dropout_draws_anew_per_execution_and_scales() -> Result<()> {
    let g = Generator::new(3);
    let x = Tensor::ones([10_000], DType::F32);
    let first = nn::dropout_with(&x, 0.25, true, &g).to_vec::<f32>()?;
    let second = nn::dropout_with(&x, 0.25, true, &g).to_vec::<f32>()?;
    assert_ne!(first, second);
    let kept = first.iter().filter(|v| **v != 0.0).count();
    assert!((7200..7800).contains(&kept), "{kept} kept");
    assert!(first.iter().all(|v| *v == 0.0 || (*v - 4.0 / 3.0).abs() < 1e-6));
    let both = [nn::dropout_with(&x, 0.5, true, &g), nn::dropout_with(&x, 0.5, true, &g)];
    eval_all(&both)?;
    assert_ne!(both[0].to_vec::<f32>()?, both[1].to_vec::<f32>()?, "two dropouts of one run must differ");
    Ok(())
}

#[test]
fn tensors_cross_threads() -> Result<()> {
    fn shared<T: Send + Sync>() {}
    shared::<Tensor>();
    shared::<Param>();
    let x = Tensor::arange(0, 1000, 1).to_dtype(DType::F32).reshape([10, 100]);
    let y = (&x * 2.0).sum(-1);
    let results: Vec<Vec<f32>> = thread::scope(|s| {
        let handles: Vec<_> = (0..4)
            .map(|k| {
                s.spawn({
                    let y = y.clone();
                    move || (y + k).to_vec::<f32>()
                })
            })
            .collect();
        handles.into_iter().map(|h| h.join().unwrap().unwrap()).collect()
    });
    for (k, r) in results.iter().enumerate() {
        assert_eq!(r[0], 9900.0 + k as f32);
    }
    Ok(())
}

#[test]
fn eager_mode_gives_the_same_values() -> Result<()> {
    let f = || (Tensor::new([0.1f32, 0.7, -3.0]).exp() * 3.0 + 1.0).tanh().to_vec::<f32>();
    let fused = f()?;
    let _mode = set_mode(Mode::Eager);
    let eager = f()?;
    assert_eq!(fused, eager);
    Ok(())
}

#[test]
fn params_are_late_bound_and_checked() -> Result<()> {
    let p = Param::new("w", &Tensor::new([1.0f32, 2.0]))?;
    let y = p.tensor() + 1.0;
    p.set(&Tensor::new([5.0f32, 6.0]))?;
    assert_eq!(y.to_vec::<f32>()?, [6.0, 7.0]);
    let error = p.set(&Tensor::new([1.0f32])).unwrap_err().to_string();
    assert!(error.contains("f32[2]") && error.contains("f32[1]"), "{error}");
    Ok(())
}
