//! Memory of calls: what is given away is used again, and what is planned is what the pool sees.

use std::sync::Arc;

use base::Config;
use driver::{Array, CallMemory, Executable, Module, compile};
use graph::text;
use runtime::Device;
use scalar::DType;

const STEP: &str = "func step(p: donated f32[64, 33], g: f32[64, 33], lr: f32[]) -> (p, step) {
  %3 = view.reshape %2 [1, 1] : f32[1, 1]
  %4 = view.expand %3 [64, 33] : f32[64, 33]
  %5 = mul %1, %4 : f32[64, 33]
  %6 = sub %0, %5 : f32[64, 33]
  return p = %6, step = %5
}
";

/// One kernel per op: intermediates that live beside each other.
const DIAMOND: &str = "func diamond(x: f32[100, 70]) -> (y, s) {
  %1 = exp %0 : f32[100, 70]
  %2 = neg %1 : f32[100, 70]
  %3 = tanh %2 : f32[100, 70]
  %4 = mul %1, %3 : f32[100, 70]
  %5 = reduce.sum %4 [1] : f32[100]
  %6 = neg %4 : f32[100, 70]
  %7 = tanh %5 : f32[100]
  return y = %6, s = %7
}
";

/// An executable on a device of its own: tests run side by side, and devices are shared by thread count.
fn executable(body: &str, fuse: bool, threads: usize) -> Executable {
    let module = Module { graph: text::parse("test", body).unwrap(), frozen: vec![] };
    compile(&module, &Config { fuse, threads, ..Config::default() }).unwrap()
}

fn array(device: &Device, shape: &[usize], value: f32) -> Array {
    let bytes: Vec<u8> = std::iter::repeat_n(value.to_le_bytes(), shape.iter().product()).flatten().collect();
    Array::from_bytes(device.pool(), DType::F32, shape, &bytes).unwrap()
}

fn inputs(device: &Device) -> Vec<Array> {
    vec![array(device, &[64, 33], 1.0), array(device, &[64, 33], 4.0), array(device, &[], 0.25)]
}

fn first(array: &Array) -> f64 {
    array.get(&vec![0; array.shape.len()]).unwrap().as_f64()
}

#[test]
fn a_result_takes_the_memory_that_is_given_away() {
    let exe = executable(STEP, true, 1);
    let given = inputs(exe.device());
    let planned = exe.call_memory(&given).unwrap().unwrap();
    assert!(planned.taking >= 64 * 33 * 4 && planned.taking == planned.results && planned.intermediates == 0, "{planned:?}");
    let at = given[0].buffer.as_ptr();
    let outputs = exe.run_owned(given).unwrap();
    assert_eq!((outputs[0].buffer.as_ptr(), first(&outputs[0]), first(&outputs[1])), (at, 0.0, 1.0));
}

#[test]
fn memory_that_somebody_holds_is_left_alone() {
    let exe = executable(STEP, true, 2);
    let given = inputs(exe.device());
    let held = given[0].clone();
    let outputs = exe.run_owned(given).unwrap();
    assert!(!Arc::ptr_eq(&outputs[0].buffer, &held.buffer));
    assert_eq!((first(&held), first(&outputs[0])), (1.0, 0.0));
    let both = inputs(exe.device());
    let same = vec![both[0].clone(), both[0].clone(), both[2].clone()];
    drop(both);
    let outputs = exe.run_owned(same).unwrap();
    assert_eq!(first(&outputs[0]), 0.75, "one buffer for two inputs");
    let lent = inputs(exe.device());
    exe.run_arrays(&lent).unwrap();
    assert_eq!(first(&lent[0]), 1.0, "lent inputs are not overwritten");
}

#[test]
fn the_pool_sees_what_was_planned() {
    for fuse in [false, true] {
        let exe = executable(DIAMOND, fuse, 3);
        let (pool, x) = (exe.device().pool(), [array(exe.device(), &[100, 70], 0.5)]);
        let planned = exe.call_memory(&x).unwrap().expect("launches only");
        pool.trim();
        pool.reset_peak();
        let before = pool.stats().allocated;
        let outputs = exe.run_arrays(&x).unwrap();
        assert_eq!(pool.stats().peak - before, planned.peak(), "fused: {fuse}");
        assert_eq!(pool.stats().allocated - before, planned.results, "intermediates went back");
        drop(outputs);
        let misses = pool.stats().misses;
        exe.run_arrays(&x).unwrap();
        assert_eq!(pool.stats().misses, misses, "later calls take nothing from the system");
        let least = CallMemory { intermediates: 0, results: 100 * 70 * 4 + 400, taking: 0 };
        assert!(planned.results >= least.results && (fuse || planned.intermediates >= 100 * 70 * 4), "{planned:?}");
    }
}
