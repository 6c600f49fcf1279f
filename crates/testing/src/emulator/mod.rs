//! Runs generated CUDA C++ on the CPU: a C++ compiler takes the source with `host.hpp` in place of the hardware's instructions.
//!
//! What differs from a GPU: the order of threads between waits, approximations, and no warp runs in step, so that code which
//! takes that for granted fails here. Products of the library are not run.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use base::{Error, Result};
use program::{CudaProgram, CudaStep, HARDWARE_END, Launch};

/// What takes the place of the hardware's instructions.
const HOST: &str = include_str!("host.hpp");

/// A C++ compiler and a folder for what it makes.
pub struct Emulator {
    compiler: PathBuf,
    folder: PathBuf,
}

impl Emulator {
    /// Programs are compiled by `compiler` (GCC or Clang) into a folder, which is created.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new(compiler: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Result<Emulator> {
        let (compiler, folder) = (compiler.into(), folder.into());
        fs::create_dir_all(&folder).map_err(|e| Error::io(format!("{}: {e}", folder.display())))?;
        Ok(Emulator { compiler, folder })
    }

    /// Runs the launches of a program on the bytes of its parameters; gives the message of the first failed check.
    ///
    /// # Errors
    /// A product of the library among the steps; a source that does not compile; a program that fails.
    pub fn run(&self, program: &CudaProgram, params: &mut [Vec<u8>]) -> Result<Option<String>> {
        let path = |extension: &str| self.folder.join(format!("{}.{extension}", program.name));
        let (source, binary, before, after) = (path("cpp"), path("exe"), path("in"), path("out"));
        write(&source, translated(program)?.as_bytes())?;
        let flags = ["-std=c++17", "-O1", "-w", "-ffp-contract=off", "-pthread", "-o"];
        succeed(Command::new(&self.compiler).args(flags).args([&binary, &source]))?;
        let bytes: Vec<u8> =
            params.iter().flat_map(|p| (p.len() as u64).to_le_bytes().into_iter().chain(p.iter().copied())).collect();
        write(&before, &bytes)?;
        succeed(Command::new(&binary).args([&before, &after]))?;
        let out = fs::read(&after).map_err(|e| Error::io(format!("{}: {e}", after.display())))?;
        let (fault, mut rest) = out.split_at_checked(8).ok_or_else(|| Error::internal("an emulated program wrote nothing"))?;
        for param in params.iter_mut() {
            let (own, others) = rest.split_at_checked(param.len()).ok_or_else(|| Error::internal("a parameter is missing"))?;
            param.copy_from_slice(own);
            rest = others;
        }
        let fault = u64::from_le_bytes(fault.try_into().unwrap_or_default()) as usize;
        Ok(fault.checked_sub(1).and_then(|n| program.checks.get(n).cloned()))
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(|e| Error::io(format!("{}: {e}", path.display())))
}

/// Runs a command; its messages are the error if it fails.
fn succeed(command: &mut Command) -> Result<()> {
    let output = command.output().map_err(|e| Error::io(format!("{}: {e}", command.get_program().to_string_lossy())))?;
    if output.status.success() {
        return Ok(());
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    Err(Error::internal(format!("{command:?}: {}: {messages}", output.status)))
}

/// The program as one C++ file.
fn translated(program: &CudaProgram) -> Result<String> {
    let (head, portable) = program.source.split_once(HARDWARE_END).ok_or_else(|| Error::internal("a source without a kernel"))?;
    let wide = if head.contains("#define WIDE") { "#define WIDE\n" } else { "" };
    let mut out = format!("{wide}{HOST}{}", portable.replace("extern \"C\" ", ""));
    out.push_str("int main(int, char** argv) {\nParams params(argv[1]);\nu64 fault = 0;\n");
    for step in &program.steps {
        match step {
            CudaStep::Launch(l) => call(l, &mut out),
            _ => return Err(Error::unsupported(format!("{} has a step of a library", program.name))),
        }
    }
    out.push_str("params.save(argv[2], fault);\n}\n");
    Ok(out)
}

/// Clusters of a launch in turns.
const AT_ONCE: u32 = 3;

fn call(launch: &Launch, out: &mut String) {
    let Launch { entry, grid, threads, shared, cluster, in_turns, args, numbers } = launch;
    let grid = if *in_turns { (*grid).min(AT_ONCE * cluster) } else { *grid };
    let addresses = args.iter().map(|a| format!("params[{a}]"));
    let numbers = numbers.iter().map(|n| format!("(u64){n}ll"));
    let words: Vec<String> = addresses.chain(numbers).chain(["(u64)&fault".to_owned()]).collect();
    let _ = writeln!(
        out,
        "launch([](const u64* w) {{ {entry}_words words; memcpy(&words, w, sizeof words); {entry}(words); }}, \
         {grid}, {threads}, {cluster}, {shared}, {{{}}});",
        words.join(", ")
    );
}
