//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Fuses deep-learning graphs and runs them.
#[derive(Debug, Parser)]
#[command(name = "fuseline", version, about, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a model and show its outputs
    Run(Run),
    /// Show what was fused, what was not and why, and what it saves
    Explain(Explain),
    /// Time fused against one kernel per op
    Bench(Bench),
    /// Compare every fused kernel with the interpreter
    Verify(Verify),
    /// Print the IR after chosen passes
    Opt(Opt),
    /// Shrink a failing graph
    Reduce(Reduce),
    /// Say what this machine has, and measure it
    Doctor(Doctor),
}

/// A model and how to feed it.
#[derive(Args, Debug)]
pub(crate) struct ModelArgs {
    /// ONNX file, text-IR file (.t, .fuse, .txt), or zoo:NAME (`zoo:` lists the names)
    pub(crate) model: String,
    /// Input: NAME[:SHAPE][:DTYPE]=VALUE, e.g. x:1x128:i64=randint(0..30000); VALUE is a file (.npy, .npz[:KEY], .pb),
    /// randn, rand, zeros, ones, arange, randint(A..B), or numbers separated by commas
    #[arg(short = 'i', long = "input", value_name = "SPEC")]
    pub(crate) inputs: Vec<String>,
    /// Size of a symbolic dimension
    #[arg(long = "dim", value_name = "NAME=N", value_parser = parse_dim)]
    pub(crate) dims: Vec<(String, i64)>,
    /// Seed of random inputs and zoo weights
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Where it runs: cpu, cuda or cuda:N [default: FUSELINE_DEVICE, or cpu]
    #[arg(long)]
    pub(crate) device: Option<base::DeviceId>,
    /// How it runs: fused, eager (one kernel per op), reduce-overhead (fused, and runs on a GPU repeated as one launch), or
    /// max-autotune (fused, and schedules on a GPU chosen by time) [default: FUSELINE_MODE, or fused]
    #[arg(long)]
    pub(crate) mode: Option<base::Mode>,
    /// Threads; 0 is one per core [default: FUSELINE_THREADS, or 0]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
}

/// `fuseline run`
#[derive(Args, Debug)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Write outputs as DIR/output_K.npy
    #[arg(long, value_name = "DIR")]
    pub(crate) save_outputs: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fuseline explain`
#[derive(Args, Debug)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Show one kernel, by number or name: what it computes, and its program; for a GPU CUDA source, launches, registers and spills
    #[arg(long, value_name = "N")]
    pub(crate) kernel: Option<String>,
    /// Run it, and show measured times beside predicted ones, and the fraction of the device's roofline that is reached
    #[arg(long, conflicts_with = "kernel")]
    pub(crate) measure: bool,
    /// Runs to take the median of, with --measure
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// Exit with 1 unless it holds, e.g. kernels<=40, launches<=40, peak-mem<=16MB, bytes<=1GB
    #[arg(long = "assert", value_name = "CLAIM")]
    pub(crate) claims: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fuseline bench`
#[derive(Args, Debug)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Runs before timing, of each mode
    #[arg(long, default_value_t = 3)]
    pub(crate) warmup: usize,
    /// Timed runs of each mode
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// Exit with 1 unless it holds, e.g. speedup>=1.5, fused-ms<=10
    #[arg(long = "assert", value_name = "CLAIM")]
    pub(crate) claims: Vec<String>,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fuseline verify`
#[derive(Args, Debug)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Outputs to compare with: a .npy, .npz or .pb file, or a folder of output_K.npy or output_K.pb
    #[arg(long, value_name = "PATH")]
    pub(crate) expect: Option<PathBuf>,
    /// Relative tolerance [default: by dtype, 2e-4 for f32]
    #[arg(long)]
    pub(crate) rtol: Option<f64>,
    /// Absolute tolerance [default: a tenth of the relative one]
    #[arg(long)]
    pub(crate) atol: Option<f64>,
    /// Also compare the outputs with those of the unfused, unsimplified graph under the interpreter (ten times the tolerance)
    #[arg(long)]
    pub(crate) whole: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fuseline opt`
#[derive(Args, Debug)]
pub(crate) struct Opt {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Passes to print after: parse, simplify, prepare, plan, kernel, tile (the programs of the device); a list, or a range FROM..TO
    #[arg(long, value_name = "LIST", default_value = "simplify", conflicts_with = "to")]
    pub(crate) passes: String,
    /// First pass to run: simplify, prepare or plan; the model is taken as what the earlier ones gave
    #[arg(long, value_name = "PASS", default_value = "simplify")]
    pub(crate) from: String,
    /// Print only after this pass
    #[arg(long, value_name = "PASS")]
    pub(crate) to: Option<String>,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// `fuseline reduce`
#[derive(Args, Debug)]
pub(crate) struct Reduce {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// A shell command that gets the text-IR file as $1 and exits with non-zero while it fails; without, a graph fails when
    /// fused results and the interpreter's differ, or when compiling or running it does
    #[arg(long, value_name = "CMD")]
    pub(crate) check: Option<String>,
    /// The reduced graph; its inputs are written beside it as STEM.INPUT.npy
    #[arg(short, long, value_name = "FILE", default_value = "reduced.t")]
    pub(crate) output: PathBuf,
}

/// `fuseline doctor`
#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// Most threads to measure with; 0 is one per core
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Do not measure
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_dim(text: &str) -> Result<(String, i64), String> {
    let (name, size) = text.split_once('=').ok_or("expected NAME=N, e.g. batch=2")?;
    match size.trim().parse() {
        Ok(n) if n >= 0 => Ok((name.trim().to_owned(), n)),
        _ => Err(format!("{size:?} is not a size")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn dimensions() {
        assert_eq!(parse_dim("batch=2"), Ok(("batch".into(), 2)));
        assert!(parse_dim("batch").is_err() && parse_dim("batch=-1").is_err() && parse_dim("b=x").is_err());
    }
}
