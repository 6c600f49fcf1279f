//! Rows looked up in tables: such as have none, and such as have very many.

use std::collections::BTreeMap;

use base::{Config, ErrorKind};
use driver::{HostTensor, Module, Target, compile, cuda_program, passes};
use graph::text;
use scalar::{DType, Var};

const EMBEDDING: &str = "func embedding(x: f32[n, 4], i: i64[2, 4]) -> (y) {
  %2 = gather %0, %1 [0] : f32[2, 4]   # embedding @ model.rs:7
  return y = %2
}
";

#[test]
fn a_table_without_rows_is_an_index_out_of_range() {
    let graph = text::parse("embedding", EMBEDDING).unwrap();
    let exe = compile(&Module { graph, frozen: vec![] }, &Config::default()).unwrap();
    let table = |rows: usize| HostTensor::from_f64s(DType::F32, &[rows, 4], &vec![1.0; 4 * rows]);
    let index = HostTensor::from_i64s(DType::I64, &[2, 4], &[0; 8]);
    assert!(exe.run(&[table(1), index.clone()]).is_ok());
    let error = exe.run(&[table(0), index]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid, "{error}");
    assert!(error.to_string().contains("index") && error.to_string().contains("model.rs:7"), "{error}");
}

#[test]
fn a_gpu_leaves_such_a_table_to_the_interpreter() {
    let graph = text::parse("embedding", EMBEDDING).unwrap();
    let config = Config::default();
    let plan = passes(&graph, &BTreeMap::new(), &Target::cuda(), &config).unwrap().plan;
    let program = |rows| cuda_program(&plan, &plan.kernels[0], &BTreeMap::from([(Var::new("n"), rows)]), &config);
    assert!(program(1).is_ok());
    let error = program(0).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.message().contains("looked up in a tensor that has none"), "{error}");
}

#[test]
fn a_gpu_checks_rows_against_tables_beyond_32_bits() {
    let body = "func pick(x: i8[n], i: i64[4]) -> (y) {\n  %2 = gather %0, %1 [0] : i8[4]\n  return y = %2\n}\n";
    let config = Config::default();
    let plan = passes(&text::parse("pick", body).unwrap(), &BTreeMap::new(), &Target::cuda(), &config).unwrap().plan;
    let source = |rows| cuda_program(&plan, &plan.kernels[0], &BTreeMap::from([(Var::new("n"), rows)]), &config).unwrap().source;
    let size = |source: &str| source.lines().find(|l| l.contains(" n0 = ")).unwrap().to_owned();
    assert_eq!(size(&source((1 << 31) - 1)), "const int n0 = (int)(i64)w[3];");
    assert_eq!(size(&source(1 << 31)), "const i64 n0 = (i64)(i64)w[3];");
}
