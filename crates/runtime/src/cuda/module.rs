//! From source to kernels on the GPU: compiled once per machine, loaded once per process.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use base::{Error, Result, Stock};

use super::context::Context;
use super::driver::{RawFunction, RawModule};
use super::nvrtc::{Compiled, Nvrtc, taken};
use super::prepare::Resources;

/// What a line begins with that gives the compiler a flag.
const FLAG: &str = "// nvrtc: ";

/// A source with the flags it is compiled with.
#[derive(Clone, Debug)]
pub(crate) struct Source<'a> {
    text: &'a str,
    flags: Vec<String>,
    /// SHA-256 of what the binary depends on.
    pub(crate) key: String,
}

impl<'a> Source<'a> {
    /// A source for a compute capability and a version of the compiler. Comments do not count, but for flags.
    pub(crate) fn new(text: &'a str, capability: (u32, u32), compiler: (u32, u32)) -> Source<'a> {
        let mut flags = vec![format!("--gpu-architecture={}", architecture(capability))];
        flags.extend(["--std=c++17", "-default-device", "--ptxas-options=-v"].map(str::to_owned));
        flags.extend(text.lines().filter_map(|l| l.strip_prefix(FLAG)).map(|f| f.trim().to_owned()));
        let code: Vec<&str> = text.lines().map(|l| l.split("//").next().unwrap_or_default().trim_end()).collect();
        let whole = format!("{compiler:?}\n{}\n{}", flags.join("\n"), code.join("\n"));
        Source { text, flags, key: base::digest(whole.as_bytes()) }
    }

    /// The binary that the cache has.
    fn stored(&self, cache: Option<&Stock>) -> Option<Compiled> {
        unpack(&cache?.load(&self.key).ok()?)
    }

    /// The binary, compiled now and left in the cache.
    pub(super) fn build(&self, compiler: &Nvrtc, cache: Option<&Stock>) -> Result<Compiled> {
        let compiled = compiler.build(self.text, &self.flags)?;
        if let Some(cache) = cache {
            // Without the file the next process compiles again, and `doctor` says why.
            let _ = cache.store(&self.key, &pack(&compiled));
        }
        Ok(compiled)
    }
}

/// Name of an architecture: the one with all features of this very GPU where there is such.
fn architecture((major, minor): (u32, u32)) -> String {
    format!("sm_{major}{minor}{}", if major >= 9 { "a" } else { "" })
}

/// Length of the log, log, binary.
fn pack(compiled: &Compiled) -> Vec<u8> {
    let mut bytes = (compiled.log.len() as u64).to_le_bytes().to_vec();
    bytes.extend(compiled.log.as_bytes());
    bytes.extend(&compiled.cubin);
    bytes
}

fn unpack(bytes: &[u8]) -> Option<Compiled> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let (log, cubin) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some(Compiled { cubin: cubin.to_vec(), log: String::from_utf8(log.to_vec()).ok()? })
}

/// A binary on the GPU.
pub(crate) struct Module {
    context: Arc<Context>,
    raw: RawModule,
    /// As the compiler says.
    taken: Vec<Resources>,
}

impl Module {
    fn load(context: &Arc<Context>, compiled: &Compiled) -> Result<Module> {
        let driver = context.enter()?;
        let mut raw = RawModule::NULL;
        // SAFETY: the image is a whole binary of the compiler's; it is unloaded once, when the value is dropped.
        context.check(unsafe { (driver.module_load)(&raw mut raw, compiled.cubin.as_ptr().cast()) }, "cuModuleLoadData")?;
        Ok(Module { context: context.clone(), raw, taken: taken(&compiled.log) })
    }

    /// A kernel.
    ///
    /// # Errors
    /// The source has none of this name.
    pub(crate) fn function(&self, entry: &str) -> Result<RawFunction> {
        let driver = self.context.enter()?;
        let name = CString::new(entry).map_err(|_| Error::internal("a zero byte in a kernel's name"))?;
        let mut function = RawFunction::NULL;
        // SAFETY: the module is loaded, and the name ends with zero.
        let code = unsafe { (driver.module_function)(&raw mut function, self.raw, name.as_ptr()) };
        self.context.check(code, "cuModuleGetFunction").map_err(|e| e.context(format!("entry {entry}")))?;
        Ok(function)
    }
    /// Bytes that a kernel spills.
    pub(crate) fn spills(&self, entry: &str) -> u32 {
        self.taken.iter().find(|t| t.entry == entry).map_or(0, |t| t.spills)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        self.context.settle();
        if let Ok(driver) = self.context.enter() {
            // SAFETY: nothing of it runs any more, and it is unloaded once; a failure leaves nothing to do.
            unsafe { (driver.module_unload)(self.raw) };
        }
    }
}

