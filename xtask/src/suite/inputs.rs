//! Unusual inputs: tensors beyond 2³¹ elements, tables without rows, memory that is not aligned or not there.

use std::thread;

use base::{Config, DeviceId, ErrorKind, Result};
use driver::{Array, Device, Executable, Module};
use graph::{HostTensor, text};
use runtime::Buffer;
use scalar::DType;

use super::Context;
use super::outcome::Outcome;

/// Rows of a table without rows.
const EMPTY: &str = "func empty(x: f32[n, 4], i: i64[2, 4]) -> (y) {
  %2 = gather %x, %i [0] : f32[2, 4]   # embedding @ model.rs:7
  return y = %2
}
";

const ADD: &str = "func add(x: i8[m, n]) -> (y) {
  %1 = add %x, %x : i8[m, n]
  return y = %1
}
";
const SUM: &str = "func sum(x: i8[m, n]) -> (y) {
  %1 = cast.i64 %x : i64[m, n]
  %2 = reduce.sum %1 [0, 1] : i64[]
  return y = %2
}
";
const PICK: &str = "func pick(x: i8[n], i: i64[k]) -> (y) {
  %2 = gather %x, %i [0] : i8[k]
  return y = %2
}
";
const TURN: &str = "func turn(x: i8[m, n]) -> (y) {
  %1 = view.permute %x [1, 0] : i8[n, m]
  %2 = add %1, %1 : i8[n, m]
  return y = %2
}
";
const POINT: &str = "func point(x: f32[n], y: f32[n]) -> (z) {
  %2 = mul %x, %y : f32[n]
  %3 = exp %2 : f32[n]
  return z = %3
}
";
const OTHER: &str = "func other(x: f32[n], y: f32[n]) -> (z) {
  %2 = add %x, %y : f32[n]
  %3 = reduce.sum %2 [0] : f32[]
  return z = %3
}
";

fn compile(context: &Context, body: &str) -> Result<Executable> {
    compile_with(&context.config, body)
}

fn compile_with(config: &Config, body: &str) -> Result<Executable> {
    driver::compile(&Module { graph: text::parse("suite", body)?, frozen: Vec::new() }, config)
}

/// A table of no rows has no row of any number: the error is that of the CPU.
///
/// # Errors
/// A program that does not compile.
pub(crate) fn empty_table(context: &Context) -> Result<Outcome> {
    let inputs = [HostTensor::from_f64s(DType::F32, &[0, 4], &[]), HostTensor::from_i64s(DType::I64, &[2, 4], &[0; 8])];
    let cpu = Config { device: DeviceId::Cpu, ..context.config.clone() };
    let [here, there] = [&context.config, &cpu].map(|c| compile_with(c, EMPTY).and_then(|e| e.run(&inputs)));
    let complaint = match (here, there) {
        (Err(here), Err(there)) if here.kind == there.kind && here.message() == there.message() => None,
        (here, there) => Some(format!("here {here:?}, on the CPU {there:?}")),
    };
    Ok(Outcome::of(1, complaint.into_iter().collect(), || EMPTY.to_owned()))
}

/// Element `i` of the large tensors.
fn element(i: usize) -> i8 {
    (i % 127) as i8 - 63
}

/// An array of as many elements, filled from its beginning.
fn large(device: &Device, shape: &[usize]) -> Result<Array> {
    const TILE: usize = 127 << 16;
    let array = Array::contiguous(device.pool(), DType::I8, shape)?;
    let tile: Vec<u8> = (0..TILE).map(|i| element(i) as u8).collect();
    let bytes = array.elements();
    array.buffer.write(0, &tile[..TILE.min(bytes)])?;
    let mut have = TILE.min(bytes);
    while have < bytes {
        let more = have.min(bytes - have);
        array.buffer.copy_from(have, &array.buffer, 0, more)?;
        have += more;
    }
    Ok(array)
}

fn at(array: &Array, position: usize) -> Result<i8> {
    let mut byte = [0];
    array.buffer.read(array.offset_bytes() + position, &mut byte)?;
    Ok(byte[0] as i8)
}

