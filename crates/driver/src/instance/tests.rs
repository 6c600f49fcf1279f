use std::collections::BTreeMap;
use std::sync::Arc;

use base::Config;
use graph::{Builder, Module};
use scalar::{Combiner, DType, ScalarOp, Sym};

use crate::compile;

/// For each kernel, whether instances for `n` and `m` of two sizes share it.
fn shared(sizes: [[usize; 2]; 2]) -> Vec<bool> {
    let mut b = Builder::new("two");
    let x = b.input("x", DType::F32, [Sym::named("n"), Sym::from(8)], false).unwrap();
    let y = b.input("y", DType::F32, [Sym::from(4), Sym::named("m")], false).unwrap();
    let x = b.map(ScalarOp::Exp, &[x]).unwrap();
    let y = b.reduce(Combiner::Sum, &[y], &[1]).unwrap();
    b.output("x", x).unwrap();
    b.output("y", y).unwrap();
    let config = Config { fuse: false, ..Config::default() };
    let exe = compile(&Module { graph: b.finish(), frozen: vec![] }, &config).unwrap();
    let [one, two] = sizes.map(|[n, m]| exe.instance(&BTreeMap::new(), &[&[n, 8], &[4, m]]).unwrap());
    one.kernels.iter().zip(&two.kernels).map(|(a, b)| Arc::ptr_eq(a, b)).collect()
}

#[test]
fn a_kernel_is_prepared_for_the_dimensions_that_it_depends_on() {
    assert_eq!(shared([[3, 5], [3, 6]]), [true, false]);
    assert_eq!(shared([[3, 5], [4, 5]]), [false, true]);
    assert_eq!(shared([[3, 5], [4, 6]]), [false, false]);
}
