//! The 8-bit floats on the CPU against the interpreter: every code, every conversion, and contractions.

use graph::{Graph, HostTensor, text};
use scalar::{DType, Scalar};
use testing::cpu::cpu_runtimes;
use testing::differential::{Case, Outcome, check, graph_runtimes};

const FORMATS: [DType; 2] = [DType::F8E4M3, DType::F8E5M2];

fn agree(graph: Graph, inputs: Vec<HostTensor>) {
    let case = Case { graph, inputs };
    for runtime in graph_runtimes().iter().chain(&cpu_runtimes()) {
        assert_eq!(check(&case, runtime).unwrap_or_else(|e| panic!("{e}")), Outcome::Agreed);
    }
}

fn parse(body: &str) -> Graph {
    text::parse("test", body).unwrap_or_else(|e| panic!("{e}\n{body}"))
}

/// Every code of a format.
fn codes(dtype: DType) -> HostTensor {
    HostTensor::from_bytes(dtype, &[256], (0..=255).collect()).unwrap()
}

#[test]
fn every_code_converts_to_every_dtype() {
    for from in FORMATS {
        for to in DType::ALL {
            let body = format!("func f(x: {from}[256]) {{\n  %a = cast.{to} %x\n  return a = %a\n}}\n");
            agree(parse(&body), vec![codes(from)]);
        }
    }
}

#[test]
fn every_dtype_rounds_to_both() {
    let spread: Vec<f64> = (0..4096).map(|i| f64::from(i - 2048).powi(3) * 1e-5).collect();
    for from in DType::ALL {
        for to in FORMATS {
            let body = format!("func f(x: {from}[4096]) {{\n  %a = cast.{to} %x\n  return a = %a\n}}\n");
            agree(parse(&body), vec![HostTensor::from_f64s(from, &[4096], &spread)]);
        }
    }
}

#[test]
fn views_copies_and_choices_keep_codes() {
    for d in FORMATS {
        let body = format!(
            "func f(x: {d}[256], m: bool[256], i: i64[9]) {{\n  %r = view.reshape %x [16, 16]\n  %t = view.permute %r [1, 0]\n  \
             %p = view.pad %t lo [1, 0] hi [2, 3] interior [0, 1] value 2.5\n  %c = concat %r, %t [0]\n  %g = gather %x, %i [0]\n  %k = const {d} 0.5\n  %o = view.reshape %k [1]\n  \
             %e = view.expand %o [256]\n  %s = select %m, %x, %e\n  %u = bitcast.u8 %s\n  return p = %p, c = %c, g = %g, s = %s, u = %u\n}}\n"
        );
        let mask = HostTensor::from_bytes(DType::Bool, &[256], (0..256).map(|i| u8::from(i % 3 == 0)).collect()).unwrap();
        let at = HostTensor::from_f64s(DType::I64, &[9], &[0.0, 255.0, 127.0, 128.0, 3.0, 3.0, 126.0, 124.0, 5.0]);
        agree(parse(&body), vec![codes(d), mask, at]);
    }
}

#[test]
fn contractions_accumulate_in_f32() {
    let matrix = |d: DType, rows: usize, seed: i64| {
        let value = |i: usize| Scalar::from_f64(d, ((i as i64 * 97 + seed * 31) % 13 - 6) as f64 / 2.0);
        HostTensor::from_scalars(d, &[rows, 40], (0..rows * 40).map(value))
    };
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(a, b)| (FORMATS[a], FORMATS[b])) {
        for rows in [1, 33] {
            let body = format!(
                "func f(x: {a}[{rows}, 40], w: {b}[24, 40]) {{\n  %y = contract %x, %w \"ab,cb->ac\" acc f32\n  \
                 %z = cast.bf16 %y\n  %q = cast.{a} %y\n  return y = %y, z = %z, q = %q\n}}\n"
            );
            agree(parse(&body), vec![matrix(a, rows, 1), matrix(b, 24, 2)]);
        }
    }
}