/// The modules of a context by their sources' keys, as long as somebody uses them.
#[derive(Default)]
pub(crate) struct Modules {
    cache: Option<Stock>,
    loaded: Mutex<BTreeMap<String, Weak<Module>>>,
    compiled: AtomicUsize,
}

impl Modules {
    /// Modules whose binaries lie in a cache folder, if there is one.
    pub(crate) fn new(cache: Option<&str>) -> Modules {
        Modules { cache: cache.map(|c| Stock::new(c, "cubins")), loaded: Mutex::default(), compiled: AtomicUsize::new(0) }
    }

    /// Sources compiled so far; those that came from the cache do not count.
    pub(crate) fn compiled(&self) -> usize {
        self.compiled.load(Ordering::Relaxed)
    }

    fn found(&self, key: &str) -> Option<Arc<Module>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).get(key)?.upgrade()
    }

    /// The module of a source.
    ///
    /// # Errors
    /// A source that does not compile.
    pub(crate) fn get(&self, context: &Arc<Context>, text: &str) -> Result<Arc<Module>> {
        let compiler = &context.libraries.nvrtc;
        let source = Source::new(text, context.about.capability, compiler.number());
        if let Some(module) = self.found(&source.key) {
            return Ok(module);
        }
        let stored = source.stored(self.cache.as_ref()).and_then(|binary| Module::load(context, &binary).ok());
        let module = match stored {
            Some(module) => module,
            // Nothing is stored, or what no GPU like this one can load.
            None => {
                self.compiled.fetch_add(1, Ordering::Relaxed);
                Module::load(context, &source.build(compiler, self.cache.as_ref())?)?
            }
        };
        let module = Arc::new(module);
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.retain(|_, module| module.strong_count() > 0);
        if let Some(other) = loaded.get(&source.key).and_then(Weak::upgrade) {
            return Ok(other);
        }
        loaded.insert(source.key, Arc::downgrade(&module));
        Ok(module)
    }

    /// The modules of several sources, compiled by as many threads as there are cores; equal sources are compiled once.
    pub(crate) fn get_all(&self, context: &Arc<Context>, texts: &[&str]) -> Vec<Result<Arc<Module>>> {
        let mut distinct = texts.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(distinct.len());
        let next = AtomicUsize::new(0);
        let made: Mutex<BTreeMap<&str, Result<Arc<Module>>>> = Mutex::default();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(text) = distinct.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let module = self.get(context, text);
                        made.lock().unwrap_or_else(PoisonError::into_inner).insert(text, module);
                    }
                });
            }
        });
        let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        let lost = || Err(Error::internal("a source was not compiled"));
        texts.iter().map(|text| made.get(text).cloned().unwrap_or_else(lost)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> String {
        Source::new(text, (9, 0), (13, 0)).key
    }

    #[test]
    fn comments_do_not_count_but_flags_do() {
        let text = "int a; // one\nint b;";
        assert_eq!(key(text), key("int a;\nint b; // two"));
        assert_ne!(key(text), key("int a;\nint c;"));
        assert_ne!(key("// nvrtc: -fmad=false\nint a;"), key("// a flag\nint a;"));
        assert_ne!(key(text), Source::new(text, (8, 0), (13, 0)).key);
        assert_ne!(key(text), Source::new(text, (9, 0), (12, 9)).key);
        let flags = Source::new("// nvrtc: -fmad=false\nint a;", (9, 0), (13, 0)).flags;
        assert_eq!(flags.last().map(String::as_str), Some("-fmad=false"));
        assert!(flags[0].ends_with("sm_90a") && architecture((8, 6)) == "sm_86");
    }

    #[test]
    fn binaries_come_back_from_the_cache() {
        let compiled = Compiled { cubin: vec![1, 2, 3], log: "log".into() };
        assert_eq!(unpack(&pack(&compiled)), Some(compiled));
        assert_eq!(unpack(&[9, 0, 0, 0, 0, 0, 0, 0, 1]), None);
        assert_eq!(unpack(&[1]), None);
    }
}
