//! What the library does after a product, on a GPU, where there is one, for element types and sizes that are odd in all ways.
//! Without a GPU the test says so and passes.

use base::{ErrorKind, Result};
use program::{Access, Beside, CudaProgram, CudaStep, Epilogue, Operand, Param, Product, Vector};
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
                param("vector", if self.epilogue.sums.is_some() { Access::Write } else { Access::Read }, n),
                param("beside", if self.keeps() { Access::Write } else { Access::Read }, m * n),
            ],
            source: String::new(),
            steps: vec![CudaStep::Product(product)],
            checks: vec![],
        }
    }

    /// Whether what the function is applied to is a second result.
    fn keeps(&self) -> bool {
        self.epilogue.beside.is_some() && self.epilogue.activation == Some(Activation::GeluTanh)
    }

    /// Element `at` of the result, and what the function is applied to there.
    fn want(&self, [a, b, bias, beside]: [&[f64]; 4], at: usize) -> [f64; 2] {
        let [_, n, k] = self.sizes.map(|s| s as usize);
        let (i, j) = (at / n, at % n);
        let sum: f64 = (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
        let x = if self.epilogue.bias.is_some() { sum + bias[j] } else { sum };
        let y = match self.epilogue.activation {
            None => x,
            Some(Activation::Relu) => x.max(0.0),
            Some(Activation::GeluTanh) => gelu_tanh(x),
            // The derivative by differences, of an error far below the tolerance.
            Some(Activation::GeluTanhBackward) => x * (gelu_tanh(beside[at] + 1e-4) - gelu_tanh(beside[at] - 1e-4)) / 2e-4,
        };
        [y, x]
    }

    /// What the GPU gives for these operands: the result, the second matrix, and the vector.
    fn run(&self, device: &Device, operands: [&[f64]; 4]) -> Result<[Vec<f64>; 3]> {
        let prepared = device.prepare(self.program())?;
        let pool = device.pool();
        let [a, b, bias, beside] = operands.map(|o| upload(pool, self.dtype, o));
        let size = self.dtype.size();
        let count = (self.sizes[0] * self.sizes[1]) as usize;
        let d = pool.alloc(count * size)?;
        device.launch(&prepared, &[&a, &b, &d, &bias, &beside].map(Arg::from))?;
        let read = |buffer: &Buffer, count: usize| -> Result<Vec<f64>> {
            let mut bytes = vec![0; count * size];
            buffer.read(0, &mut bytes)?;
            Ok(bytes.chunks_exact(size).map(|c| number(self.dtype, c)).collect())
        };
        Ok([read(&d, count)?, read(&beside, count)?, read(&bias, self.sizes[1] as usize)?])
    }
}

fn gelu_tanh(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
    x / 2.0 * (1.0 + inner.tanh())
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
    let bias = [None, Some(Vector { param: 3, offset: 0, over_rows: false })];
    let functions = [None, Some(Activation::Relu), Some(Activation::GeluTanh)];
    let alone = |b: &Option<Vector>| functions.map(|activation| Epilogue { bias: b.clone(), activation, ..Epilogue::default() });
    bias.iter().flat_map(alone).collect()
}

/// Those with a second matrix, written and read, and with sums.
fn with_second_matrix() -> Vec<Epilogue> {
    let bias = Some(Vector { param: 3, offset: 0, over_rows: false });
    let sums = Some(Vector { param: 3, offset: 0, over_rows: false });
    let beside = Some(Beside { param: 4, offset: 0 });
    let (gelu, backward) = (Some(Activation::GeluTanh), Some(Activation::GeluTanhBackward));
    let kinds = [(None, gelu, None), (bias, gelu, None), (None, backward, None), (None, backward, sums)];
    kinds.map(|(bias, activation, sums)| Epilogue { bias, activation, beside: beside.clone(), sums }).to_vec()
}

