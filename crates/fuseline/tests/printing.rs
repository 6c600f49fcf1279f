//! Text of tensors, as PyTorch prints them.

use fuseline::{DType, Tensor};

#[test]
fn small_tensors() {
    assert_eq!(Tensor::new([1.0f32, 2.5]).to_string(), "tensor([1.0000, 2.5000])");
    assert_eq!(Tensor::new([1.0f32, -2.0]).to_string(), "tensor([ 1., -2.])");
    assert_eq!(Tensor::new([[1i64, 2], [30, 4]]).to_string(), "tensor([[ 1,  2],\n        [30,  4]])");
    assert_eq!(Tensor::new([true, false]).to_string(), "tensor([ True, False])");
    assert_eq!(Tensor::scalar(3.5).to_string(), "tensor(3.5000)");
    assert_eq!(Tensor::new([f32::NAN, 1.0, f32::INFINITY]).to_string(), "tensor([nan, 1., inf])");
    assert_eq!(Tensor::new([1.0f64]).to_string(), "tensor([1.], dtype=f64)");
    assert_eq!(Tensor::zeros([0], DType::F32).to_string(), "tensor([])");
    assert_eq!(Tensor::zeros([2, 0], DType::I32).to_string(), "tensor([], size=[2, 0], dtype=i32)");
    assert_eq!(Tensor::new([1e-5f32, 1.0]).to_string(), "tensor([1.0000e-05, 1.0000e+00])");
    assert_eq!(Tensor::new([1.0f32, 2000.0]).to_string(), "tensor([1.0000e+00, 2.0000e+03])");
}

#[test]
fn three_dims_have_a_blank_line() {
    let text = Tensor::arange(0, 4, 1).reshape([2, 1, 2]).to_string();
    assert_eq!(text, "tensor([[[0, 1]],\n\n        [[2, 3]]])");
}

#[test]
fn long_tensors_are_shortened() {
    assert_eq!(Tensor::arange(0, 2000, 1).to_string(), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])");
    let text = Tensor::zeros([100, 100], DType::F32).to_string();
    assert_eq!(text.lines().count(), 7);
    assert_eq!(text.lines().nth(3).unwrap().trim(), "...,");
}

#[test]
fn lines_wrap_at_80_columns() {
    let text = Tensor::arange(0, 40, 1).to_string();
    assert!(text.lines().all(|l| l.len() <= 80), "{text}");
    assert!(text.lines().count() > 1);
}

#[test]
fn debug_does_not_evaluate() {
    let x = Tensor::new([1.0f32]);
    assert_eq!(format!("{x:?}"), "Tensor(f32[1])");
    let y = x.exp();
    assert!(format!("{y:?}").starts_with("Tensor(f32[1], lazy: exp at "));
    assert!(format!("{:?}", y.reshape([2])).starts_with("Tensor(poisoned: reshape at "));
    assert!(y.reshape([2]).to_string().starts_with("tensor(error: reshape at "));
}
