//! Graphs with channels last give what they gave: exactly, on small whole numbers, whose sums are exact in any order.

use graph::{Graph, HostTensor, text};
use scalar::{DType, Scalar};
use testing::differential::interpret;

fn whole(dtype: DType, shape: &[usize], seed: usize) -> HostTensor {
    let count: usize = shape.iter().product();
    let value = |i: usize| Scalar::from_i64(dtype, ((i * 7 + i / 5 + seed) % 5) as i64 - 2);
    HostTensor::from_scalars(dtype, shape, (0..count).map(value))
}

fn inputs(graph: &Graph) -> Vec<HostTensor> {
    let shape = |s: &scalar::Shape| s.iter().map(|n| n.as_int().unwrap() as usize).collect::<Vec<_>>();
    graph.inputs.iter().enumerate().map(|(i, input)| whole(input.ty.dtype, &shape(&input.ty.shape), i)).collect()
}

fn check(body: &str) {
    let graph = text::parse("test", body).unwrap();
    let last = transform::channels_last(&graph).unwrap();
    graph::verify(&last).unwrap();
    assert_ne!(text::print(&last), text::print(&graph));
    let inputs = inputs(&graph);
    let (want, have) = (interpret(&graph, &inputs).unwrap(), interpret(&last, &inputs).unwrap());
    for (want, have) in want.iter().zip(&have) {
        assert_eq!((want.shape(), want.bytes()), (have.shape(), have.bytes()), "{}", text::print(&last));
    }
}

#[test]
fn convolutions_and_what_is_between_them() {
    check(
        "func block(x: f16[2, 8, 7, 6], w: frozen f16[16, 8, 3, 2], v: frozen f16[8, 16]) -> (y, s, h) {
  %p = view.pad %x lo [0, 0, 1, 0] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 3 stride 2 dilation 1 size 2
  %b = view.window %a axis 2 stride 1 dilation 2 size 3
  %c = contract %b, %w \"abcdef,gbfe->agcd\" acc f32
  %h = neg %c
  %y = contract %h, %v \"abcd,eb->aecd\" acc f32
  %s = reduce.sum %h [1]
  return y = %y, s = %s, h = %h
}
",
    );
}

#[test]
fn gradients_of_data_and_weights() {
    check(
        "func gradients(x: bf16[2, 8, 6, 6], w: frozen bf16[16, 8, 3, 3], dy: bf16[2, 16, 3, 3]) -> (dx, dw) {
  %p = view.pad %dy lo [0, 0, 1, 1] hi [0, 0, 2, 2] interior [0, 0, 1, 1] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %f = view.flip %w [2, 3]
  %dx = contract %b, %f \"abcdef,bgef->agcd\" acc f32
  %q = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 0, 0] interior [0, 0, 0, 0] value 0.0
  %c = view.window %q axis 2 stride 1 dilation 2 size 3
  %d = view.window %c axis 3 stride 1 dilation 2 size 3
  %dw = contract %d, %dy \"abcdef,agef->gbcd\" acc f32
  return dx = %dx, dw = %dw
}
",
    );
}