/// What is wrong with a case: an error, or the first element that is far from the reference. `None` where all is right.
fn fault(case: &Case, device: &Device) -> std::result::Result<Option<String>, base::Error> {
    let [m, n, k] = case.sizes;
    let (a, b, bias, beside) = (numbers(m * k, 1), numbers(k * n, 2), numbers(n, 3), numbers(m * n, 4));
    let operands = [&a[..], &b, &bias, &beside];
    let [result, second, vector] = case.run(device, operands)?;
    let tolerance = if case.dtype == DType::F32 { 1e-3 } else { 2e-2 };
    for at in 0..result.len() {
        let want = case.want(operands, at);
        let have = [result[at], second[at]];
        for which in 0..if case.keeps() { 2 } else { 1 } {
            let close = (have[which] - want[which]).abs() <= tolerance * want[which].abs().max(1.0);
            if !close {
                return Ok(Some(format!("{case:?}: element {at} of matrix {which} is {}, not {}", have[which], want[which])));
            }
        }
    }
    Ok(case.epilogue.sums.as_ref().and_then(|_| far_sum(case, operands, &vector)))
}

/// The first sum over the rows of the result that is far from the reference: sums of rounded or of unrounded results will do.
fn far_sum(case: &Case, operands: [&[f64]; 4], have: &[f64]) -> Option<String> {
    let tolerance = if case.dtype == DType::F32 { 1e-3 } else { 2e-2 };
    let [m, n, _] = case.sizes.map(|s| s as usize);
    (0..n).find_map(|j| {
        let column: Vec<f64> = (0..m).map(|i| case.want(operands, i * n + j)[0]).collect();
        let (want, size) = (column.iter().sum::<f64>(), column.iter().map(|x| x.abs()).sum::<f64>());
        let close = (have[j] - want).abs() <= tolerance * size.max(1.0);
        (!close).then(|| format!("{case:?}: sum {j} is {}, not {want}", have[j]))
    })
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
                match fault(&case, &device) {
                    Err(e) if e.kind == ErrorKind::Unsupported && e.to_string().contains("was not found") => {
                        return println!("skipped: {e}");
                    }
                    Err(e) => wrong.push(format!("{case:?}: {e}")),
                    Ok(fault) => wrong.extend(fault),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn second_matrices_of_all_types_and_sizes_equal_the_reference_or_are_refused() {
    let Some(device) = device() else { return };
    let (mut wrong, mut taken) = (Vec::new(), 0);
    for dtype in [DType::F32, DType::BF16, DType::F16] {
        for sizes in [[1, 8, 3], [3, 5, 7], [17, 16, 21], [64, 40, 33], [2, 1024, 64], [128, 256, 512], [65, 1000, 24]] {
            for epilogue in with_second_matrix() {
                let case = Case { dtype, sizes, epilogue };
                match fault(&case, &device) {
                    Err(e) if e.kind == ErrorKind::Unsupported => println!("refused: {case:?}: {e}"),
                    Err(e) => wrong.push(format!("{case:?}: {e}")),
                    Ok(fault) => {
                        assert_eq!(sizes[1] % 8, 0, "{case:?} cannot be addressed");
                        taken += 1;
                        wrong.extend(fault);
                    }
                }
            }
        }
    }
    println!("{taken} taken");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn functions_keep_what_is_no_number() {
    let Some(device) = device() else { return };
    let mut lost = Vec::new();
    for dtype in [DType::F32, DType::BF16, DType::F16] {
        for sizes in [[3, 5, 7], [128, 256, 512], [65, 1000, 24]] {
            for epilogue in epilogues().into_iter().chain(with_second_matrix()) {
                let case = Case { dtype, sizes, epilogue };
                let [m, n, k] = sizes;
                let (mut a, b, bias, beside) = (numbers(m * k, 1), numbers(k * n, 2), numbers(n, 3), numbers(m * n, 4));
                a[0] = f64::NAN;
                let [result, second, vector] = match case.run(&device, [&a, &b, &bias, &beside]) {
                    Err(e) if e.kind == ErrorKind::Unsupported => continue,
                    have => have.unwrap(),
                };
                let kept = if case.keeps() { &second } else { &result };
                let sums = if case.epilogue.sums.is_some() { &vector } else { &result };
                if ![&result, kept, sums].iter().all(|have| have[..n as usize].iter().all(|x| x.is_nan())) {
                    lost.push(format!("{case:?}: {:?}", &result[..4]));
                }
            }
        }
    }
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
}
