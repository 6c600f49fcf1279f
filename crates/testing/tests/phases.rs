//! Kernels of several phases: partial results per block and their finish, at sizes with no, one and many blocks.

use base::Config;
use graph::{Graph, HostTensor, Module, interp, text};
use scalar::{DType, Scalar, Var};
use testing::cpu::run_compiled;
use testing::tolerance::{Tolerance, compare};

/// Deterministic values with ties, ±0 and both signs; small indices.
fn inputs(graph: &Graph, n: i64) -> Vec<HostTensor> {
    let shape_of = |d: &graph::InputDecl| -> Vec<usize> {
        d.ty.shape.iter().map(|s| s.eval(&|_: Var| Some(n)).expect("one dimension") as usize).collect()
    };
    let value = |slot: usize, i: usize, dtype: DType| {
        let number = (i * 7919 + slot * 104_729 + i / 17) % 29;
        if dtype.is_float() { number as f64 / 8.0 - 1.75 } else { (number % 5) as f64 }
    };
    graph
        .inputs
        .iter()
        .enumerate()
        .map(|(slot, d)| {
            let shape = shape_of(d);
            let count = shape.iter().product();
            HostTensor::from_scalars(
                d.ty.dtype,
                &shape,
                (0..count).map(|i| Scalar::from_f64(d.ty.dtype, value(slot, i, d.ty.dtype))),
            )
        })
        .collect()
}

fn agrees(program: &str, kernels: usize, tolerance: Tolerance) {
    let graph = text::parse("test", program).expect("a program");
    for n in [0, 1, 2, 17, 300, 2111] {
        let inputs = inputs(&graph, n);
        let want = interp::run(&graph, &inputs, interp::Options { wide: false }).expect("the oracle runs");
        for threads in [1, 2] {
            let config = Config { threads, ..Config::default() };
            let got = run_compiled(&graph, &inputs, &config).unwrap_or_else(|e| panic!("n = {n}: {e}\n{program}"));
            compare(&want, &got, tolerance).unwrap_or_else(|e| panic!("n = {n}, {threads} threads: {e}\n{program}"));
        }
        let executable =
            driver::compile(&Module { graph: graph.clone(), frozen: Vec::new() }, &Config::default()).expect("a plan");
        assert_eq!(executable.plan().kernels.len(), kernels, "{}", executable.plan().summary());
    }
}

#[test]
fn sums_down_and_along() {
    agrees(
        "func f(x: f64[n, 70]) -> (down, along, y) {
           %1 = exp %0 : f64[n, 70]
           %2 = reduce.sum %1 [0] : f64[70]
           %3 = reduce.sum %1 [1] : f64[n]
           return down = %2, along = %3, y = %1
         }",
        1,
        Tolerance::CLOSE,
    );
}

#[test]
fn mean_over_rows_of_row_results() {
    agrees(
        "func f(x: f64[n, 33]) -> (loss, best) {
           %1 = reduce.max %0 [1] : f64[n]
           %2 = reduce.sum %1 [0] : f64[]
           %3 = mul %2, %2 : f64[]
           %4 = reduce.argmax %1 [0] : (f64[], i64[])
           %5 = result %4 [1] : i64[]
           return loss = %3, best = %5
         }",
        1,
        Tolerance::CLOSE,
    );
}

#[test]
fn whole_reductions_use_all_cores() {
    for (combiner, results) in [("sum", 0), ("prod", 0), ("max", 0), ("min", 0), ("argmax", 2), ("argmin", 2), ("welford", 3)] {
        let program = |ty: &str| {
            let (op, returned) = match results {
                0 => (format!("%1 = reduce.{combiner} %0 [0, 1] : {ty}[]"), "%1"),
                2 => (format!("%1 = reduce.{combiner} %0 [0, 1] : ({ty}[], i64[])\n%2 = result %1 [1] : i64[]"), "%2"),
                _ => (format!("%1 = reduce.{combiner} %0 [0, 1] : ({ty}[], {ty}[], {ty}[])\n%2 = result %1 [1] : {ty}[]"), "%2"),
            };
            format!("func f(x: {ty}[n, 129]) -> (y) {{\n{op}\nreturn y = {returned}\n}}")
        };
        agrees(&program("f64"), 1, Tolerance::CLOSE);
        if combiner != "welford" {
            agrees(&program("i32"), 1, Tolerance::Exact);
        }
    }
}

#[test]
fn layer_norm_backward_in_one_pass() {
    agrees(
        "func f(dy: f64[n, 96], x: f64[n, 96], w: f64[96]) -> (dx, dw, db) {
           %3 = view.reshape %2 [1, 96] : f64[1, 96]
           %4 = view.expand %3 [n, 96] : f64[n, 96]
           %5 = mul %0, %4 : f64[n, 96]
           %6 = mul %5, %1 : f64[n, 96]
           %7 = reduce.sum %6 [1] : f64[n]
           %8 = view.reshape %7 [n, 1] : f64[n, 1]
           %9 = view.expand %8 [n, 96] : f64[n, 96]
           %10 = mul %9, %1 : f64[n, 96]
           %11 = sub %5, %10 : f64[n, 96]
           %12 = mul %0, %9 : f64[n, 96]
           %13 = reduce.sum %12 [0] : f64[96]
           %14 = reduce.sum %0 [0] : f64[96]
           return dx = %11, dw = %13, db = %14
         }",
        1,
        Tolerance::CLOSE,
    );
}

