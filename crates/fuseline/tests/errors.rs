//! Mistakes surface when a value is read, with op, types and the line of the call.

use fuseline::{DType, ErrorKind, Tensor, einsum};

fn message(t: &Tensor) -> String {
    let error = t.to_vec::<f32>().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid, "{error}");
    error.to_string()
}

#[test]
fn names_op_shapes_dtypes_and_line() {
    let a = Tensor::ones([2, 3], DType::F32);
    let b = Tensor::ones([4], DType::I64);
    let line = line!() + 1;
    let bad = &a + &b;
    let text = message(&bad.exp().sum(..));
    assert!(text.starts_with(&format!("add at {}:{line}: ", file!())), "{text}");
    assert!(text.contains("[2, 3]") && text.contains("[4]"), "{text}");
}

#[test]
fn the_first_mistake_wins() {
    let a = Tensor::ones([2], DType::F32);
    let first = a.reshape([3]);
    let second = &first + a.matmul(&Tensor::ones([5], DType::F32));
    assert!(message(&second).starts_with("reshape at "), "{}", message(&second));
    assert!(message(&first.softmax(7)).starts_with("reshape at "));
}

#[test]
fn operators_and_methods_alike() {
    let line = line!() + 1;
    let text = message(&(2.0 * Tensor::ones([2], DType::F32) - Tensor::ones([3], DType::F32)));
    assert!(text.starts_with(&format!("sub at {}:{line}: ", file!())), "{text}");
}

#[test]
fn each_kind_of_mistake_is_an_error() {
    let m = Tensor::ones([2, 3], DType::F32);
    let i = Tensor::ones([2, 3], DType::I64);
    for (op, bad) in [
        ("matmul", m.matmul(&m)),
        ("mm", m.mm(&Tensor::ones([3], DType::F32))),
        ("sum", m.sum(2)),
        ("sum", m.sum([0, 0])),
        ("mean", i.mean(..)),
        ("softmax", m.softmax(5)),
        ("reshape", m.reshape([4, -1])),
        ("reshape", m.reshape([-1, -1])),
        ("expand", m.expand([4, 3])),
        ("permute", m.permute([0, 0])),
        ("index", m.i(2)),
        ("index", m.i((0, 0, 0))),
        ("narrow", m.narrow(0, 1, 2)),
        ("gather", m.gather(0, &m)),
        ("where", m.where_(&m, 0.0)),
        ("cat", fuseline::cat(&[m.clone(), Tensor::ones([2], DType::F32)], 0)),
        ("cat", fuseline::cat::<Tensor>(&[], 0)),
        ("topk", m.topk(4, 1, true).0),
        ("einsum", einsum("ij,jk->ik", &[&m, &m])),
        ("einsum", einsum("ij", &[&m, &m])),
        ("argmax", Tensor::zeros([0, 2], DType::F32).argmax(0)),
        ("neg", -Tensor::new([true])),
        ("conv2d", fuseline::nn::conv2d(&m, &m, None, Default::default())),
        ("arange", Tensor::arange(0, 5, 0)),
        ("zeros", Tensor::zeros([-1], DType::F32)),
    ] {
        let text = message(&bad);
        assert!(text.starts_with(&format!("{op} at {}:", file!())), "{op}: {text}");
    }
}

#[test]
fn results_of_several_are_poisoned_together() {
    let (values, indices) = Tensor::ones([2], DType::F32).max(3);
    assert!(values.check().is_err() && indices.check().is_err());
    assert!(Tensor::ones([2], DType::F32).split(0, 0)[0].check().is_err());
}

#[test]
fn item_needs_one_element() {
    let error = Tensor::ones([2], DType::F32).item::<f32>().unwrap_err();
    assert!(error.to_string().contains("f32[2]"), "{error}");
}
