//! Functions that are traced once for many sizes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use base::{Error, Result};
use graph::{Graph, HostTensor};
use scalar::{DType, Sym, Var};

use crate::engine::Executable;
use crate::flush;
use crate::mode;
use crate::program::Source;
use crate::tensor::Tensor;
use crate::trace::{self, ArgSpec};

/// A function that is traced once for many sizes; see [`compile_pure`].
pub struct PureFn<F> {
    f: F,
    entries: Mutex<Vec<Arc<Entry>>>,
}

/// Code for the arguments that match a pattern.
struct Entry {
    args: Vec<Pattern>,
    executable: Executable,
    late: Vec<Source>,
    /// Parameters that the code depends on.
    frozen: Vec<crate::Param>,
    graph: Graph,
    calls: std::sync::atomic::AtomicU64,
}

/// Dtype and extents of an argument; equal variables stand for equal extents of at least 2.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    dtype: DType,
    extents: Vec<Extent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Is(usize),
    Var(Var),
}

/// Compiles a function that is traced instead of re-run: at most once per combination of argument dtypes and ranks, with
/// symbolic extents, unless it needs an extent as a number. The function must not read values, and must depend on nothing but
/// its arguments and [`Param`](crate::Param)s; debug builds trace again now and then and report a difference.
///
/// ```
/// use fuseline::{Tensor, compile_pure};
/// let f = compile_pure(|x: &[Tensor]| vec![x[0].softmax(-1)]);
/// for n in 2..6 {
///     assert_eq!(f.call(&[Tensor::rand([3, n])])?[0].shape(), [3, n]);
/// }
/// assert_eq!(f.compiled(), 1);
/// # Ok::<(), fuseline::Error>(())
/// ```
pub fn compile_pure<F: Fn(&[Tensor]) -> Vec<Tensor>>(f: F) -> PureFn<F> {
    PureFn { f, entries: Mutex::default() }
}

