//! The run-time compiler's functions.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use base::{Error, Result};

use super::prepare::Resources;
use super::table::table;

type Code = c_int;
type RawProgram = *mut c_void;

/// `NVRTC_ERROR_COMPILATION`.
const COMPILATION: Code = 6;

/// What the source is called in messages.
pub(crate) const FILE: &str = "kernel.cu";

table! {
    /// The run-time compiler, `libnvrtc`.
    Nvrtc -> Code {
        version = c"nvrtcVersion": (*mut c_int, *mut c_int);
        create = c"nvrtcCreateProgram":
            (*mut RawProgram, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
        destroy = c"nvrtcDestroyProgram": (*mut RawProgram);
        compile = c"nvrtcCompileProgram": (RawProgram, c_int, *const *const c_char);
        cubin_size = c"nvrtcGetCUBINSize": (RawProgram, *mut usize);
        cubin = c"nvrtcGetCUBIN": (RawProgram, *mut c_char);
        log_size = c"nvrtcGetProgramLogSize": (RawProgram, *mut usize);
        log = c"nvrtcGetProgramLog": (RawProgram, *mut c_char);
    }
    optional {}
    other {}
}

/// A binary, and what the compiler said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compiled {
    pub(crate) cubin: Vec<u8>,
    pub(crate) log: String,
}

impl Nvrtc {
    /// Major and minor version.
    pub(crate) fn number(&self) -> (u32, u32) {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the function stores two integers.
        let code = unsafe { (self.version)(&raw mut major, &raw mut minor) };
        if code == 0 { (major as u32, minor as u32) } else { (0, 0) }
    }

    fn check(code: Code, call: &str) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(Error::internal(format!("{call} failed with code {code}"))) }
    }

    /// Compiles a source to a binary.
    ///
    /// # Errors
    /// What the compiler says, with the lines that it names.
    pub(crate) fn build(&self, source: &str, flags: &[String]) -> Result<Compiled> {
        let text = |s: &str| CString::new(s).map_err(|_| Error::internal("a zero byte in CUDA source or flags"));
        let (code, file) = (text(source)?, text(FILE)?);
        let flags = flags.iter().map(|f| text(f)).collect::<Result<Vec<_>>>()?;
        let mut program = Program { table: self, raw: null_mut() };
        // SAFETY: both strings end with zero and outlive the call; there are no headers.
        let created = unsafe { (self.create)(&raw mut program.raw, code.as_ptr(), file.as_ptr(), 0, null(), null()) };
        Nvrtc::check(created, "nvrtcCreateProgram")?;
        let pointers: Vec<*const c_char> = flags.iter().map(|f| f.as_ptr()).collect();
        // SAFETY: the program was created; the strings behind the pointers outlive the call.
        let compiled = unsafe { (self.compile)(program.raw, pointers.len() as c_int, pointers.as_ptr()) };
        let log = program.log();
        if compiled == COMPILATION {
            return Err(Error::internal(format!("the CUDA source does not compile\n{}", numbered(&log, source))));
        }
        Nvrtc::check(compiled, "nvrtcCompileProgram")
            .map_err(|e| Error::internal(format!("{}, flags {flags:?}\n{log}", e.message())))?;
        Ok(Compiled { cubin: program.cubin()?, log })
    }
}

/// A program of the compiler.
struct Program<'a> {
    table: &'a Nvrtc,
    raw: RawProgram,
}

impl Program<'_> {
    fn log(&self) -> String {
        let mut size = 0;
        // SAFETY: the program exists, and the buffer is as large as asked for; it ends with zero.
        unsafe {
            if (self.table.log_size)(self.raw, &raw mut size) != 0 || size == 0 {
                return String::new();
            }
            let mut log = vec![0u8; size + 1];
            if (self.table.log)(self.raw, log.as_mut_ptr().cast()) != 0 {
                return String::new();
            }
            CStr::from_bytes_until_nul(&log).map(|s| s.to_string_lossy().trim().to_owned()).unwrap_or_default()
        }
    }

    fn cubin(&self) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: the program was compiled, and the buffer is as large as asked for.
        unsafe {
            Nvrtc::check((self.table.cubin_size)(self.raw, &raw mut size), "nvrtcGetCUBINSize")?;
            let mut cubin = vec![0u8; size];
            Nvrtc::check((self.table.cubin)(self.raw, cubin.as_mut_ptr().cast()), "nvrtcGetCUBIN")?;
            Ok(cubin)
        }
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: the program was created and is destroyed once. A failure leaves nothing to do.
            unsafe { (self.table.destroy)(&raw mut self.raw) };
        }
    }
}

/// The log, followed by the lines of the source that it names.
fn numbered(log: &str, source: &str) -> String {
    let mut named: Vec<usize> = log
        .split(&format!("{FILE}("))
        .skip(1)
        .filter_map(|rest| rest.split(')').next()?.parse().ok())
        .flat_map(|line: usize| line.saturating_sub(1)..=line + 1)
        .collect();
    named.sort_unstable();
    named.dedup();
    let lines: Vec<&str> = source.lines().collect();
    let shown = named.iter().filter_map(|&n| Some(format!("{n:5} | {}", lines.get(n.checked_sub(1)?)?))).take(60);
    std::iter::once(log.to_owned()).chain(shown).collect::<Vec<_>>().join("\n")
}

/// What each kernel takes, out of a log with `--ptxas-options=-v`.
pub(crate) fn taken(log: &str) -> Vec<Resources> {
    let mut found: Vec<Resources> = Vec::new();
    for line in log.lines() {
        if let Some(name) = line.split("Compiling entry function '").nth(1).and_then(|rest| rest.split('\'').next()) {
            found.push(Resources { entry: name.to_owned(), ..Resources::default() });
            continue;
        }
        let Some(last) = found.last_mut() else { continue };
        let number = |what: &str| -> Option<u32> { line.split_once(what)?.0.split_whitespace().last()?.parse().ok() };
        let add = |sum: &mut u32, what: &str| *sum += number(what).unwrap_or(0);
        add(&mut last.spills, " bytes spill stores");
        add(&mut last.spills, " bytes spill loads");
        add(&mut last.local, " bytes stack frame");
        add(&mut last.registers, " registers");
        add(&mut last.shared, " bytes smem");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kernels_take_is_read_from_the_log() {
        let log = "ptxas info    : 0 bytes gmem\n\
                   ptxas info    : Compiling entry function 'one' for 'sm_90a'\n\
                   ptxas info    : Function properties for one\n    \
                   16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n\
                   ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, 1088 bytes smem\n\
                   ptxas info    : Compiling entry function 'two' for 'sm_90a'\n    \
                   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
                   ptxas info    : Used 8 registers, 536 bytes cmem[0]";
        let takes =
            |entry: &str, registers, spills, local, shared| Resources { entry: entry.into(), registers, spills, local, shared };
        assert_eq!(taken(log), [takes("one", 255, 20, 16, 1088), takes("two", 8, 0, 0, 0)]);
    }

    #[test]
    fn errors_show_their_lines() {
        let text = numbered("kernel.cu(2): error: no", "a\nb\nc\nd");
        assert_eq!(text, "kernel.cu(2): error: no\n    1 | a\n    2 | b\n    3 | c");
    }
}
