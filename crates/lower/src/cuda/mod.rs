//! Comp and sizes to a CUDA program: which threads compute what, and the CUDA C++ that says so.
//!
//! * `schedule`: how points are dealt to threads
//! * `choice`: other ways, for a tuner to try
//! * `nest`: loops, stages, merging over threads
//! * `hold`: what several stages of a row read waits in registers or shared memory
//! * `online`: the greatest element and the sum of exponentials below it in one pass
//! * `stream`: rows one after another, read ahead
//! * `tiled`: reading along one axis and writing along another
//! * `walk`: points in order, with accumulators that live across them
//! * `print`, `scalar`: values as statements and expressions
//! * `product`: matrix products that a library computes
//! * `convolution`, `slide`, `layout`: convolutions that a library computes
//!
//! Sizes are literals, but in kernels of several parts or of sizes that vary they are passed at launch, so that one binary serves
//! all of them.

mod choice;
mod convolution;
mod hold;
mod layout;
mod nest;
mod online;
mod print;
mod product;
mod scalar;
mod schedule;
mod slide;
mod stream;
mod tiled;
mod walk;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ::scalar::DType;
use base::{Convolutions, CudaConfig, HashMap, Numerics, Result};
use program::{CudaProgram, CudaStep, HARDWARE_END, Launch, PRELUDE_END};

use crate::partial::Unit;
use crate::{Request, flat, params, unsupported};
pub use choice::Choice;
use nest::Body;
use print::{Settings, Shared};
use schedule::Grid;

/// What every source begins with: the hardware's own instructions, then what is plain C++.
const HARDWARE: &str = include_str!("hardware.cuh");
const PRELUDE: &str = include_str!("prelude.cuh");

