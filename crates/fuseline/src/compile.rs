//! Compiled functions.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::Result;
use graph::HostTensor;

use crate::cache::{Cache, Compiled};
use crate::flush;
use crate::history::History;
use crate::symbolic::{self, Env};
use crate::tensor::Tensor;

/// A function that is recorded on every call and runs compiled code for whatever it recorded.
///
/// Made by [`compile`](compile()). Reading a value inside the function ends a segment: what was recorded so far runs, and the
/// function goes on. [`explain`](CompiledFn::explain) lists these graph breaks.
pub struct CompiledFn<F> {
    f: F,
    session: Arc<Session>,
}

/// What belongs to one compiled function: its code, the sizes that it has seen, and what its last call did.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) cache: Cache,
    history: Mutex<History>,
    last: Mutex<Vec<Segment>>,
}

/// One run of compiled code within a call.
struct Segment {
    compiled: Arc<Compiled>,
    /// The read that ended it, unless the call did.
    read: Option<&'static Location<'static>>,
}

thread_local! {
    static SESSIONS: RefCell<Vec<Arc<Session>>> = const { RefCell::new(Vec::new()) };
}

/// The innermost compiled function that is running on this thread.
pub(crate) fn current() -> Option<Arc<Session>> {
    SESSIONS.with_borrow(|s| s.last().cloned())
}

/// Leaves the session when it goes out of scope, also on a panic in the function.
struct Entered {
    _variables: symbolic::Entered,
}

impl Drop for Entered {
    fn drop(&mut self) {
        SESSIONS.with_borrow_mut(Vec::pop);
    }
}

fn enter(session: &Arc<Session>, variables: Option<Arc<Env>>) -> Entered {
    SESSIONS.with_borrow_mut(|s| s.push(session.clone()));
    Entered { _variables: symbolic::enter(variables) }
}

impl Session {
    /// Notes a run.
    pub(crate) fn ran(&self, compiled: Arc<Compiled>, read: Option<&'static Location<'static>>) {
        self.segments().push(Segment { compiled, read });
    }
    fn segments(&self) -> MutexGuard<'_, Vec<Segment>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compiles a function: it is re-run on every call, which records its ops; code is compiled once per distinct recording.
/// [`Param`](crate::Param)s are constants of the code until they are replaced. What varies stops compiling anew:
///
/// * a Rust number used as an operand is a constant of the code until another value is seen in its place, then an input;
/// * an extent of an argument is a number until another is seen, then symbolic: one plan serves every size of at least 2.
///   Where the function needs it as a number it stays one, which [`explain`](CompiledFn::explain) tells with the line.
///   [`Tensor::shape`] gives numbers, and what is computed from them is compiled per size; [`Tensor::dims`] and
///   [`Tensor::size`] stay symbolic.
///
/// ```
/// use fuseline::{Tensor, compile};
/// let f = compile(|x: &[Tensor]| vec![(&x[0] * 2.0).relu().sum(..)]);
/// let y = f.call(&[Tensor::new([1.0f32, -3.0, 4.0])])?;
/// assert_eq!(y[0].item::<f32>()?, 10.0);
/// # Ok::<(), fuseline::Error>(())
/// ```
pub fn compile<F: Fn(&[Tensor]) -> Vec<Tensor>>(f: F) -> CompiledFn<F> {
    CompiledFn { f, session: Arc::default() }
}

impl<F: Fn(&[Tensor]) -> Vec<Tensor>> CompiledFn<F> {
    /// Calls the function; the results have been evaluated.
    ///
    /// # Errors
    /// As [`Tensor::eval`].
    pub fn call(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        flush::eval_all(inputs)?;
        let data = inputs.iter().map(Tensor::data).collect::<Result<Vec<HostTensor>>>()?;
        let (env, shapes) = self.session.history().observe(&data);
        let scope = enter(&self.session, env.clone());
        self.session.segments().clear();
        let outputs = match &env {
            None => (self.f)(inputs),
            Some(_) => (self.f)(&data.into_iter().zip(shapes).map(|(d, s)| Tensor::from_host_as(d, s)).collect::<Vec<_>>()),
        };
        flush::flush_together(&outputs)?;
        drop(scope);
        if let Some(env) = env {
            self.session.history().learn(&env);
        }
        outputs.into_iter().map(|t| if t.node.is_symbolic() { Ok(Tensor::from_host(t.data()?)) } else { Ok(t) }).collect()
    }
    /// Number of times that something was compiled.
    pub fn compiled(&self) -> usize {
        self.session.cache.compiles()
    }
    /// Reads inside the function that ended a segment of the last call, as `file:line`.
    pub fn graph_breaks(&self) -> Vec<String> {
        self.session.segments().iter().filter_map(|s| s.read).map(place).collect()
    }
    /// Report on the code of the last call, segment by segment, with the graph breaks between.
    pub fn explain(&self) -> String {
        let segments = self.session.segments();
        if segments.is_empty() {
            return "not called yet\n".into();
        }
        let mut text = self.session.history().to_string();
        for (i, segment) in segments.iter().enumerate() {
            if segments.len() > 1 {
                let _ = writeln!(text, "segment {} of {}", i + 1, segments.len());
            }
            text.push_str(&segment.compiled.executable.explain());
            if let Some(read) = segment.read {
                let _ = writeln!(text, "graph break: a value is read at {}", place(read));
            }
        }
        text
    }
}

fn place(at: &Location<'_>) -> String {
    format!("{}:{}", at.file(), at.line())
}
