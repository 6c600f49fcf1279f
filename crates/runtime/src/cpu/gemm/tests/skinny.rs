//! Products of few rows, whose other operand is read where it lies.

use super::*;

/// Layouts of the column operand: across and along.
fn layouts(n: i64, k: i64) -> [[i64; 2]; 2] {
    [[1, n], [k, 1]]
}

fn arguments([m, n, k]: [i64; 3], weight: DType, fill: fn(u64, usize) -> Vec<f64>) -> [Argument; 3] {
    [(DType::F32, fill(1, (m * k) as usize)), (weight, fill(2, (k * n) as usize)), (DType::F32, vec![99.0; (m * n) as usize])]
}

/// Multiples of 1/64 below 1/8: f16 and bf16 hold them, and long sums of their products round.
fn sixtyfourths(seed: u64, n: usize) -> Vec<f64> {
    values(seed, n)
        .into_iter()
        .zip(values(seed + 50, n))
        .map(|(a, b)| (a + b) / 64.0 + f64::from(u8::from(a > b)) * 2.0)
        .collect()
}

#[test]
fn every_count_of_rows_and_ragged_size() {
    for weight in [DType::F32, DType::F16, DType::BF16] {
        for m in 1..=9 {
            for [n, k] in [[1, 9], [3, 8], [37, 21], [130, 64], [2, 4500]] {
                for b in layouts(n, k) {
                    check(&simple(Ty::F32, [m, n, k], [k, 1], b, [n, 1]), &arguments([m, n, k], weight, values));
                    check(&simple(Ty::F32, [m, n, k], [1, m], b, [1, m]), &arguments([m, n, k], weight, values));
                }
            }
        }
    }
}

#[test]
fn a_row_has_the_same_bits_beside_others() {
    let (n, k) = (75, 1000);
    for weight in [DType::F32, DType::F16, DType::BF16] {
        for (b, large) in layouts(n, k).into_iter().zip([30, 8]) {
            let product = |m: i64, threads: usize| {
                run(&simple(Ty::F32, [m, n, k], [k, 1], b, [n, 1]), &arguments([m, n, k], weight, sixtyfourths), threads)[2]
                    .clone()
            };
            let whole = product(large, 1);
            for m in 1..=8 {
                for threads in [1, 3] {
                    assert!(product(m, threads)[..] == whole[..(m * n) as usize], "{weight} {b:?}: {m} rows, {threads} threads");
                }
            }
        }
    }
}

#[test]
fn batches_of_few_rows() {
    let (batches, m, n, k) = (3, 2, 40, 70);
    for b in [[k * n, 0, 1, n], [k * n, 0, k, 1]] {
        let mut gemm = simple(Ty::F32, [m, n, k], [0, 0], [0, 0], [0, 0]);
        gemm.batch = vec![batches];
        gemm.sources = vec![direct(0, 0, &[m * k, k, 0, 1]), direct(1, 0, &b)];
        gemm.epilogue = plain(Ty::F32, &[(2, affine(0, &[m * n, n, 1]))]);
        check(&gemm, &arguments([batches * m, n * batches, k], DType::F32, values));
    }
}

/// The row operand of one row is its own panel only for kernels that read the column operand in place.
#[test]
fn few_rows_of_weights_that_are_packed() {
    for m in 1..=3 {
        for [n, k] in [[1, 9], [37, 21], [130, 64]] {
            for b in layouts(n, k) {
                let mut gemm = simple(Ty::F32, [m, n, k], [k, 1], b, [n, 1]);
                gemm.sources[1] = PackSource::Direct { param: 1, index: affine(0, &[0, b[0], b[1]]), mask: vec![], frozen: true };
                check(&gemm, &arguments([m, n, k], DType::F32, values));
            }
            let apart = simple(Ty::F32, [m, n, k], [k, 1], [2, 2 * n], [n, 1]);
            check(&apart, &arguments([m, 2 * n, k], DType::F32, values));
        }
    }
}