impl<F: Fn(&[Tensor]) -> Vec<Tensor>> PureFn<F> {
    /// Calls the compiled function.
    ///
    /// # Errors
    /// A read inside the function; else as [`Tensor::eval`].
    pub fn call(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        flush::eval_all(inputs)?;
        let data = inputs.iter().map(Tensor::data).collect::<Result<Vec<HostTensor>>>()?;
        let entry = match self.find(&data) {
            Some(entry) => entry,
            None => self.add(&data)?,
        };
        self.check_purity(&entry, &data)?;
        let late = entry.late.iter().filter_map(Source::value);
        let given: Vec<HostTensor> = data.iter().cloned().chain(late).collect();
        Ok(entry.executable.run(&given)?.into_iter().map(Tensor::from_host).collect())
    }
    /// Number of times that the function was compiled.
    pub fn compiled(&self) -> usize {
        self.lock().len()
    }
    /// Report on each compiled form.
    pub fn explain(&self) -> String {
        let entries = self.lock();
        if entries.is_empty() {
            return "not called yet\n".into();
        }
        entries.iter().map(|e| format!("arguments {}\n{}", describe(&e.args), e.executable.explain())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Entry>>> {
        self.entries.lock().unwrap_or_else(|e| e.into_inner())
    }
    fn find(&self, data: &[HostTensor]) -> Option<Arc<Entry>> {
        let mut entries = self.lock();
        entries.retain(|e| e.frozen.iter().all(crate::Param::is_frozen));
        entries.iter().find(|e| matches_all(&e.args, data)).cloned()
    }
    fn add(&self, data: &[HostTensor]) -> Result<Arc<Entry>> {
        let (traced, args) = specialise(&self.f, data)?;
        let executable = Executable::compile(&traced.module, &mode::config()?)?;
        let (graph, late, frozen) = (traced.module.graph, traced.late, traced.frozen);
        let entry = Arc::new(Entry { args, executable, late, frozen, graph, calls: Default::default() });
        self.lock().push(entry.clone());
        Ok(entry)
    }
    /// Traces again on calls 16, 32, 64, … of debug builds.
    fn check_purity(&self, entry: &Entry, data: &[HostTensor]) -> Result<()> {
        let calls = 1 + entry.calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if !cfg!(debug_assertions) || calls < 16 || !calls.is_power_of_two() {
            return Ok(());
        }
        let again = trace_pattern(&self.f, &entry.args, data)?;
        if again.module.graph == entry.graph {
            return Ok(());
        }
        Err(Error::invalid(
            "compile_pure: the function recorded other ops than the first time; it depends on more than its arguments and Params, use compile",
        ))
    }
}

fn matches_all(args: &[Pattern], data: &[HostTensor]) -> bool {
    let mut bound: BTreeMap<Var, usize> = BTreeMap::new();
    args.len() == data.len() && args.iter().zip(data).all(|(p, d)| matches(p, d, &mut bound))
}

fn matches(pattern: &Pattern, data: &HostTensor, bound: &mut BTreeMap<Var, usize>) -> bool {
    let extent = |(e, &n): (&Extent, &usize)| match *e {
        Extent::Is(k) => k == n,
        Extent::Var(v) => n >= 2 && *bound.entry(v).or_insert(n) == n,
    };
    pattern.dtype == data.dtype()
        && pattern.extents.len() == data.shape().len()
        && pattern.extents.iter().zip(data.shape()).all(extent)
}

/// Traces with as many symbolic extents as the function allows: those that it needs as numbers, or equal to one another, are
/// found by tracing, and made so.
fn specialise(f: &dyn Fn(&[Tensor]) -> Vec<Tensor>, data: &[HostTensor]) -> Result<(trace::Traced, Vec<Pattern>)> {
    let mut args: Vec<Pattern> = data.iter().enumerate().map(|(k, d)| general(k, d)).collect();
    loop {
        let traced = trace_pattern(f, &args, data)?;
        let values = hints(&args, data);
        let mut change = BTreeMap::new();
        for (&var, &value) in &traced.fixed {
            change.insert(var, Extent::Is(value as usize));
        }
        for guard in &traced.module.graph.guards {
            refine(guard, &values, &mut change)?;
        }
        if change.is_empty() {
            return Ok((traced, args));
        }
        for extent in args.iter_mut().flat_map(|p| &mut p.extents) {
            if let Extent::Var(v) = extent
                && let Some(&to) = change.get(v)
            {
                *extent = to;
            }
        }
    }
}

/// Extents 0 and 1 are special to broadcasting: they stay numbers.
fn general(k: usize, data: &HostTensor) -> Pattern {
    let extent = |(i, &n): (usize, &usize)| if n < 2 { Extent::Is(n) } else { Extent::Var(Var::new(&format!("x{k}_{i}"))) };
    Pattern { dtype: data.dtype(), extents: data.shape().iter().enumerate().map(extent).collect() }
}

fn hints(args: &[Pattern], data: &[HostTensor]) -> BTreeMap<Var, i64> {
    let pairs = args.iter().zip(data).flat_map(|(p, d)| p.extents.iter().zip(d.shape()));
    pairs.filter_map(|(e, &n)| if let Extent::Var(v) = e { Some((*v, n as i64)) } else { None }).collect()
}

/// Turns a guard on single variables into a more special pattern; others are checked at each run.
fn refine(guard: &graph::Guard, values: &BTreeMap<Var, i64>, change: &mut BTreeMap<Var, Extent>) -> Result<()> {
    let value = |s: &Sym| s.eval(&|v| values.get(&v).copied());
    if value(&guard.left)? != value(&guard.right)? {
        return Err(Error::invalid(guard.reason.clone()));
    }
    match (guard.left.as_var(), guard.right.as_var(), guard.left.as_int(), guard.right.as_int()) {
        (Some(a), Some(b), _, _) => drop(change.entry(a.max(b)).or_insert(Extent::Var(a.min(b)))),
        (Some(v), _, _, Some(n)) | (_, Some(v), Some(n), _) => drop(change.insert(v, Extent::Is(n as usize))),
        _ => {}
    }
    Ok(())
}

fn trace_pattern(f: &dyn Fn(&[Tensor]) -> Vec<Tensor>, args: &[Pattern], data: &[HostTensor]) -> Result<trace::Traced> {
    let extent = |e: &Extent| match *e {
        Extent::Is(n) => Sym::from(n as i64),
        Extent::Var(v) => Sym::var(v),
    };
    let spec =
        |(k, p): (usize, &Pattern)| ArgSpec::new(format!("arg{k}"), p.dtype, p.extents.iter().map(extent).collect::<Vec<_>>());
    let specs: Vec<ArgSpec> = args.iter().enumerate().map(spec).collect();
    trace::trace_with("pure", &specs, hints(args, data), f)
}

fn describe(args: &[Pattern]) -> String {
    let extent = |e: &Extent| match e {
        Extent::Is(n) => n.to_string(),
        Extent::Var(v) => v.name().to_owned(),
    };
    let one = |p: &Pattern| format!("{}[{}]", p.dtype, p.extents.iter().map(extent).collect::<Vec<_>>().join(", "));
    args.iter().map(one).collect::<Vec<_>>().join(", ")
}