/// Lowers the parts of a kernel, which do not depend on each other, for given sizes; `dynamic` says whether sizes are passed at
/// launch, and `choice` how schedules deviate from what sizes suggest. Parameters beyond the comps' arguments are workspaces.
///
/// # Errors
/// What neither generated code nor the library can express; the driver then falls back to smaller kernels.
pub fn lower_cuda(name: &str, parts: &[Request<'_>], dynamic: bool, config: &CudaConfig, choice: Choice) -> Result<CudaProgram> {
    let mut program =
        CudaProgram { name: name.to_owned(), params: Vec::new(), source: String::new(), steps: Vec::new(), checks: Vec::new() };
    let mut phases: Vec<Vec<Unit>> = Vec::new();
    let firsts = place_arguments(parts, &mut program);
    let clusters = config.clusters && !choice.no_clusters;
    for (request, first) in parts.iter().zip(firsts) {
        let flats = flat::flatten(request)?;
        let whole = flats.len() == 1;
        let epilogue = kernel::epilogue(request.comp, kernel::Epilogues::CUBLASLT, request.numerics).filter(|_| whole);
        let flats: Vec<flat::Flat> = flats.into_iter().filter(|flat| !flat.stores.is_empty()).collect();
        let alone = parts.len() == 1 && flats.len() == 1;
        for mut flat in flats {
            flat.move_arguments(first);
            let followed = epilogue.filter(|e| config.followed_products || e.is_bare());
            let allowed = config.f8_products || !product::is_f8(&flat, &program.params);
            let rest = match allowed.then(|| product::take(&flat, followed, &mut program.params)).flatten() {
                Some(taken) => {
                    program.steps.push(CudaStep::Product(taken.product));
                    taken.rest
                }
                None => convolved(flat, epilogue, config.convolutions, &mut program),
            };
            if let Some(rest) = rest {
                add(&mut phases, rest, clusters && alone, &mut program)?;
            }
        }
    }
    let numerics = parts.first().map_or(Numerics::Eager, |r| r.numerics);
    let settings = Settings { numerics, clusters, numbers: dynamic || parts.len() > 1, choice };
    print_phases(&phases, settings, &mut program)?;
    Ok(program)
}

/// Leaves a convolution of a comp to the library, if it may; gives what remains.
fn convolved(
    flat: flat::Flat,
    epilogue: Option<kernel::Epilogue>,
    allowed: Convolutions,
    program: &mut CudaProgram,
) -> Option<flat::Flat> {
    let may = allowed > Convolutions::Loops;
    match may.then(|| convolution::take(&flat, epilogue, allowed, &mut program.params)).flatten() {
        Some((convolution, rest)) => {
            program.steps.push(CudaStep::Convolution(convolution));
            rest
        }
        None => Some(flat),
    }
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

fn add(phases: &mut Vec<Vec<Unit>>, flat: flat::Flat, clusters: bool, program: &mut CudaProgram) -> Result<()> {
    let dtypes: Vec<DType> = program.params.iter().map(|p| p.dtype).collect();
    let units = crate::partial::phases(flat, &Grid { dtypes: &dtypes, clusters }, &mut program.params)?;
    for (n, units) in units.into_iter().enumerate() {
        match phases.get_mut(n) {
            Some(beside) => beside.extend(units),
            None => phases.push(units),
        }
    }
    Ok(())
}

/// Prints every phase as one launch.
fn print_phases(phases: &[Vec<Unit>], settings: Settings, program: &mut CudaProgram) -> Result<()> {
    if phases.is_empty() {
        return Ok(());
    }
    let dtypes: Vec<DType> = program.params.iter().map(|p| p.dtype).collect();
    let mut text = match settings.numerics {
        Numerics::Eager => "// nvrtc: -fmad=false\n".to_owned(),
        Numerics::Wide => "#define WIDE\n".to_owned(),
    };
    text.push_str(HARDWARE);
    text.push_str(HARDWARE_END);
    text.push_str(PRELUDE);
    text.push_str(PRELUDE_END);
    let base = entry_name(&program.name);
    for (n, units) in phases.iter().enumerate() {
        let (checks, alone) = (&mut program.checks, units.len() == 1);
        let mut shared = Shared { dtypes: &dtypes, settings, checks, alone };
        let bodies = units.iter().map(|unit| nest::nest(unit, &mut shared)).collect::<Result<Vec<_>>>()?;
        let phase =
            if n == 0 { base.clone() } else { format!("{base}_finish{}", if n > 1 { n.to_string() } else { String::new() }) };
        for (m, bodies) in launches(bodies).into_iter().enumerate() {
            let entry = if m == 0 { phase.clone() } else { format!("{phase}_{m}") };
            program.steps.push(CudaStep::Launch(launch(&entry, bodies, &mut text)?));
        }
    }
    program.source = text;
    Ok(())
}

/// Bodies that share a launch: those whose threads wait for each other need a number of threads of their own.
fn launches(bodies: Vec<Body>) -> Vec<Vec<Body>> {
    let mut groups: BTreeMap<i64, Vec<Body>> = BTreeMap::new();
    for body in bodies.into_iter().filter(|b| b.blocks > 0) {
        let threads = if body.text.contains("__shared__") { body.threads } else { 0 };
        groups.entry(threads).or_default().push(body);
    }
    groups.into_values().collect()
}

/// A kernel's name without its number: equal kernels of one plan are one binary.
fn entry_name(name: &str) -> String {
    let rest = name.trim_start_matches('k').trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('_');
    format!("k_{rest}")
}

/// One entry that runs bodies side by side; equal bodies are one function.
fn launch(entry: &str, bodies: Vec<Body>, text: &mut String) -> Result<Launch> {
    let threads = bodies.iter().map(|b| b.threads).max().unwrap_or(1);
    if bodies.len() > 1 {
        return beside(entry, bodies, text);
    }
    let Body { text: body, args, numbers, blocks, shared, cluster, in_turns, .. } =
        bodies.into_iter().next().ok_or_else(|| unsupported("an empty launch"))?;
    let words = args.len() + numbers.len();
    let _ = writeln!(
        text,
        "struct {entry}_words {{ u64 w[{}]; }};\n\
         extern \"C\" __global__ void __launch_bounds__({threads}) {entry}(const __grid_constant__ {entry}_words words) {{\n\
         earlier_kernels_done();\n\
         const u64* w = words.w; u64* fault = (u64*)w[{words}]; const u32 block = blockIdx.x;\n{body}}}",
        words + 1
    );
    let grid = u32::try_from(blocks).map_err(|_| unsupported("more than 2^32 blocks"))?;
    let (threads, shared, cluster) = (threads as u32, shared as u32, cluster as u32);
    Ok(Launch { entry: entry.to_owned(), grid, threads, shared, cluster, in_turns, args, numbers })
}

/// Bodies side by side: the words of each come one after another, after a table with (first block, first address, first number,
/// function) of each.
fn beside(entry: &str, bodies: Vec<Body>, text: &mut String) -> Result<Launch> {
    let threads = bodies.iter().map(|b| b.threads).max().unwrap_or(1);
    let mut functions: Vec<Function> = Vec::new();
    let (mut table, mut args, mut numbers): (Vec<i64>, Vec<u16>, Vec<i64>) = Default::default();
    let mut first_block = 0;
    for body in &bodies {
        let function =
            Function { text: canonical(&body.text), threads: body.threads, args: body.args.len(), numbers: body.numbers.len() };
        let known = functions.iter().position(|f| *f == function).unwrap_or(functions.len());
        if known == functions.len() {
            functions.push(function);
        }
        table.extend([first_block, args.len() as i64, numbers.len() as i64, known as i64]);
        args.extend(&body.args);
        numbers.extend(&body.numbers);
        first_block += body.blocks;
    }
    let (start, after) = (args.len(), args.len() + table.len());
    let total = after + numbers.len();
    let mut cases = String::new();
    for (n, f) in functions.iter().enumerate() {
        let guard = if f.threads < threads { format!("if (threadIdx.x >= {}) return;\n", f.threads) } else { String::new() };
        let _ = writeln!(text, "DEV void {entry}_{n}(const u64* w, u64* fault, const u32 block) {{\n{guard}{}}}", f.text);
        let _ = writeln!(
            cases,
            "case {n}: UNROLL for (int i = 0; i < {a}; ++i) w[i] = all[t[1] + i]; \
             UNROLL for (int i = 0; i < {m}; ++i) w[{a} + i] = all[{after} + t[2] + i]; {entry}_{n}(w, fault, block); break;",
            a = f.args,
            m = f.numbers,
        );
    }
    let most = functions.iter().map(|f| f.args + f.numbers).max().unwrap_or(0).max(1);
    let _ = writeln!(
        text,
        "struct {entry}_words {{ u64 w[{}]; }};\n\
         extern \"C\" __global__ void __launch_bounds__({threads}) {entry}(const __grid_constant__ {entry}_words words) {{\n\
         earlier_kernels_done();\n\
         const u64* all = words.w; u64* fault = (u64*)all[{total}];\n\
         int low = 0, high = {count};\n\
         while (high - low > 1) {{\n\
         int middle = (low + high) / 2; if (all[{start} + 4 * middle] <= blockIdx.x) low = middle; else high = middle;\n\
         }}\n\
         const u64* t = all + {start} + 4 * low; const u32 block = blockIdx.x - (u32)t[0]; u64 w[{most}];\n\
         switch ((int)t[3]) {{\n{cases}}}\n}}",
        total + 1,
        count = bodies.len(),
    );
    table.extend(numbers);
    let grid = u32::try_from(first_block).map_err(|_| unsupported("more than 2^32 blocks"))?;
    Ok(Launch {
        entry: entry.to_owned(),
        grid,
        threads: threads as u32,
        shared: 0,
        cluster: 1,
        in_turns: false,
        args,
        numbers: table,
    })
}

/// One device function of several parts.
#[derive(PartialEq, Eq)]
struct Function {
    text: String,
    threads: i64,
    args: usize,
    numbers: usize,
}

/// A body with its variables numbered in order of appearance, so that bodies that do the same are equal.
fn canonical(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut seen: HashMap<&str, usize> = HashMap::default();
    let mut counts: HashMap<char, usize> = HashMap::default();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        match numbered(word) {
            Some((letter, digits)) => {
                let number = *seen.entry(&word[..1 + digits]).or_insert_with(|| {
                    let count = counts.entry(letter).or_default();
                    *count += 1;
                    *count - 1
                });
                let _ = write!(out, "{letter}{number}{}", &word[1 + digits..]);
            }
            None => out.push_str(word),
        }
    }
    out.push_str(rest);
    out
}

/// Letter and length of the digits of a word such as `v12` or `y3a`.
fn numbered(word: &str) -> Option<(char, usize)> {
    let letter = word.chars().next().filter(|c| "pvrhyesakczdt".contains(*c))?;
    let digits = word[1..].find(|c: char| !(c.is_ascii_digit() || c == '_')).unwrap_or(word.len() - 1);
    let is_variable = word[1..].starts_with(|c: char| c.is_ascii_digit()) && word.len() - 1 - digits <= 1;
    is_variable.then_some((letter, digits))
}
