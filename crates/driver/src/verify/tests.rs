use base::Config;
use graph::{Module, Op};
use scalar::ScalarOp;

use super::*;
use crate::compile;

const TEXT: &str = "
func model(x: f32[n, 8]) -> (y) {
  %1 = exp %0   # activation @ model.py:7
  %2 = add %1, %0   # residual @ model.py:8
  return y = %2
}
";

/// An executable and its binding for one size.
fn ready(rows: usize) -> (Executable, Bound) {
    let graph = graph::text::parse("model", TEXT).unwrap();
    let exe = compile(&Module { graph, frozen: Vec::new() }, &Config::default()).unwrap();
    let bound = exe.bound(&BTreeMap::new(), vec![vec![rows, 8]], &[None]).unwrap();
    (exe, bound)
}

fn buffer(exe: &Executable, values: &[f32]) -> Buffer {
    let buffer = exe.device().pool().alloc(values.len() * 4).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    buffer.write(0, &bytes).unwrap();
    buffer
}

fn deviations(exe: &Executable, bound: &Bound, rows: usize) -> Vec<Deviation> {
    let (input, output) = (buffer(exe, &vec![0.5; rows * 8]), buffer(exe, &vec![0.0; rows * 8]));
    exe.verify_bound(bound, vec![input], vec![output], None).unwrap()
}

#[test]
fn right_kernels_agree() {
    let (exe, bound) = ready(3);
    assert_eq!(deviations(&exe, &bound, 3), []);
}

/// The kernel is made for one graph and checked against another.
#[test]
fn a_wrong_kernel_is_named_with_op_and_line() {
    let (mut exe, bound) = ready(3);
    for node in &mut exe.compiled.plan.graph.nodes {
        if let Op::Map(op @ ScalarOp::Exp) = &mut node.op {
            *op = ScalarOp::Sin;
        }
    }
    let found = deviations(&exe, &bound, 3);
    assert_eq!(found.len(), 1);
    let d = &found[0];
    assert_eq!((d.count, d.op.as_str()), (24, "residual (model.py:8)"));
    assert_eq!(d.ops, ["activation (model.py:7)", "residual (model.py:8)"]);
    assert!((d.got - 0.5f64.exp() - 0.5).abs() < 1e-6 && (d.want - 0.5f64.sin() - 0.5).abs() < 1e-6);
}

#[test]
fn the_tolerance_grows_with_values_but_not_below_one() {
    let small = HostTensor::from_f64s(DType::F32, &[2], &[0.0, 1e-3]);
    let large = HostTensor::from_f64s(DType::F32, &[2], &[300.0, -400.0]);
    let usual = Tolerance::of(DType::F32);
    assert_eq!(usual.scaled(&small), usual);
    let scaled = usual.scaled(&large);
    assert!(scaled.relative == usual.relative && (scaled.absolute / usual.absolute - 353.5).abs() < 0.1);
    let off = HostTensor::from_f64s(DType::F32, &[2], &[300.0, f64::NAN]);
    assert_eq!(compare(&off, &large, scaled), Some((1, 1)));
}
