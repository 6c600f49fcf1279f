//! Products on a GPU, where there is one, against the host. Without one the test says so and passes.

use base::ErrorKind;
use program::{Access, CudaProgram, CudaStep, Epilogue, Operand, Param, Product, Vector};
use runtime::{Arg, Buffer, Device, Pool};
use scalar::{Activation, DType};

/// A product of f32, with how many elements its operands have.
struct Case {
    product: Product,
    elements: [usize; 3],
}

fn case(batch: &[i64], [m, n, k]: [i64; 3], transposed: [bool; 3], epilogue: Epilogue) -> Case {
    let mut elements = [0; 3];
    let mut operand = |which: usize, rows: i64, columns: i64| {
        let (rows_apart, columns_apart) = if transposed[which] { (1, rows) } else { (columns, 1) };
        let mut strides = vec![0; batch.len()];
        let mut step = rows * columns;
        for (stride, extent) in strides.iter_mut().zip(batch).rev() {
            *stride = step;
            step *= extent;
        }
        elements[which] = step as usize;
        Operand { param: which as u16, dtype: DType::F32, offset: 0, rows: rows_apart, columns: columns_apart, batch: strides }
    };
    let (a, b, d) = (operand(0, m, k), operand(1, k, n), operand(2, m, n));
    Case { product: Product { batch: batch.to_vec(), m, n, k, a, b, d, acc: DType::F32, epilogue }, elements }
}

impl Case {
    fn program(&self) -> CudaProgram {
        let [a, b, d] = self.elements;
        let param = |name: &str, access, n: usize| Param { name: name.into(), dtype: DType::F32, access, elements: n as u64 };
        CudaProgram {
            name: "product".into(),
            params: vec![
                param("a", Access::Read, a),
                param("b", Access::Read, b),
                param("d", Access::Write, d),
                param("bias", Access::Read, 256),
            ],
            source: String::new(),
            steps: vec![CudaStep::Product(self.product.clone())],
            checks: vec![],
        }
    }

    fn reference(&self, a: &[f32], b: &[f32], bias: &[f32]) -> Vec<f32> {
        let p = &self.product;
        let mut out = vec![0f32; self.elements[2]];
        for flat in 0..p.batch.iter().product::<i64>() {
            let (mut rest, mut base) = (flat, [0i64; 3]);
            for (axis, extent) in p.batch.iter().enumerate().rev() {
                for (at, o) in base.iter_mut().zip([&p.a, &p.b, &p.d]) {
                    *at += rest % extent * o.batch[axis];
                }
                rest /= extent;
            }
            for i in 0..p.m {
                for j in 0..p.n {
                    let term = |l: i64| {
                        let x = a[(base[0] + i * p.a.rows + l * p.a.columns) as usize];
                        f64::from(x) * f64::from(b[(base[1] + l * p.b.rows + j * p.b.columns) as usize])
                    };
                    let mut sum = (0..p.k).map(term).sum::<f64>();
                    if let Some(b) = &p.epilogue.bias {
                        sum += f64::from(bias[if b.over_rows { i } else { j } as usize]);
                    }
                    if p.epilogue.activation == Some(Activation::Relu) {
                        sum = sum.max(0.0);
                    }
                    out[(base[2] + i * p.d.rows + j * p.d.columns) as usize] = sum as f32;
                }
            }
        }
        out
    }
}

fn cases() -> Vec<Case> {
    let bias = |over_rows| Epilogue {
        bias: Some(Vector { param: 3, offset: 0, over_rows }),
        activation: Some(Activation::Relu),
        ..Epilogue::default()
    };
    let mut cases = vec![
        case(&[], [200, 120, 96], [false; 3], bias(false)),
        case(&[], [200, 120, 96], [false, false, true], bias(true)),
        case(&[3], [40, 24, 32], [false; 3], bias(false)),
        case(&[2, 3], [17, 9, 21], [false, true, false], Epilogue::default()),
        case(&[], [256, 256, 256], [false; 3], Epilogue::default()),
    ];
    for bits in 0..8 {
        let transposed = [0, 1, 2].map(|i| bits >> i & 1 == 1);
        for sizes in [[33, 20, 48], [1, 64, 48], [64, 1, 48], [5, 7, 1]] {
            cases.push(case(&[], sizes, transposed, Epilogue::default()));
        }
    }
    cases
}

fn upload(pool: &Pool, values: &[f32]) -> Buffer {
    let buffer = pool.alloc(values.len() * 4).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    buffer.write(0, &bytes).unwrap();
    buffer
}

#[test]
fn products_of_many_layouts_equal_the_reference() {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(error) => return println!("skipped: {error}"),
    };
    let pool = device.pool();
    let numbers = |n: usize, seed: usize| -> Vec<f32> { (0..n).map(|i| ((i * 37 + seed) % 29) as f32 / 14.0 - 1.0).collect() };
    for case in cases() {
        let [na, nb, nd] = case.elements;
        let (a, b, c) = (numbers(na, 1), numbers(nb, 2), numbers(256, 3));
        let prepared = match device.prepare(case.program()) {
            Err(e) if e.kind == ErrorKind::Unsupported && e.to_string().contains("was not found") => {
                return println!("skipped: {e}");
            }
            prepared => prepared.unwrap(),
        };
        let buffers = [upload(pool, &a), upload(pool, &b), pool.alloc(nd * 4).unwrap(), upload(pool, &c)];
        device.launch(&prepared, &buffers.each_ref().map(Arg::from)).unwrap();
        let mut bytes = vec![0; nd * 4];
        buffers[2].read(0, &mut bytes).unwrap();
        let have = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b));
        for (i, (have, want)) in have.zip(case.reference(&a, &b, &c)).enumerate() {
            assert!((have - want).abs() <= 1e-4 * want.abs().max(1.0), "{:?}: element {i} is {have}, not {want}", case.product);
        }
    }
}
