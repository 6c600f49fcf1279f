//! What an executable keeps between calls of different sizes.

use base::Config;
use driver::{Executable, HostTensor, Module, compile};
use graph::{Builder, Frozen};
use scalar::{DType, Sym};

const K: usize = 64;
const N: usize = 48;

/// `x[n, K] · w[K, N]` with a frozen weight.
fn product() -> Module {
    let mut b = Builder::new("product");
    let x = b.input("x", DType::F32, [Sym::named("n"), Sym::from(K)], false).unwrap();
    let w = b.input("w", DType::F32, [Sym::from(K), Sym::from(N)], true).unwrap();
    let y = b.einsum("nk,km->nm", x, w, DType::F32).unwrap();
    b.output("y", y).unwrap();
    let weight: Vec<f64> = (0..K * N).map(|i| (i % 7) as f64 - 3.0).collect();
    let data = HostTensor::from_f64s(DType::F32, &[K, N], &weight);
    Module { graph: b.finish(), frozen: vec![Frozen { slot: 1, data: data.into() }] }
}

/// Runs on ones; every result is the sum of the weight's column.
fn run(e: &Executable, n: usize) {
    let x = HostTensor::from_f64s(DType::F32, &[n, K], &vec![1.0; n * K]);
    let y = &e.run(&[x]).unwrap()[0];
    assert_eq!(y.shape(), [n, N]);
    for i in 0..n * N {
        let column: f64 = (0..K).map(|k| ((k * N + i % N) % 7) as f64 - 3.0).sum();
        assert_eq!(y.get(i).as_f64(), column, "n = {n}, element {i}");
    }
}

/// A device of its own: the number of threads is like no other test's.
fn config(threads: usize) -> Config {
    Config { threads, ..Config::default() }
}

#[test]
fn frozen_panels_serve_all_sizes_and_executables() {
    let module = product();
    let first = compile(&module, &config(3)).unwrap();
    let sizes = [1, 2, 3, 5, 7, 8, 16, 33, 64, 100, 200];
    sizes.iter().for_each(|&n| run(&first, n));
    let after = first.device().as_cpu().unwrap().panels();
    assert!((1..=2).contains(&after.packed), "as rows and as columns at most, packed {} times", after.packed);
    assert!(after.bytes >= K * N * 4);
    let second = compile(&module, &config(3)).unwrap();
    let eager = compile(&module, &Config { fuse: false, ..config(3) }).unwrap();
    for e in [&second, &eager] {
        sizes.iter().for_each(|&n| run(e, n));
    }
    assert_eq!(first.device().as_cpu().unwrap().panels(), after);
    let other = product();
    run(&compile(&other, &config(3)).unwrap(), 64);
    assert_eq!(first.device().as_cpu().unwrap().panels().packed, after.packed + 1, "other data is packed on its own");
    let (device, panels) = (second.device().clone(), after.bytes);
    assert_eq!(device.as_cpu().unwrap().panels().bytes, panels, "the other module's panels went with it");
    drop((first, second, eager));
    assert_eq!(device.as_cpu().unwrap().panels().bytes, 0);
}

#[test]
fn sizes_beyond_the_cap_leave_in_order_of_use() {
    let e = compile(&product(), &config(4)).unwrap();
    for n in 1..100 {
        run(&e, n);
        run(&e, 1);
    }
    assert_eq!(e.ready_sizes(), 32);
    assert!(e.device().as_cpu().unwrap().panels().packed <= 2, "panels outlive the sizes that packed them");
    run(&e, 2);
}