/// Tensors of more than 2³¹ elements.
///
/// # Errors
/// A program that does not compile or run.
pub(crate) fn beyond_i32(context: &Context) -> Result<Outcome> {
    if context.config.device == DeviceId::Cpu {
        return Ok(Outcome::Skipped("takes several GB".to_owned()));
    }
    let (rows, columns) = ((1 << 16) + 1, (1 << 15) + 3);
    let count = rows * columns;
    let mut complaints = Vec::new();
    let add = compile(context, ADD)?;
    let x = large(add.device(), &[rows, columns])?;
    let y = add.run_arrays(std::slice::from_ref(&x))?;
    for i in [0, 1, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, count - 1] {
        let (got, want) = (at(&y[0], i)?, element(i).wrapping_mul(2));
        complaints.extend((got != want).then(|| format!("add: element {i} is {got}, not {want}")));
    }
    drop(y);
    let turned = compile(context, TURN)?.run_arrays(std::slice::from_ref(&x))?;
    for (row, column) in [(0, 1), (rows - 1, columns - 1), (rows - 1, 0), (rows / 2, columns - 2)] {
        let (got, want) = (at(&turned[0], column * rows + row)?, element(row * columns + column).wrapping_mul(2));
        complaints.extend((got != want).then(|| format!("transpose: {row}, {column} is {got}, not {want}")));
    }
    drop(turned);
    let sum = compile(context, SUM)?.run_arrays(std::slice::from_ref(&x))?[0].item()?.as_i64();
    let want: i64 = (0..count % 127).map(|i| i64::from(element(i))).sum();
    complaints.extend((sum != want).then(|| format!("sum: {sum}, not {want}")));
    let flat = Array { shape: vec![count], strides: vec![1], ..x };
    let positions = [0, (1 << 31) - 1, 1 << 31, count as i64 - 1];
    let bytes: Vec<u8> = positions.iter().flat_map(|p: &i64| p.to_le_bytes()).collect();
    let pick = compile(context, PICK)?;
    let index = Array::from_bytes(pick.device().pool(), DType::I64, &[positions.len()], &bytes)?;
    let picked = pick.run_arrays(&[flat, index])?;
    for (n, &i) in positions.iter().enumerate() {
        let (got, want) = (at(&picked[0], n)?, element(i as usize));
        complaints.extend((got != want).then(|| format!("gather: element {i} is {got}, not {want}")));
    }
    Ok(Outcome::of(4, complaints, String::new))
}

fn floats(device: &Device, count: usize, value: f32) -> Result<Array> {
    let bytes: Vec<u8> = std::iter::repeat_n(value.to_le_bytes(), count).flatten().collect();
    Array::from_bytes(device.pool(), DType::F32, &[count], &bytes)
}

/// Whether all of a program's first results are a value.
fn gives(outputs: &[Array], wanted: f64) -> Result<bool> {
    Ok(driver::to_host(&outputs[0])?.to_f64s().iter().all(|v| (v - wanted).abs() <= 1e-4 * wanted.abs()))
}

/// Inputs that begin between two multiples of 16 bytes.
///
/// # Errors
/// A program that does not compile or run.
pub(crate) fn misaligned(context: &Context) -> Result<Outcome> {
    let exe = compile(context, POINT)?;
    let whole = floats(exe.device(), 1001, 0.5)?;
    let mut complaints = Vec::new();
    for offset in 1..4 {
        let x = Array { shape: vec![997], offset, ..whole.clone() };
        let outputs = exe.run_arrays(&[x.clone(), x])?;
        if !gives(&outputs, 0.25f64.exp())? {
            complaints.push(format!("wrong results of inputs at element {offset}"));
        }
    }
    Ok(Outcome::of(3, complaints, String::new))
}

