//! What is computed once, at load, and shared by all calls.

use std::sync::Arc;

use base::Config;
use driver::{HostTensor, Module, compile};
use graph::{At, Builder, Frozen, NodeId, WriteCombine};
use scalar::{Combiner, DType, Scalar, ScalarOp};

const WIDTH: usize = 6;

/// Adds `x[3]` to the first elements of a value made by `start` from a frozen input of ones; returns two calls' results.
fn added_twice(start: impl FnOnce(&mut Builder, NodeId) -> NodeId) -> [Vec<f64>; 2] {
    let mut b = Builder::new("added");
    let x = b.input("x", DType::F32, [3], false).unwrap();
    let ones = b.input("ones", DType::F32, [WIDTH], true).unwrap();
    let dst = start(&mut b, ones);
    let at = At::Slice { start: [0.into()].into_iter().collect(), step: [1].into_iter().collect() };
    let y = b.write(WriteCombine::Add, at, dst, x, &[]).unwrap();
    b.output("y", y).unwrap();
    let ones = HostTensor::from_f64s(DType::F32, &[WIDTH], &[1.0; WIDTH]);
    let frozen = vec![Frozen { slot: 1, data: Arc::new(ones) }];
    let exe = compile(&Module { graph: b.finish(), frozen }, &Config::default()).unwrap();
    let x = HostTensor::from_f64s(DType::F32, &[3], &[1.0, 2.0, 3.0]);
    [(); 2].map(|()| exe.run(std::slice::from_ref(&x)).unwrap()[0].to_f64s())
}

#[test]
fn a_write_into_a_constant_starts_from_it_in_every_call() {
    let zeros = |b: &mut Builder, _| {
        let zero = b.constant(Scalar::from_f64(DType::F32, 0.0)).unwrap();
        graph::compose::broadcast_to(b, zero, &[WIDTH.into()].into_iter().collect()).unwrap()
    };
    assert_eq!(added_twice(zeros), std::array::from_fn(|_| vec![1.0, 2.0, 3.0, 0.0, 0.0, 0.0]));
}

#[test]
fn a_write_into_what_frozen_inputs_give_starts_from_it_in_every_call() {
    let doubled = |b: &mut Builder, ones| b.map(ScalarOp::Add, &[ones, ones]).unwrap();
    assert_eq!(added_twice(doubled), std::array::from_fn(|_| vec![3.0, 4.0, 5.0, 2.0, 2.0, 2.0]));
    let summed = |b: &mut Builder, ones| b.scan(Combiner::Sum, &[ones], 0).unwrap();
    assert_eq!(added_twice(summed), std::array::from_fn(|_| vec![2.0, 4.0, 6.0, 4.0, 5.0, 6.0]));
}
