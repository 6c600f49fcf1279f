//! What the library does after a product, on a GPU, where there is one, for element types and sizes that are odd in all ways.
//! Without a GPU the test says so and passes.

use base::{ErrorKind, Result};
use program::{Access, Bias, CudaProgram, CudaStep, Epilogue, Operand, Param, Product};
use runtime::{Arg, Buffer, Device, Pool};
use scalar::{Activation, DType, Scalar};

/// One product with what follows it; the operands are row-major.
#[derive(Debug)]
struct Case {
    dtype: DType,
    sizes: [i64; 3],
    epilogue: Epilogue,
}

impl Case {
    fn program(&self) -> CudaProgram {
        let [m, n, k] = self.sizes;
        let operand = |param, columns| Operand { param, dtype: self.dtype, offset: 0, rows: columns, columns: 1, batch: vec![] };
        let (a, b, d) = (operand(0, k), operand(1, n), operand(2, n));
        let acc = if self.dtype == DType::F64 { DType::F64 } else { DType::F32 };
        let product = Product { batch: vec![], m, n, k, a, b, d, acc, epilogue: self.epilogue.clone() };
        let param =
            |name: &str, access, elements: i64| Param { name: name.into(), dtype: self.dtype, access, elements: elements as u64 };
        CudaProgram {
            name: "product".into(),
            params: vec![
                param("a", Access::Read, m * k),
                param("b", Access::Read, k * n),
                param("d", Access::Write, m * n),
                param("bias", Access::Read, n),
            ],
            source: String::new(),
            steps: vec![CudaStep::Product(product)],
            checks: vec![],
        }
    }

    fn want(&self, [a, b, bias]: [&[f64]; 3], at: usize) -> f64 {
        let [_, n, k] = self.sizes.map(|s| s as usize);
        let (i, j) = (at / n, at % n);
        let sum: f64 = (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
        let x = if self.epilogue.bias.is_some() { sum + bias[j] } else { sum };
        match self.epilogue.activation {
            None => x,
            Some(Activation::Relu) => x.max(0.0),
            Some(Activation::GeluTanh) => {
                let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
                x / 2.0 * (1.0 + inner.tanh())
            }
        }
    }

    /// What the GPU gives for these operands.
    fn run(&self, device: &Device, operands: [&[f64]; 3]) -> Result<Vec<f64>> {
        let prepared = device.prepare(self.program())?;
        let pool = device.pool();
        let [a, b, bias] = operands.map(|o| upload(pool, self.dtype, o));
        let size = self.dtype.size();
        let count = (self.sizes[0] * self.sizes[1]) as usize;
        let d = pool.alloc(count * size)?;
        device.launch(&prepared, &[&a, &b, &d, &bias].map(Arg::from))?;
        let mut bytes = vec![0; count * size];
        d.read(0, &mut bytes)?;
        Ok(bytes.chunks_exact(size).map(|c| number(self.dtype, c)).collect())
    }
}

fn number(dtype: DType, bytes: &[u8]) -> f64 {
    let bits = bytes.iter().rev().fold(0, |bits, b| bits << 8 | u64::from(*b));
    Scalar::from_bits(dtype, bits).as_f64()
}

fn upload(pool: &Pool, dtype: DType, values: &[f64]) -> Buffer {
    let buffer = pool.alloc(values.len() * dtype.size()).unwrap();
    let bytes: Vec<u8> =
        values.iter().flat_map(|v| Scalar::from_f64(dtype, *v).bits().to_le_bytes()[..dtype.size()].to_vec()).collect();
    buffer.write(0, &bytes).unwrap();
    buffer
}

/// Numbers of few bits, which every type holds.
fn numbers(count: i64, seed: i64) -> Vec<f64> {
    (0..count).map(|i| ((i * 37 + seed) % 29) as f64 / 16.0 - 0.875).collect()
}

fn device() -> Option<std::sync::Arc<Device>> {
    match Device::cuda(0) {
        Ok(device) => Some(device),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

fn epilogues() -> Vec<Epilogue> {
    let bias = [None, Some(Bias { param: 3, offset: 0, over_rows: false })];
    let functions = [None, Some(Activation::Relu), Some(Activation::GeluTanh)];
    bias.iter().flat_map(|b| functions.map(|activation| Epilogue { bias: b.clone(), activation })).collect()
}

#[test]
fn epilogues_of_all_types_and_sizes_equal_the_reference() {
    let Some(device) = device() else { return };
    let mut wrong = Vec::new();
    for dtype in [DType::F32, DType::BF16, DType::F16] {
        for sizes in
            [[2, 2, 1], [3, 5, 7], [17, 9, 21], [64, 33, 40], [2, 1024, 64], [300, 2, 8], [128, 256, 512], [65, 1000, 24]]
        {
            for epilogue in epilogues() {
                let case = Case { dtype, sizes, epilogue };
                let [m, n, k] = sizes;
                let (a, b, bias) = (numbers(m * k, 1), numbers(k * n, 2), numbers(n, 3));
                let have = match case.run(&device, [&a, &b, &bias]) {
                    Err(e) if e.kind == ErrorKind::Unsupported && e.to_string().contains("was not found") => {
                        return println!("skipped: {e}");
                    }
                    Err(e) => {
                        wrong.push(format!("{case:?}: {e}"));
                        continue;
                    }
                    Ok(have) => have,
                };
                let tolerance = if dtype == DType::F32 { 1e-3 } else { 2e-2 };
                let far = have.iter().enumerate().find(|(at, have)| {
                    let want = case.want([&a, &b, &bias], *at);
                    let close = (**have - want).abs() <= tolerance * want.abs().max(1.0);
                    !close
                });
                if let Some((at, have)) = far {
                    wrong.push(format!("{case:?}: element {at} is {have}, not {}", case.want([&a, &b, &bias], at)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn relu_and_gelu_keep_what_is_no_number() {
    let Some(device) = device() else { return };
    let mut lost = Vec::new();
    for dtype in [DType::F32, DType::BF16, DType::F16] {
        for sizes in [[3, 5, 7], [128, 256, 512], [65, 1000, 24]] {
            for epilogue in epilogues() {
                let case = Case { dtype, sizes, epilogue };
                let [m, n, k] = sizes;
                let (mut a, b, bias) = (numbers(m * k, 1), numbers(k * n, 2), numbers(n, 3));
                a[0] = f64::NAN;
                let have = match case.run(&device, [&a, &b, &bias]) {
                    Err(e) if e.kind == ErrorKind::Unsupported => continue,
                    have => have.unwrap(),
                };
                if !have[..n as usize].iter().all(|x| x.is_nan()) {
                    lost.push(format!("{case:?}: {:?}", &have[..4]));
                }
            }
        }
    }
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
}
