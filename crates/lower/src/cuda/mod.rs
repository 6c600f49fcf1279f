//! Comp and sizes to a CUDA program: which threads compute what, and the CUDA C++ that says so.
//!
//! * `schedule`: how points are dealt to threads
//! * `nest`: loops, stages, merging over threads
//! * `print`, `scalar`: values as statements and expressions
//! * `product`: matrix products that the library computes
//!
//! Sizes are literals, but in kernels of several parts or of sizes that vary they are passed at launch, so that one binary serves
//! all of them.

mod nest;
mod print;
mod product;
mod scalar;
mod schedule;

use std::fmt::Write as _;

use base::{Numerics, Result};
use ::scalar::DType;
use program::{CudaProgram, CudaStep, Launch, PRELUDE_END};

use crate::partial::Unit;
use crate::{Request, flat, params, unsupported};
use nest::Body;
use print::Shared;
use schedule::Grid;

/// What every source begins with.
const PRELUDE: &str = include_str!("prelude.cuh");

/// Lowers the parts of a kernel, which do not depend on each other, for given sizes. Parameters beyond the comps' arguments are
/// workspaces.
///
/// # Errors
/// What neither generated code nor the library can express; the driver then falls back to smaller kernels.
pub fn lower_cuda(name: &str, parts: &[Request<'_>], dynamic: bool) -> Result<CudaProgram> {
    let mut program =
        CudaProgram { name: name.to_owned(), params: Vec::new(), source: String::new(), steps: Vec::new(), checks: Vec::new() };
    let mut phases: Vec<Vec<Unit>> = Vec::new();
    let firsts = place_arguments(parts, &mut program);
    for (request, first) in parts.iter().zip(firsts) {
        let mut flats = flat::flatten(request)?;
        for mut flat in flats.drain(..).filter(|flat| !flat.stores.is_empty()) {
            flat.move_arguments(first);
            if let Some(product) = product::product(&flat, &program.params) {
                program.steps.push(CudaStep::Product(product));
                continue;
            }
            add(&mut phases, flat, &mut program)?;
        }
    }
    let numerics = parts.first().map_or(Numerics::Eager, |r| r.numerics);
    print_phases(&phases, numerics, dynamic || parts.len() > 1, &mut program)?;
    Ok(program)
}

/// Adds the parameters of all parts; gives the number of each part's first.
fn place_arguments(parts: &[Request<'_>], program: &mut CudaProgram) -> Vec<usize> {
    let place = |request: &Request<'_>| {
        let first = program.params.len();
        program.params.extend(params(request));
        first
    };
    parts.iter().map(place).collect()
}

fn add(phases: &mut Vec<Vec<Unit>>, flat: flat::Flat, program: &mut CudaProgram) -> Result<()> {
    let dtypes: Vec<DType> = program.params.iter().map(|p| p.dtype).collect();
    let units = crate::partial::phases(flat, &Grid { dtypes: &dtypes }, &mut program.params)?;
    for (n, units) in units.into_iter().enumerate() {
        match phases.get_mut(n) {
            Some(beside) => beside.extend(units),
            None => phases.push(units),
        }
    }
    Ok(())
}

/// Prints every phase as one launch.
fn print_phases(phases: &[Vec<Unit>], numerics: Numerics, numbers: bool, program: &mut CudaProgram) -> Result<()> {
    if phases.is_empty() {
        return Ok(());
    }
    let dtypes: Vec<DType> = program.params.iter().map(|p| p.dtype).collect();
    let mut text = match numerics {
        Numerics::Eager => "// nvrtc: -fmad=false\n".to_owned(),
        Numerics::Wide => "#define WIDE\n".to_owned(),
    };
    text.push_str(PRELUDE);
    text.push_str(PRELUDE_END);
    let base = entry_name(&program.name);
    for (n, units) in phases.iter().enumerate() {
        let mut shared = Shared { dtypes: &dtypes, numerics, checks: &mut program.checks, numbers };
        let bodies = units.iter().map(|unit| nest::nest(unit, &mut shared)).collect::<Result<Vec<_>>>()?;
        let entry = if n == 0 { base.clone() } else { format!("{base}_finish{}", if n > 1 { n.to_string() } else { String::new() }) };
        let bodies: Vec<Body> = bodies.into_iter().filter(|b| b.blocks > 0).collect();
        if !bodies.is_empty() {
            program.steps.push(CudaStep::Launch(launch(&entry, bodies, &mut text)?));
        }
    }
    program.source = text;
    Ok(())
}

/// A kernel's name without its number: equal kernels of one plan are one binary.
fn entry_name(name: &str) -> String {
    let rest = name.trim_start_matches('k').trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('_');
    format!("k_{rest}")
}

/// One entry that runs bodies side by side; equal bodies are one function.
fn launch(entry: &str, bodies: Vec<Body>, text: &mut String) -> Result<Launch> {
    let threads = bodies.iter().map(|b| b.threads).max().unwrap_or(1);
    if bodies.len() > 1 && bodies.iter().any(|b| b.threads != threads) {
        return beside(entry, bodies, text);
    }
    if bodies.len() > 1 {
        return beside(entry, bodies, text);
    }
    let Body { text: body, args, numbers, blocks, .. } = bodies.into_iter().next().ok_or_else(|| unsupported("an empty launch"))?;
    let words = args.len() + numbers.len();
    let _ = writeln!(
        text,
        "struct {entry}_words {{ u64 w[{}]; }};\n\
         extern \"C\" __global__ void __launch_bounds__({threads}) {entry}(const __grid_constant__ {entry}_words words) {{\n\
         const u64* w = words.w; u64* fault = (u64*)w[{words}]; const u32 block = blockIdx.x;\n{body}}}",
        words + 1
    );
    let grid = u32::try_from(blocks).map_err(|_| unsupported("more than 2^32 blocks"))?;
    Ok(Launch { entry: entry.to_owned(), grid, threads: threads as u32, shared: 0, cluster: 1, args, numbers })
}

/// Bodies side by side: the words of each come one after another, before them a table of (first block, first word, function).
fn beside(entry: &str, bodies: Vec<Body>, text: &mut String) -> Result<Launch> {
    let threads = bodies.iter().map(|b| b.threads).max().unwrap_or(1);
    let mut functions: Vec<(&str, i64)> = Vec::new();
    let local = |b: &Body| b.args.iter().enumerate().fold(b.text.clone(), |t, (n, a)| rename(&t, *a, n));
    let texts: Vec<String> = bodies.iter().map(local).collect();
    let mut which = Vec::new();
    for (body, text) in bodies.iter().zip(&texts) {
        let key = (text.as_str(), body.threads);
        let found = functions.iter().position(|f| *f == key).unwrap_or_else(|| {
            functions.push(key);
            functions.len() - 1
        });
        which.push(found);
    }
    for (n, (body, own)) in functions.iter().enumerate() {
        let guard = if *own < threads { format!("if (threadIdx.x >= {own}) return;\n") } else { String::new() };
        if *own < threads && body.contains("scratch") {
            return Err(unsupported("parts with other numbers of threads that synchronise"));
        }
        let _ = writeln!(text, "DEV void {entry}_{n}(const u64* w, u64* fault, const u32 block) {{\n{guard}{body}}}");
    }
    let args: Vec<u16> = bodies.iter().flat_map(|b| b.args.iter().copied()).collect();
    let mut numbers: Vec<i64> = Vec::new();
    let mut table = Vec::new();
    let (mut first_block, mut first_arg) = (0, 0);
    for (body, function) in bodies.iter().zip(&which) {
        table.extend([first_block, first_arg as i64, numbers.len() as i64, *function as i64]);
        numbers.extend(&body.numbers);
        first_block += body.blocks;
        first_arg += body.args.len();
    }
    let count = bodies.len();
    let (start, total) = (args.len(), args.len() + table.len() + numbers.len());
    let most = bodies.iter().map(|b| b.args.len() + b.numbers.len()).max().unwrap_or(0);
    let arg_counts: Vec<String> = functions.iter().map(|f| args_of(f.0, &bodies, &texts).to_string()).collect();
    let number_counts: Vec<String> = functions.iter().map(|f| numbers_of(f.0, &bodies, &texts).to_string()).collect();
    let cases: String = (0..functions.len())
        .map(|n| {
            format!(
                "case {n}: UNROLL for (int i = 0; i < {a}; ++i) w[i] = all[t[1] + i]; \
                 UNROLL for (int i = 0; i < {m}; ++i) w[{a} + i] = all[{after} + t[2] + i]; {entry}_{n}(w, fault, block); break;\n",
                a = arg_counts[n],
                m = number_counts[n],
                after = start + table.len(),
            )
        })
        .collect();
    let _ = writeln!(
        text,
        "struct {entry}_words {{ u64 w[{}]; }};\n\
         extern \"C\" __global__ void __launch_bounds__({threads}) {entry}(const __grid_constant__ {entry}_words words) {{\n\
         const u64* all = words.w; u64* fault = (u64*)all[{total}];\n\
         int low = 0, high = {count};\n\
         while (high - low > 1) {{ int middle = (low + high) / 2; if (all[{start} + 4 * middle] <= blockIdx.x) low = middle; else high = middle; }}\n\
         const u64* t = all + {start} + 4 * low; const u32 block = blockIdx.x - (u32)t[0]; u64 w[{most}];\n\
         switch ((int)t[3]) {{\n{cases}}}\n}}",
        total + 1
    );
    table.extend(numbers);
    let grid = u32::try_from(first_block).map_err(|_| unsupported("more than 2^32 blocks"))?;
    Ok(Launch { entry: entry.to_owned(), grid, threads: threads as u32, shared: 0, cluster: 1, args, numbers: table })
}

fn args_of(text: &str, bodies: &[Body], texts: &[String]) -> usize {
    texts.iter().position(|t| t == text).map_or(0, |n| bodies[n].args.len())
}

fn numbers_of(text: &str, bodies: &[Body], texts: &[String]) -> usize {
    texts.iter().position(|t| t == text).map_or(0, |n| bodies[n].numbers.len())
}

/// Renames the pointer of a parameter to that of a function's argument.
fn rename(text: &str, param: u16, local: usize) -> String {
    let (from, to) = (format!("p{param}"), format!("b{local}"));
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(&from) {
        let before = rest[..at].chars().next_back();
        let after = rest[at + from.len()..].chars().next();
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        out.push_str(&rest[..at]);
        out.push_str(if is_word(before) || is_word(after) { &from } else { &to });
        rest = &rest[at + from.len()..];
    }
    out.push_str(rest);
    out
}
