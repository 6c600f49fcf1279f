//! Values of ops, computed by hand or with PyTorch.

use std::f64::consts::LN_2;

use fuseline::{DType, NewAxis, Result, Tensor, cat, einsum, stack, where_};

fn close(t: &Tensor, want: &[f64]) {
    let got = t.to_vec::<f64>().unwrap();
    assert_eq!(got.len(), want.len(), "{got:?} against {want:?}");
    for (g, w) in got.iter().zip(want) {
        assert!((g - w).abs() <= 1e-5 * w.abs().max(1.0) || g == w || g.is_nan() && w.is_nan(), "{got:?} against {want:?}");
    }
}

fn m() -> Tensor {
    Tensor::new([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]])
}

#[test]
fn arithmetic_broadcasts() -> Result<()> {
    let row = Tensor::new([10.0f32, 20.0, 30.0]);
    let col = Tensor::new([[1.0f32], [2.0]]);
    close(&(m() + &row), &[11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
    close(&(&row - &col), &[9.0, 19.0, 29.0, 8.0, 18.0, 28.0]);
    close(&(2.0 * m() / 4), &[0.5, 1.0, 1.5, 2.0, 2.5, 3.0]);
    close(&(1.0 - m()), &[0.0, -1.0, -2.0, -3.0, -4.0, -5.0]);
    assert_eq!((Tensor::new([-7i64, 7]) % 3).to_vec::<i64>()?, [2, 1]);
    assert_eq!(Tensor::new([-7i64, 7]).fmod(3).to_vec::<i64>()?, [-1, 1]);
    assert_eq!(Tensor::new([-7i64, 7]).floor_divide(2).to_vec::<i64>()?, [-4, 3]);
    assert_eq!(Tensor::new([2i64, 3]).pow(3).to_vec::<i64>()?, [8, 27]);
    close(&(-m()).abs().sign(), &[1.0; 6]);
    Ok(())
}

#[test]
fn unary_math() {
    let x = Tensor::new([-1.0f32, 0.5, 2.0]);
    close(&x.exp(), &[0.367879, 1.648721, 7.389056]);
    close(&x.log(), &[f64::NAN, -LN_2, LN_2]);
    close(&x.tanh(), &[-0.761594, 0.462117, 0.964028]);
    close(&x.sigmoid(), &[0.268941, 0.622459, 0.880797]);
    close(&x.erf(), &[-0.842701, 0.520500, 0.995322]);
    close(&x.gelu(), &[-0.158655, 0.345731, 1.954500]);
    close(&x.gelu_tanh(), &[-0.158808, 0.345714, 1.954598]);
    close(&x.silu(), &[-0.268941, 0.311230, 1.761594]);
    close(&x.relu(), &[0.0, 0.5, 2.0]);
    close(&x.clamp(-0.5, 1.0), &[-0.5, 0.5, 1.0]);
    close(&x.clamp_min(0), &[0.0, 0.5, 2.0]);
    close(&Tensor::new([0.5f32, 1.5, -2.5]).round(), &[0.0, 2.0, -2.0]);
    close(&Tensor::new([1.7f32, -1.7]).trunc(), &[1.0, -1.0]);
    close(&Tensor::new([4i64, 9]).sqrt(), &[2.0, 3.0]);
}

#[test]
fn predicates_and_where() -> Result<()> {
    let x = Tensor::new([1.0f32, f32::NAN, f32::INFINITY]);
    assert_eq!(x.isnan().to_vec::<bool>()?, [false, true, false]);
    assert_eq!(x.isinf().to_vec::<bool>()?, [false, false, true]);
    assert_eq!(x.isfinite().to_vec::<bool>()?, [true, false, false]);
    assert_eq!(Tensor::new([1i64, 2]).isnan().to_vec::<bool>()?, [false, false]);
    let even = (Tensor::arange(0, 4, 1) % 2).eq(0);
    assert_eq!(where_(&even, 1, -1).to_vec::<i64>()?, [1, -1, 1, -1]);
    close(&m().masked_fill(&m().gt(4.0), f32::NEG_INFINITY), &[1.0, 2.0, 3.0, 4.0, f64::NEG_INFINITY, f64::NEG_INFINITY]);
    assert_eq!((even.clone() | even.logical_not()).to_vec::<bool>()?, [true; 4]);
    Ok(())
}

#[test]
fn reductions() -> Result<()> {
    close(&m().sum(..), &[21.0]);
    close(&m().sum(0), &[5.0, 7.0, 9.0]);
    close(&m().mean(-1), &[2.0, 5.0]);
    assert_eq!(m().sum_keepdim(-1).shape(), [2, 1]);
    close(&m().var(-1), &[1.0, 1.0]);
    close(&m().std(..), &[1.870829]);
    close(&m().var_with(.., 0, false), &[2.916667]);
    close(&m().prod(1), &[6.0, 120.0]);
    close(&m().amax([0, 1]), &[6.0]);
    assert_eq!(m().argmax(..).item::<i64>()?, 5);
    assert_eq!(Tensor::new([[3.0f32, 3.0], [1.0, 2.0]]).argmax(1).to_vec::<i64>()?, [0, 1]);
    let (v, i) = m().min(0);
    close(&v, &[1.0, 2.0, 3.0]);
    assert_eq!(i.to_vec::<i64>()?, [0, 0, 0]);
    assert!(m().gt(5.5).any(..).item::<bool>()?);
    assert_eq!(m().gt(1.5).all(1).to_vec::<bool>()?, [false, true]);
    assert_eq!(Tensor::new([true, true, false]).sum(..).item::<i64>()?, 2);
    close(&Tensor::zeros([0], DType::F32).sum(..), &[0.0]);
    close(&Tensor::zeros([0], DType::F32).mean(..), &[f64::NAN]);
    Ok(())
}

#[test]
fn softmax_and_scans() {
    close(&Tensor::new([1.0f32, 2.0, 3.0]).softmax(0), &[0.0900306, 0.2447285, 0.6652410]);
    close(&Tensor::new([1000.0f32, 1000.0]).log_softmax(0), &[-LN_2, -LN_2]);
    close(&Tensor::new([1.0f32, 2.0, 3.0]).logsumexp(0), &[3.407606]);
    close(&m().cumsum(1), &[1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
    close(&Tensor::new([1i64, 2, 3, 4]).cumprod(0), &[1.0, 2.0, 6.0, 24.0]);
    close(&Tensor::new([3.0f32, 4.0]).norm(..), &[5.0]);
}

#[test]
fn products() {
    let a = Tensor::new([[1.0f32, 2.0], [3.0, 4.0]]);
    let b = Tensor::new([[5.0f32, 6.0], [7.0, 8.0]]);
    close(&a.matmul(&b), &[19.0, 22.0, 43.0, 50.0]);
    close(&a.matmul(&Tensor::new([1.0f32, -1.0])), &[-1.0, -1.0]);
    close(&Tensor::new([1.0f32, 2.0]).dot(&Tensor::new([3.0f32, 4.0])), &[11.0]);
    close(&Tensor::new([1.0f32, 2.0]).outer(&Tensor::new([3.0f32, 4.0])), &[3.0, 4.0, 6.0, 8.0]);
    let batch = stack(&[a.clone(), b.clone()], 0);
    close(&batch.bmm(&batch), &[7.0, 10.0, 15.0, 22.0, 67.0, 78.0, 91.0, 106.0]);
    close(&einsum("ij,jk->ki", &[&a, &b]), &[19.0, 43.0, 22.0, 50.0]);
    close(&einsum("ij,ij", &[&a, &b]), &[70.0]);
    close(&einsum("ij,jk,kl->il", &[&a, &b, &a]), &[85.0, 126.0, 193.0, 286.0]);
    close(&einsum("ij->ji", &[&a]), &[1.0, 3.0, 2.0, 4.0]);
    close(&einsum("ij->j", &[&a]), &[4.0, 6.0]);
    close(&Tensor::ones([2, 2], DType::F32).addmm(&a, &b), &[20.0, 23.0, 44.0, 51.0]);
    assert_eq!(Tensor::new([[1i64, 2], [3, 4]]).matmul(&Tensor::new([[1i64], [1]])).to_vec::<i64>().unwrap(), [3, 7]);
}

#[test]
fn layout() -> Result<()> {
    let x = Tensor::arange(0, 24, 1).reshape([2, 3, 4]);
    assert_eq!(x.reshape([4, -1]).shape(), [4, 6]);
    assert_eq!(x.flatten([1, 2]).shape(), [2, 12]);
    assert_eq!(x.flatten(..).shape(), [24]);
    assert_eq!(x.unflatten(-1, [2, -1]).shape(), [2, 3, 2, 2]);
    assert_eq!(x.permute([2, 0, 1]).shape(), [4, 2, 3]);
    assert_eq!(x.transpose(0, -1).i((0, 0)).to_vec::<i64>()?, [0, 12]);
    assert_eq!(x.unsqueeze(-1).shape(), [2, 3, 4, 1]);
    assert_eq!(x.unsqueeze(0).squeeze(..).shape(), [2, 3, 4]);
    assert_eq!(x.i((1, .., 1..3)).to_vec::<i64>()?, [13, 14, 17, 18, 21, 22]);
    assert_eq!(x.i((-1, 2, -1)).item::<i64>()?, 23);
    assert_eq!(x.i((.., NewAxis, 0)).shape(), [2, 1, 4]);
    assert_eq!(x.i((0, 0, ..=1)).to_vec::<i64>()?, [0, 1]);
    assert_eq!(x.slice(2, 1, i64::MAX, 2).i((0, 0)).to_vec::<i64>()?, [1, 3]);
    assert_eq!(x.narrow(1, 1, 2).shape(), [2, 2, 4]);
    assert_eq!(x.i((0, 0)).flip(0).to_vec::<i64>()?, [3, 2, 1, 0]);
    assert_eq!(x.i((0, 0)).roll(1, 0).to_vec::<i64>()?, [3, 0, 1, 2]);
    assert_eq!(x.i((0, 0)).pad(&[1, -2], 9).to_vec::<i64>()?, [9, 0, 1]);
    assert_eq!(Tensor::new([1i64, 2]).repeat(&[2, 2]).to_vec::<i64>()?, [1, 2, 1, 2, 1, 2, 1, 2]);
    assert_eq!(Tensor::new([1i64, 2]).repeat_interleave(2, 0).to_vec::<i64>()?, [1, 1, 2, 2]);
    assert_eq!(Tensor::new([[1i64], [2]]).expand([2, 2]).to_vec::<i64>()?, [1, 1, 2, 2]);
    assert_eq!(Tensor::new([1i64, 2]).expand([3, -1]).shape(), [3, 2]);
    let parts = x.split(2, 1);
    assert_eq!(parts.iter().map(|p| p.shape()[1]).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(x.chunk(4, 2).len(), 4);
    assert_eq!(x.split_with_sizes(&[1, 3], 2)[1].shape(), [2, 3, 3]);
    assert_eq!(cat(&[Tensor::new([1i64]), Tensor::new([2i64, 3])], 0).to_vec::<i64>()?, [1, 2, 3]);
    assert_eq!(stack(&[Tensor::new([1i64, 2]), Tensor::new([3i64, 4])], 1).to_vec::<i64>()?, [1, 3, 2, 4]);
    assert_eq!(cat(&[Tensor::new([1i64]), Tensor::new([2.5f32])], 0).dtype(), DType::F32);
    Ok(())
}

#[test]
fn indexing() -> Result<()> {
    let x = Tensor::new([[1i64, 2], [3, 4], [5, 6]]);
    let rows = Tensor::new([2i64, -3]);
    assert_eq!(x.index_select(0, &rows).to_vec::<i64>()?, [5, 6, 1, 2]);
    assert_eq!(x.gather(1, &Tensor::new([[0i64], [1], [0]])).to_vec::<i64>()?, [1, 4, 5]);
    assert_eq!(x.scatter(0, &Tensor::new([[1i64, 2]]), 0).to_vec::<i64>()?, [1, 2, 0, 4, 5, 0]);
    let index = Tensor::new([0i64, 0, 2]);
    assert_eq!(Tensor::zeros([3], DType::I64).scatter_add(0, &index, &Tensor::new([1i64, 2, 3])).to_vec::<i64>()?, [3, 0, 3]);
    let add = Tensor::zeros([3, 2], DType::I64).index_add(0, &Tensor::new([1i64, 1]), &Tensor::new([[1i64, 2], [3, 4]]));
    assert_eq!(add.to_vec::<i64>()?, [0, 0, 4, 6, 0, 0]);
    assert_eq!(Tensor::new([1i64, 0]).one_hot(3).to_vec::<i64>()?, [0, 1, 0, 1, 0, 0]);
    assert_eq!(Tensor::ones([3, 3], DType::I64).tril(0).to_vec::<i64>()?, [1, 0, 0, 1, 1, 0, 1, 1, 1]);
    assert_eq!(Tensor::ones([3, 3], DType::I64).triu(1).to_vec::<i64>()?, [0, 1, 1, 0, 0, 1, 0, 0, 0]);
    let line = line!() + 1;
    let outside = x.index_select(0, &Tensor::new([3i64])).to_vec::<i64>().unwrap_err().to_string();
    assert!(
        outside.contains("index_select") && outside.contains(&format!("ops.rs:{line}")) && outside.contains('3'),
        "{outside}"
    );
    Ok(())
}

#[test]
fn ordering() -> Result<()> {
    let x = Tensor::new([3.0f32, f32::NAN, 1.0, 2.0]);
    let (v, i) = x.sort(0, false);
    close(&v, &[1.0, 2.0, 3.0, f64::NAN]);
    assert_eq!(i.to_vec::<i64>()?, [2, 3, 0, 1]);
    assert_eq!(Tensor::new([1i64, 1, 0]).argsort(0, true).to_vec::<i64>()?, [0, 1, 2]);
    let (v, i) = Tensor::new([5i64, 9, 7]).topk(2, 0, true);
    assert_eq!((v.to_vec::<i64>()?, i.to_vec::<i64>()?), (vec![9, 7], vec![1, 2]));
    Ok(())
}

#[test]
fn creation() -> Result<()> {
    assert_eq!(Tensor::eye(2, DType::F32).to_vec::<f32>()?, [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(Tensor::linspace(0.0, 1.0, 3).to_vec::<f32>()?, [0.0, 0.5, 1.0]);
    assert_eq!(Tensor::full([2], 7).to_vec::<i64>()?, [7, 7]);
    assert_eq!(Tensor::scalar(2.5).item::<f32>()?, 2.5);
    assert_eq!(Tensor::from_slice(&[1u8, 2], [2, 1]).dtype(), DType::U8);
    assert!(Tensor::from_slice(&[1u8, 2], [3]).check().is_err());
    assert!(Tensor::new(vec![vec![1i64, 2], vec![3]]).check().unwrap_err().to_string().contains("ragged"));
    assert_eq!(Tensor::new(vec![1.0f32; 3]).shape(), [3]);
    assert_eq!(Tensor::zeros([2, 0], DType::F32).numel(), 0);
    Ok(())
}

#[test]
fn random_is_seeded_and_plausible() -> Result<()> {
    let g = fuseline::Generator::new(7);
    let a = g.randn([10_000], DType::F32).to_vec::<f32>()?;
    g.manual_seed(7);
    assert_eq!(a, g.randn([10_000], DType::F32).to_vec::<f32>()?);
    assert_ne!(a, g.randn([10_000], DType::F32).to_vec::<f32>()?);
    let mean = a.iter().sum::<f32>() / a.len() as f32;
    let var = a.iter().map(|v| v * v).sum::<f32>() / a.len() as f32;
    assert!(mean.abs() < 0.05 && (var - 1.0).abs() < 0.05, "mean {mean}, variance {var}");
    let u = g.rand([10_000], DType::F16).to_vec::<f32>()?;
    assert!(u.iter().all(|v| (0.0..1.0).contains(v)));
    let n = g.randint(-2, 3, [1000]).to_vec::<i64>()?;
    assert_eq!((n.iter().min(), n.iter().max()), (Some(&-2), Some(&2)));
    Ok(())
}
