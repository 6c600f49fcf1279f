//! Memory of executables that are bound to one size tuple.

use std::collections::BTreeMap;

use base::Config;
use driver::{Module, compile};
use graph::{Builder, NodeId};
use scalar::{DType, Scalar, ScalarOp};

const ROWS: usize = 5;
const COLUMNS: usize = 7;
/// One tensor.
const BYTES: usize = ROWS * COLUMNS * 4;

/// Bytes of intermediates of a graph of `x[5, 7]`, one kernel per op; its values are checked where callers lend memory.
fn intermediate_bytes(build: impl FnOnce(&mut Builder, NodeId) -> Vec<NodeId>) -> usize {
    let mut b = Builder::new("chain");
    let x = b.input("x", DType::F32, [ROWS, COLUMNS], false).unwrap();
    let results = build(&mut b, x);
    for (i, y) in results.iter().enumerate() {
        b.output(format!("y{i}"), *y).unwrap();
    }
    let results = results.len();
    let unfused = Config { fuel: Some(0), ..Config::default() };
    let exe = compile(&Module { graph: b.finish(), frozen: vec![] }, &unfused).unwrap();
    let bound = exe.bound(&BTreeMap::new(), vec![vec![ROWS, COLUMNS]], &vec![None; results]).unwrap();
    bound.intermediate_bytes().unwrap()
}

/// `x + c`, a kernel of its own.
fn plus(b: &mut Builder, x: NodeId, c: f64) -> NodeId {
    let c = b.constant(Scalar::from_f64(DType::F32, c)).unwrap();
    let shape = b.shape(x).clone();
    let c = graph::compose::broadcast_to(b, c, &shape).unwrap();
    b.map(ScalarOp::Add, &[x, c]).unwrap()
}

#[test]
fn a_chain_lies_in_the_memory_of_its_result() {
    let chain = |b: &mut Builder, x| {
        let (one, two) = (plus(b, x, 1.0), 2.0);
        let next = plus(b, one, two);
        vec![plus(b, next, 3.0)]
    };
    assert_eq!(intermediate_bytes(chain), 0);
}

#[test]
fn a_value_that_is_needed_later_keeps_its_memory() {
    let diamond = |b: &mut Builder, x| {
        let one = plus(b, x, 1.0);
        let two = plus(b, one, 2.0);
        vec![b.map(ScalarOp::Mul, &[one, two]).unwrap()]
    };
    assert_eq!(intermediate_bytes(diamond), BYTES, "one of the two lies in the result");
}

#[test]
fn a_result_stays_as_it_is() {
    let both = |b: &mut Builder, x| {
        let one = plus(b, x, 1.0);
        vec![one, plus(b, one, 2.0)]
    };
    assert_eq!(intermediate_bytes(both), 0);
}

#[test]
fn what_is_read_elsewhere_than_it_is_written_is_not_overwritten() {
    let transposed = |b: &mut Builder, x| {
        let one = plus(b, x, 1.0);
        let turned = b.permute(one, &[1, 0]).unwrap();
        vec![plus(b, turned, 2.0)]
    };
    assert_eq!(intermediate_bytes(transposed), BYTES);
    let flipped = |b: &mut Builder, x| {
        let one = plus(b, x, 1.0);
        let turned = b.flip(one, &[0]).unwrap();
        vec![b.map(ScalarOp::Add, &[one, turned]).unwrap()]
    };
    assert_eq!(intermediate_bytes(flipped), BYTES);
}

#[test]
fn one_value_gives_its_memory_once() {
    let two = |b: &mut Builder, x| {
        let one = plus(b, x, 1.0);
        vec![b.map(ScalarOp::Exp, &[one]).unwrap(), b.map(ScalarOp::Sin, &[one]).unwrap()]
    };
    assert!(intermediate_bytes(two) <= BYTES);
}