#[test]
fn sums_of_what_does_not_vary() {
    agrees(
        "func f(x: f64[n, 5]) -> (mean) {
           %1 = reduce.max %0 [1] : f64[n]
           %2 = const f64 1.0 : f64[]
           %3 = view.reshape %2 [1] : f64[1]
           %4 = view.expand %3 [n] : f64[n]
           %5 = reduce.sum %4 [0] : f64[]
           %6 = reduce.sum %1 [0] : f64[]
           %7 = div %6, %5 : f64[]
           return mean = %7
         }",
        1,
        Tolerance::CLOSE,
    );
}

#[test]
fn independent_kernels_side_by_side() {
    agrees(
        "func f(x: f64[n, 40], y: f32[n, 3], z: f64[200]) -> (sum, e, g, best) {
           %3 = reduce.sum %0 [0, 1] : f64[]
           %4 = exp %1 : f32[n, 3]
           %5 = iota 9 : i64[9]
           %6 = gather %2, %5 [0] : f64[9]
           %7 = reduce.argmax %1 [0] : (f32[3], i64[3])
           %8 = result %7 [1] : i64[3]
           return sum = %3, e = %4, g = %6, best = %8
         }",
        1,
        Tolerance::CLOSE,
    );
}

#[test]
fn concat_of_computed_parts() {
    agrees(
        "func f(x: f64[n, 7], y: f64[n, 70], z: f64[2, 77]) -> (r) {
           %3 = exp %0 : f64[n, 7]
           %4 = sqrt %1 : f64[n, 70]
           %5 = concat %3, %4 [1] : f64[n, 77]
           %6 = neg %2 : f64[2, 77]
           %7 = concat %6, %5, %6 [0] : f64[n + 4, 77]
           %8 = abs %7 : f64[n + 4, 77]
           return r = %8
         }",
        1,
        Tolerance::CLOSE,
    );
}

#[test]
fn inner_loops_of_different_lengths() {
    agrees(
        "func f(x: f64[n, 1400], w: f64[n, 30]) -> (y, m, z) {
           %2 = reduce.max %0 [1] : f64[n]
           %3 = view.reshape %2 [n, 1] : f64[n, 1]
           %4 = view.expand %3 [n, 1400] : f64[n, 1400]
           %5 = sub %0, %4 : f64[n, 1400]
           %6 = exp %5 : f64[n, 1400]
           %7 = reduce.sum %6 [1] : f64[n]
           %8 = view.slice %6 start [0, 700] len [n, 700] step [1, 1] : f64[n, 700]
           %9 = view.slice %6 start [0, 0] len [n, 700] step [1, 1] : f64[n, 700]
           %10 = mul %8, %9 : f64[n, 700]
           %11 = reduce.min %10 [1] : f64[n]
           %12 = view.reshape %7 [n, 1] : f64[n, 1]
           %13 = view.expand %12 [n, 30] : f64[n, 30]
           %14 = div %1, %13 : f64[n, 30]
           return y = %10, m = %11, z = %14
         }",
        1,
        Tolerance::CLOSE,
    );
}

/// Without fusion a concat is free: its parts are computed in place. Neither may share a buffer that changes hands.
#[test]
fn an_overwritten_concat_leaves_its_parts_alone() {
    let graph = text::parse(
        "test",
        "func f(x: i32[4, 2], i: i64[3]) -> (w, part) {
           %2 = neg %0 : i32[4, 2]
           %3 = concat %0, %2 [0] : i32[8, 2]
           %4 = const i64 0 : i64[]
           %5 = view.reshape %1 [3, 1] : i64[3, 1]
           %6 = view.expand %5 [3, 2] : i64[3, 2]
           %7 = view.slice %0 start [0, 0] len [3, 2] step [1, 1] : i32[3, 2]
           %8 = write.add.indices %3, %7, %6 [0] : i32[8, 2]
           return w = %8, part = %2
         }",
    )
    .expect("a program");
    let x = HostTensor::from_i64s(scalar::DType::I32, &[4, 2], &[1, 2, 3, 4, 5, 6, 7, 8]);
    let inputs = [x, HostTensor::from_i64s(scalar::DType::I64, &[3], &[4, 4, 5])];
    let want = interp::run(&graph, &inputs, interp::Options { wide: false }).expect("the oracle runs");
    for fuse in [true, false] {
        let got = run_compiled(&graph, &inputs, &Config { fuse, ..Config::default() }).expect("a run");
        compare(&want, &got, Tolerance::Exact).unwrap_or_else(|e| panic!("fuse {fuse}: {e}"));
    }
}

