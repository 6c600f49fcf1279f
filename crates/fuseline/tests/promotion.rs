//! Result dtypes against PyTorch's rules (`torch.result_type`).

use fuseline::{DType, Operand, Tensor};

use DType::{BF16, Bool, F16, F32, F64, I16, I32, I64, U8};

fn wide(dtype: DType) -> Tensor {
    Tensor::ones([2], dtype)
}
fn narrow(dtype: DType) -> Tensor {
    Tensor::ones((), dtype)
}
fn sum(a: Tensor, b: impl Into<Operand>) -> DType {
    let sum = a + b;
    sum.check().unwrap();
    sum.dtype()
}

#[test]
fn tensors_with_tensors() {
    let table = [
        (Bool, Bool, Bool),
        (Bool, U8, U8),
        (U8, I16, I16),
        (U8, I64, I64),
        (I32, I64, I64),
        (I64, F16, F16),
        (F16, BF16, F32),
        (F16, F32, F32),
        (BF16, F64, F64),
        (Bool, F16, F16),
        (I32, F32, F32),
    ];
    for (a, b, want) in table {
        assert_eq!(sum(wide(a), wide(b)), want, "{a} + {b}");
        assert_eq!(sum(wide(b), wide(a)), want, "{b} + {a}");
    }
    assert_eq!(sum(wide(DType::I8), wide(U8)), I16);
}

#[test]
fn zero_dim_tensors_lift_only_the_kind() {
    assert_eq!(sum(wide(F32), narrow(F64)), F32);
    assert_eq!(sum(wide(F16), narrow(F32)), F16);
    assert_eq!(sum(wide(I32), narrow(I64)), I32);
    assert_eq!(sum(wide(I64), narrow(F64)), F64);
    assert_eq!(sum(wide(Bool), narrow(I32)), I32);
    assert_eq!(sum(narrow(F32), narrow(F64)), F64);
}

#[test]
fn numbers_are_weakest() {
    assert_eq!(sum(wide(F16), 1.5), F16);
    assert_eq!(sum(wide(F64), 1), F64);
    assert_eq!(sum(wide(I32), 1), I32);
    assert_eq!(sum(wide(U8), 1.0f32), F32);
    assert_eq!(sum(wide(Bool), 1), I64);
    assert_eq!(sum(wide(Bool), true), Bool);
    assert_eq!(sum(narrow(BF16), 1.0), BF16);
    assert_eq!(sum(narrow(I32), 1), I32);
    assert_eq!(sum(narrow(I64), 0.5), F32);
}

#[test]
fn ops_that_change_the_dtype() {
    assert_eq!((wide(I64) / 2).dtype(), F32);
    assert_eq!((wide(F16) / wide(I64)).dtype(), F16);
    assert_eq!(wide(I32).exp().dtype(), F32);
    assert_eq!(wide(I32).sum(..).dtype(), I64);
    assert_eq!(wide(Bool).cumsum(0).dtype(), I64);
    assert_eq!(wide(F16).sum(..).dtype(), F16);
    assert_eq!(wide(F16).lt(1).dtype(), Bool);
    assert_eq!(wide(U8).floor().dtype(), U8);
    assert_eq!(wide(I64).softmax(0).dtype(), F32);
}

#[test]
fn a_number_is_rounded_once() {
    let third = (Tensor::zeros([1], F64) + 1.0 / 3.0).to_vec::<f64>().unwrap();
    assert_eq!(third, [1.0 / 3.0]);
}
