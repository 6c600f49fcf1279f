//! Products of 8-bit floats on a GPU that multiplies them, where there is one, against the host. Without one the test says so and
//! passes.

use program::{Access, CudaProgram, CudaStep, Epilogue, Operand, Param, Product};
use runtime::{Arg, Device};
use scalar::DType::{self, BF16, F8E4M3, F8E5M2, F16, F32};
use scalar::Scalar;

/// A product of two matrices that lie along what is summed, with the result by rows or by columns.
fn program([m, n, k]: [i64; 3], [a, b, d]: [DType; 3], columns: bool) -> CudaProgram {
    let matrix = |param, dtype, [rows, columns]: [i64; 2]| Operand { param, dtype, offset: 0, rows, columns, batch: vec![] };
    let param = |name: &str, dtype, access, elements: i64| Param { name: name.into(), dtype, access, elements: elements as u64 };
    let product = Product {
        batch: vec![],
        m,
        n,
        k,
        a: matrix(0, a, [k, 1]),
        b: matrix(1, b, [1, k]),
        d: matrix(2, d, if columns { [1, m] } else { [n, 1] }),
        acc: F32,
        epilogue: Epilogue::default(),
    };
    CudaProgram {
        name: "product".into(),
        params: vec![param("a", a, Access::Read, m * k), param("b", b, Access::Read, k * n), param("d", d, Access::Write, m * n)],
        source: String::new(),
        steps: vec![CudaStep::Product(product)],
        checks: vec![],
    }
}

/// Small integers and halves of both signs: every sum of their products is exact in f32.
fn values(dtype: DType, count: i64, seed: i64) -> Vec<Scalar> {
    (0..count).map(|i| Scalar::from_f64(dtype, ((i * 97 + seed * 31) % 13 - 6) as f64 / 2.0)).collect()
}

fn bytes(values: &[Scalar]) -> Vec<u8> {
    values.iter().flat_map(|v| v.bits().to_le_bytes()[..v.dtype().size()].to_vec()).collect()
}

fn check(device: &Device, [m, n, k]: [i64; 3], dtypes: [DType; 3], columns: bool) {
    let prepared = device.prepare(program([m, n, k], dtypes, columns)).unwrap();
    let (x, y) = (values(dtypes[0], m * k, 1), values(dtypes[1], k * n, 2));
    let (left, right, size) = (bytes(&x), bytes(&y), dtypes[2].size());
    let pool = device.pool();
    let buffer = |len: usize| pool.alloc(len).unwrap();
    let (a, b, d) = (buffer(left.len()), buffer(right.len()), buffer((m * n) as usize * size));
    a.write(0, &left).unwrap();
    b.write(0, &right).unwrap();
    device.launch(&prepared, &[&a, &b, &d].map(Arg::from)).unwrap();
    let mut out = vec![0; (m * n) as usize * size];
    d.read(0, &mut out).unwrap();
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let sum: f64 = (0..k).map(|l| x[(i * k + l) as usize].as_f64() * y[(j * k + l) as usize].as_f64()).sum();
        let at = if columns { j * m + i } else { i * n + j } as usize * size;
        let mut word = [0; 8];
        word[..size].copy_from_slice(&out[at..at + size]);
        let have = Scalar::from_bits(dtypes[2], u64::from_le_bytes(word));
        assert_eq!(have, Scalar::from_f64(dtypes[2], sum), "{m} x {n} x {k} of {dtypes:?} {columns}: element {i}, {j}");
    }
}

#[test]
fn products_of_8_bit_floats() {
    let device = match Device::cuda(0) {
        Ok(device) if device.has_f8_products() => device,
        Ok(_) => return println!("skipped: the GPU does not multiply 8-bit floats"),
        Err(error) => return println!("skipped: {error}"),
    };
    for sizes in [[16, 16, 16], [64, 128, 96], [128, 48, 272], [256, 256, 512]] {
        for factors in [[F8E4M3, F8E4M3], [F8E4M3, F8E5M2], [F8E5M2, F8E4M3]] {
            for result in [F32, BF16, F16] {
                for columns in [false, true] {
                    check(&device, sizes, [factors[0], factors[1], result], columns);
                }
            }
        }
    }
}
