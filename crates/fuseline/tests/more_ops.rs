//! Ops made of others, against values computed by hand or by f64.

use fuseline::{DType, Result, Tensor, meshgrid};

fn close(got: &Tensor, want: &[f64]) {
    let got = got.to_vec::<f64>().unwrap();
    assert_eq!(got.len(), want.len(), "{got:?} {want:?}");
    for (g, w) in got.iter().zip(want) {
        let same = g == w || (g.is_nan() && w.is_nan()) || (g - w).abs() <= 2e-6 * w.abs().max(1.0);
        assert!(same, "{got:?} is not {want:?}");
    }
}

#[test]
fn functions_of_one_operand() {
    let values = [-2.5f32, -0.75, 0.0, 0.25, 1.0, 3.5];
    let x = Tensor::new(values);
    let each = |f: &dyn Fn(f64) -> f64| values.iter().map(|&v| f(f64::from(v))).collect::<Vec<_>>();
    close(&x.log10(), &each(&f64::log10));
    close(&x.asinh(), &each(&f64::asinh));
    close(&x.acosh(), &each(&f64::acosh));
    close(&x.atanh(), &each(&f64::atanh));
    close(&x.frac(), &each(&f64::fract));
    close(&x.log_sigmoid(), &each(&|v| -(-v).exp().ln_1p()));
    close(&x.tanhshrink(), &each(&|v| v - v.tanh()));
    close(&x.deg2rad(), &each(&f64::to_radians));
    close(&x.sinc(), &each(&|v| if v == 0.0 { 1.0 } else { (v * std::f64::consts::PI).sin() / (v * std::f64::consts::PI) }));
    close(&x.celu(2.0), &each(&|v| if v > 0.0 { v } else { 2.0 * (v / 2.0).exp_m1() }));
    close(&x.hardshrink(0.5), &each(&|v| if v.abs() > 0.5 { v } else { 0.0 }));
    close(&x.softshrink(0.5), &each(&|v| v.signum() * (v.abs() - 0.5).max(0.0)));
    close(&x.threshold(0.3, 9), &each(&|v| if v > 0.3 { v } else { 9.0 }));
    close(&x.hardtanh(-1.0, 1.0), &each(&|v| v.clamp(-1.0, 1.0)));
    close(&Tensor::new([0.25f32]).logit(), &[(0.25f64 / 0.75).ln()]);
    close(&x.glu(0), &[-2.5 * sigmoid(0.25), -0.75 * sigmoid(1.0), 0.0]);
    assert!(Tensor::new([1.0f32; 3]).glu(0).check().unwrap_err().to_string().contains("must be even"));
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[test]
fn functions_of_two_operands() {
    let inf = f32::INFINITY;
    let (a, b) = (Tensor::new([3.0f32, 1e30, 0.0, inf, -1.0]), Tensor::new([4.0f32, 1e30, 0.0, 1.0, inf]));
    close(&a.hypot(&b), &[5.0, f64::from(1e30f32) * 2f64.sqrt(), 0.0, f64::INFINITY, f64::INFINITY]);
    let (a, b) = (Tensor::new([1.0f32, 1000.0, -inf, inf]), Tensor::new([2.0f32, 999.0, -inf, inf]));
    close(&a.logaddexp(&b), &[(1f64.exp() + 2f64.exp()).ln(), 1000.0 + (-1f64).exp().ln_1p(), f64::NEG_INFINITY, f64::INFINITY]);
    let (a, b) = (Tensor::new([0.0f32, 0.0, 2.0]), Tensor::new([0.0f32, f32::NAN, 3.0]));
    close(&a.xlogy(&b), &[0.0, f64::NAN, 2.0 * 3f64.ln()]);
    let x = Tensor::new([1.0f32, 2.0]);
    close(&x.addcmul(&x, &x, 3), &[4.0, 14.0]);
    close(&x.addcdiv(&x, &x, 0.5), &[1.5, 2.5]);
    close(&Tensor::new([f32::NAN, inf, -inf, 1.0]).nan_to_num(7.0), &[7.0, f64::from(f32::MAX), f64::from(f32::MIN), 1.0]);
    close(&x.cosine_similarity(&Tensor::new([2.0f32, 1.0]), 0, 1e-8), &[0.8]);
}

#[test]
fn comparisons() -> Result<()> {
    let x = Tensor::new([1.0f32, f32::INFINITY, f32::NAN, 2.0]);
    let y = Tensor::new([1.0f32 + 1e-6, f32::INFINITY, f32::NAN, f32::INFINITY]);
    assert_eq!(x.isclose(&y, 1e-5, 1e-8).to_vec::<bool>()?, [true, true, false, false]);
    assert!(!x.equal(&x)? && y.i(..2).equal(&y.i(..2))? && !y.i(..2).equal(&y.i(..1))?);
    assert!(x.i(..2).allclose(&y.i(..2), 1e-5, 1e-8)?);
    Ok(())
}

#[test]
fn arrangements() -> Result<()> {
    let x = Tensor::arange(0, 24, 1).reshape([2, 3, 4]);
    assert_eq!(x.movedim(0, -1).shape(), [3, 4, 2]);
    assert!(x.movedim(2, 0).equal(&x.permute([2, 0, 1]))?);
    assert_eq!(x.unbind(1).len(), 3);
    assert_eq!(x.unbind(1)[1].to_vec::<i64>()?, [4, 5, 6, 7, 16, 17, 18, 19]);
    assert_eq!(x.diagonal(0).to_vec::<i64>()?, [0, 5, 10, 12, 17, 22]);
    assert_eq!(x.diagonal(2).to_vec::<i64>()?, [2, 7, 14, 19]);
    assert_eq!(x.diagonal(-1).to_vec::<i64>()?, [4, 9, 16, 21]);
    assert_eq!(x.diagonal(9).shape(), [2, 0]);
    let nan = Tensor::new([[1.0f32, f32::NAN], [f32::INFINITY, 2.0]]);
    assert_eq!(nan.diagonal(0).to_vec::<f32>()?, [1.0, 2.0], "what is off the diagonal does not matter");
    assert_eq!(nan.trace().item::<f32>()?, 3.0);
    assert_eq!(Tensor::new([1i64, 2]).diag().to_vec::<i64>()?, [1, 0, 0, 2]);
    assert_eq!(Tensor::new([1i64, 4, 9]).diff(0).to_vec::<i64>()?, [3, 5]);
    let m = Tensor::new([[1i64, 2], [3, 4]]);
    assert_eq!(m.rot90(1, 0, 1).to_vec::<i64>()?, [2, 4, 1, 3]);
    assert_eq!(m.rot90(-1, 0, 1).to_vec::<i64>()?, [3, 1, 4, 2]);
    assert_eq!(m.rot90(2, 0, 1).to_vec::<i64>()?, [4, 3, 2, 1]);
    assert_eq!(m.take_along_dim(&Tensor::new([[1i64], [0]]), 1).to_vec::<i64>()?, [2, 3]);
    assert_eq!(m.mv(&Tensor::new([1i64, 1])).to_vec::<i64>()?, [3, 7]);
    let grid = meshgrid(&[Tensor::new([1i64, 2]), Tensor::new([5i64, 6, 7])]);
    assert_eq!(grid[0].to_vec::<i64>()?, [1, 1, 1, 2, 2, 2]);
    assert_eq!(grid[1].to_vec::<i64>()?, [5, 6, 7, 5, 6, 7]);
    assert_eq!((m.float().dtype(), m.half().dtype(), m.bfloat16().dtype()), (DType::F32, DType::F16, DType::BF16));
    assert_eq!(m.full_like(7).to_vec::<i64>()?, [7; 4]);
    assert_eq!(m.float().rand_like().shape(), [2, 2]);
    Ok(())
}

#[test]
fn reductions_and_scatter() -> Result<()> {
    let x = Tensor::new([1.0f32, f32::NAN, 0.0, 5.0]);
    assert_eq!((x.count_nonzero(..).item::<i64>()?, x.nansum(..).item::<f32>()?, x.nanmean(..).item::<f32>()?), (3, 6.0, 2.0));
    let (low, high) = Tensor::new([[3i64, 1], [2, 9]]).aminmax(1);
    assert_eq!((low.to_vec::<i64>()?, high.to_vec::<i64>()?), (vec![1, 2], vec![3, 9]));
    let (var, mean) = Tensor::new([1.0f32, 3.0]).var_mean(..);
    assert_eq!((var.item::<f32>()?, mean.item::<f32>()?), (2.0, 2.0));
    let (at, src) = (Tensor::new([0i64, 0, 1]), Tensor::new([2i64, 3, 4]));
    let base = Tensor::new([1i64, 1]);
    for (how, want) in [("sum", [6, 5]), ("prod", [6, 4]), ("amax", [3, 4]), ("amin", [1, 1])] {
        assert_eq!(base.scatter_reduce(0, &at, &src, how).to_vec::<i64>()?, want, "{how}");
    }
    Ok(())
}