#[test]
fn reductions_of_nothing_are_placed_by_their_own_shape() {
    for program in [
        "func f(x: f32[1, 0]) -> (a, b) {
           %1 = reduce.min %0 [1] : f32[1]
           %2 = reduce.min %0 [0, 1] : f32[]
           return a = %2, b = %1
         }",
        "func f(x: i64[3, 2, 0]) -> (y) {
           %1 = view.reshape %0 [1, 3, 2, 0] : i64[1, 3, 2, 0]
           %2 = view.expand %1 [5, 3, 2, 0] : i64[5, 3, 2, 0]
           %3 = reduce.max %2 [1] : i64[5, 2, 0]
           %4 = view.reshape %3 [5, 1, 2, 0] : i64[5, 1, 2, 0]
           %5 = neg %4 : i64[5, 1, 2, 0]
           %6 = reduce.prod %5 [1, 3] : i64[5, 2]
           return y = %6
         }",
    ] {
        agrees(program, 1, Tolerance::Exact);
    }
}

/// A product whose rows and columns show only after its axis is split does not share its launch.
#[test]
fn a_product_under_a_reshape_beside_a_small_kernel() {
    let graph = text::parse(
        "test",
        "func f(x: f32[7, n], y: f32[4, n], z: f32[4, 4]) -> (a, b) {
           %3 = contract %0, %1 \"ab,cb->ac\" acc f32 : f32[7, 4]
           %4 = view.reshape %3 [28] : f32[28]
           %5 = abs %4 : f32[28]
           %6 = cast.f64 %2 : f64[4, 4]
           return a = %5, b = %6
         }",
    )
    .expect("a program");
    let inputs = inputs(&graph, 9);
    let want = interp::run(&graph, &inputs, interp::Options { wide: false }).expect("the oracle runs");
    let got = run_compiled(&graph, &inputs, &Config::default()).expect("a run");
    compare(&want, &got, Tolerance::CLOSE).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn stores_that_meet_run_in_order() {
    for (dtype, combine) in [("f32", "add"), ("f32", "mul"), ("f16", "add"), ("f64", "add"), ("i64", "add"), ("i32", "max")] {
        for axis in [0, 1] {
            let shape = if axis == 0 { "5, 7, n" } else { "7, 5, n" };
            let (many, kept) = if axis == 0 { ("40, 7, n", "40, 1, 1") } else { ("7, 40, n", "1, 40, 1") };
            agrees(
                &format!(
                    "func f(x: {dtype}[{shape}], i: i64[40], v: {dtype}[{many}]) -> (y) {{
                       %3 = view.reshape %i [{kept}] : i64[{kept}]
                       %4 = view.expand %3 [{many}] : i64[{many}]
                       %5 = write.{combine}.indices %x, %v, %4 [{axis}] : {dtype}[{shape}]
                       return y = %5
                     }}"
                ),
                1,
                Tolerance::CLOSE,
            );
        }
    }
}

#[test]
fn stores_whose_columns_meet_run_in_order() {
    agrees(
        "func f(x: f32[6, 5], i: i64[6, n], v: f32[6, n]) -> (y) {
           %3 = write.add.indices %x, %v, %i [1] : f32[6, 5]
           return y = %3
         }",
        1,
        Tolerance::CLOSE,
    );
}

#[test]
fn small_results_that_vary_over_a_summed_axis() {
    agrees(
        "func f(x: f16[n, 6, 5], r: f16[n, 2], w: f16[6]) -> (along, down, wide, scaled) {
           %3 = cast.f32 %0 : f32[n, 6, 5]
           %4 = cast.f32 %1 : f32[n, 2]
           %5 = cast.f32 %2 : f32[6]
           %6 = reduce.sum %3 [2] : f32[n, 6]
           %7 = view.reshape %4 [n, 2, 1] : f32[n, 2, 1]
           %8 = view.expand %7 [n, 2, 3] : f32[n, 2, 3]
           %9 = view.reshape %5 [1, 2, 3] : f32[1, 2, 3]
           %10 = view.expand %9 [n, 2, 3] : f32[n, 2, 3]
           %11 = mul %8, %10 : f32[n, 2, 3]
           %12 = view.reshape %11 [n, 2, 3, 1] : f32[n, 2, 3, 1]
           %13 = view.expand %12 [n, 2, 3, 5] : f32[n, 2, 3, 5]
           %14 = view.reshape %3 [n, 2, 3, 5] : f32[n, 2, 3, 5]
           %15 = mul %14, %13 : f32[n, 2, 3, 5]
           %16 = reduce.sum %6 [0] : f32[6]
           return along = %6, down = %16, wide = %4, scaled = %15
         }",
        1,
        Tolerance::CLOSE,
    );
}