/// A call that finds too little memory is an error that says who has it, and does no harm; what is only kept is given up first.
///
/// # Errors
/// A program that does not compile or run.
pub(crate) fn too_little_memory(context: &Context) -> Result<Outcome> {
    let exe = compile(context, POINT)?;
    let Some(info) = exe.device().info() else { return Ok(Outcome::Skipped("needs a GPU".to_owned())) };
    let pool = exe.device().pool();
    let small = [floats(exe.device(), 1000, 0.5)?, floats(exe.device(), 1000, 1.0)?];
    let large = |value| floats(exe.device(), 1 << 28, value);
    let inputs = [large(0.5)?, large(1.0)?];
    let mut complaints = Vec::new();
    let mut hogs: Vec<Buffer> = Vec::new();
    pool.trim();
    for bytes in [info.memory / 2, info.memory / 4, info.memory / 8, 8 << 30, 4 << 30, 2 << 30, 1 << 30, 512 << 20, 256 << 20] {
        while let Ok(hog) = pool.alloc(bytes) {
            hogs.push(hog);
        }
    }
    match exe.run_arrays(&inputs) {
        Err(e) if e.kind == ErrorKind::OutOfMemory => {
            let missing = ["wanted", "in use by", "are free"].into_iter().filter(|w| !e.message().contains(w));
            complaints.extend(missing.map(|w| format!("the error does not say {w:?}: {e}")));
        }
        other => complaints.push(format!("no error for too little memory: {:?}", other.map(|o| o.len()))),
    }
    if !gives(&exe.run_arrays(&small)?, 0.5f64.exp())? {
        complaints.push("small calls do not work any more".to_owned());
    }
    // Now all is kept by the pool, in other sizes.
    hogs.clear();
    if !gives(&exe.run_arrays(&inputs)?, 0.5f64.exp())? {
        complaints.push("wrong results after memory came back".to_owned());
    }
    pool.trim();
    Ok(Outcome::of(3, complaints, String::new))
}

/// Eight threads run two executables at once, both modes of launching among them.
///
/// # Errors
/// A program that does not compile.
pub(crate) fn two_executables(context: &Context) -> Result<Outcome> {
    const COUNT: usize = 5000;
    let replay = Config { replay: true, ..context.config.clone() };
    let (point, other) = (compile(context, POINT)?, compile_with(&replay, OTHER)?);
    let one = |n: usize| -> Result<Option<String>> {
        for round in 0..40 {
            let value = (n * 40 + round) as f32 / 320.0;
            let inputs = [floats(point.device(), COUNT, value)?, floats(point.device(), COUNT, 0.5)?];
            let (exe, want) = match (n + round) % 2 {
                0 => (&point, f64::from((value * 0.5).exp())),
                _ => (&other, f64::from(value + 0.5) * COUNT as f64),
            };
            if !gives(&exe.run_arrays(&inputs)?, want)? {
                return Ok(Some(format!("thread {n}, round {round}: not {want}")));
            }
        }
        Ok(None)
    };
    let complaints = thread::scope(|s| {
        let running: Vec<_> = (0..8).map(|n| s.spawn(move || one(n).unwrap_or_else(|e| Some(e.to_string())))).collect();
        running.into_iter().filter_map(|t| t.join().unwrap_or(Some("a thread panicked".to_owned()))).collect()
    });
    Ok(Outcome::of(8 * 40, complaints, String::new))
}

/// A device number beyond the number of devices is an error that says how many there are.
///
/// # Errors
/// None of its own.
pub(crate) fn device_number(context: &Context) -> Result<Outcome> {
    if context.config.device == DeviceId::Cpu {
        return Ok(Outcome::Skipped("needs a GPU".to_owned()));
    }
    let complaint = match compile_with(&Config { device: DeviceId::Cuda(99), ..context.config.clone() }, POINT) {
        Err(e) if e.message().contains("no GPU cuda:99") && e.message().contains("numbered from 0") => None,
        Err(e) => Some(format!("the error for cuda:99 says {e}")),
        Ok(_) => Some("there is a cuda:99".to_owned()),
    };
    Ok(Outcome::of(1, complaint.into_iter().collect(), String::new))
}
