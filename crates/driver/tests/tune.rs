//! Schedules that a tuner may choose; that they compute the same is for a GPU to show (`xtask suite`, cases `schedules/…`).

use std::collections::BTreeMap;

use base::{Config, DeviceId};
use driver::{HostTensor, Module, Target, candidates, compile, passes};
use graph::text;
use scalar::DType;

const NORM: &str = "func norm(x: f32[4096, 2048], y: f32[4096, 2048]) -> (z) {
  %2 = add %x, %y : f32[4096, 2048]
  %3 = reduce.sum %2 [1] : f32[4096]
  %4 = view.reshape %3 [4096, 1] : f32[4096, 1]
  %5 = view.expand %4 [4096, 2048] : f32[4096, 2048]
  %6 = div %2, %5 : f32[4096, 2048]
  return z = %6
}
";

#[test]
fn candidates_are_distinct_and_begin_with_the_usual_one() {
    let config = Config { device: DeviceId::Cuda(0), ..Config::default() };
    let plan = passes(&text::parse("norm", NORM).unwrap(), &BTreeMap::new(), &Target::cuda(), &config).unwrap().plan;
    let [kernel] = &plan.kernels[..] else { panic!("{} kernels", plan.kernels.len()) };
    let found = candidates(&plan, kernel, &BTreeMap::new(), &config).unwrap();
    let usual = driver::cuda_program(&plan, kernel, &BTreeMap::new(), &config).unwrap();
    assert_eq!(found[0].1, usual);
    assert!(found.len() > 4, "{} candidates", found.len());
    for (n, (choice, program)) in found.iter().enumerate() {
        assert!(found[..n].iter().all(|(_, other)| other != program), "{choice:?} is another one's program");
        assert_eq!(program.params, usual.params);
    }
}

#[test]
fn a_cpu_is_not_tuned() {
    let module = Module {
        graph: text::parse("twice", "func twice(x: f32[2]) -> (y) {\n  %1 = add %x, %x : f32[2]\n  return y = %1\n}\n").unwrap(),
        frozen: Vec::new(),
    };
    let executable = compile(&module, &Config { tune: Some(1), ..Config::default() }).unwrap();
    let result = executable.run(&[HostTensor::from_f64s(DType::F32, &[2], &[1.0, 2.0])]).unwrap();
    assert_eq!(result[0].get(1).as_f64(), 4.0);
}
