//! Recording what a thread launches, and running it again as one.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};

use base::{Error, Result};

use super::context::Context;
use super::driver::{CAPTURE_RELAXED, RawExec, RawGraph};
use super::launches::Ticket;
use super::prepare::Inner;
use crate::memory::Pool;

thread_local! {
    /// Context and number of this thread's recording; numbers begin at 1.
    static CURRENT: Cell<(usize, u32)> = const { Cell::new((0, 0)) };
    /// The programs that it launches.
    static HELD: RefCell<Vec<Arc<Inner>>> = const { RefCell::new(Vec::new()) };
}

/// The number of this thread's recording on a context; 0 without one.
pub(crate) fn current(context: usize) -> u32 {
    let (recorded, number) = CURRENT.get();
    if recorded == context { number } else { 0 }
}

/// Keeps a program as long as this thread's recording.
pub(crate) fn hold(program: Arc<Inner>) {
    HELD.with_borrow_mut(|held| held.push(program));
}

/// Launches that can be repeated as one; made by [`crate::Device::capture`]. It keeps the programs that it launches and the memory
/// that was allocated in it.
pub struct Recorded {
    context: Arc<Context>,
    exec: RawExec,
    ticket: Ticket,
    held: Vec<Arc<Inner>>,
    memory: Memory,
}

/// The memory of a recording, which goes back to the pool in the end.
struct Memory {
    pool: Pool,
    number: u32,
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.pool.end_recording(self.number);
    }
}

/// Ends this thread's recording, however it ends.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        CURRENT.set((0, 0));
        HELD.take();
    }
}

/// Records what `f` launches in this thread.
pub(crate) fn capture(context: &Arc<Context>, pool: &Pool, f: impl FnOnce() -> Result<()>) -> Result<Recorded> {
    static NUMBERS: AtomicU32 = AtomicU32::new(1);
    if CURRENT.get().1 != 0 {
        return Err(Error::unsupported("a recording within a recording"));
    }
    let _one = context.recorder.lock().unwrap_or_else(PoisonError::into_inner);
    let driver = context.enter()?;
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    let memory = Memory { pool: pool.clone(), number };
    pool.begin_recording(number);
    let _ends = Ends;
    CURRENT.set((context.identity(), number));
    let stream = context.stream();
    // SAFETY: the stream is the context's, and only this thread uses it, as it holds the lock.
    context.check(unsafe { (driver.capture_begin)(stream, CAPTURE_RELAXED) }, "cuStreamBeginCapture")?;
    let launched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    context.enter()?;
    let mut graph = RawGraph::NULL;
    // SAFETY: the capture began above; a failed one gives no graph.
    let ended = unsafe { (driver.capture_end)(stream, &raw mut graph) };
    let graph = Graph { context, raw: graph };
    match launched {
        Ok(result) => result?,
        Err(panic) => std::panic::resume_unwind(panic),
    }
    context.check(ended, "cuStreamEndCapture")?;
    let held = HELD.take();
    let names: Vec<&str> = held.iter().take(8).map(|p| p.program.name.as_str()).collect();
    let ticket = Ticket::new(context, &format!("a recording of {} launches ({}, …)", held.len(), names.join(", ")), &[])?;
    let mut exec = RawExec::NULL;
    // SAFETY: the graph exists, and is destroyed after this.
    context.check(unsafe { (driver.graph_instantiate)(&raw mut exec, graph.raw, 0) }, "cuGraphInstantiate")?;
    Ok(Recorded { context: context.clone(), exec, ticket, held, memory })
}

struct Graph<'a> {
    context: &'a Context,
    raw: RawGraph,
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        if self.raw != RawGraph::NULL {
            // SAFETY: the graph was made by a capture and is destroyed once; a failure leaves nothing to do.
            unsafe { (self.context.libraries.driver.graph_destroy)(self.raw) };
        }
    }
}

impl Recorded {
    /// Bytes of device memory that it keeps.
    pub fn bytes(&self) -> usize {
        self.memory.pool.recorded(self.memory.number)
    }

    /// Runs the launches again, in stream order, on the memory they were recorded with.
    ///
    /// # Errors
    /// Those of the device.
    pub fn replay(&self) -> Result<()> {
        let driver = self.context.enter()?;
        self.ticket.launched();
        // SAFETY: the graph lives as long as `self`, with its programs and memory. Runs of one graph follow each other on the stream.
        self.context.check(unsafe { (driver.graph_launch)(self.exec, self.context.main_stream()) }, "cuGraphLaunch")?;
        if self.context.sync { self.context.synchronize() } else { Ok(()) }
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        // Memory that goes back to the pool may be used at once, in stream order; the programs may not be unloaded while they run.
        self.context.settle();
        if let Ok(driver) = self.context.enter() {
            // SAFETY: the graph is destroyed once; a failure leaves nothing to do.
            unsafe { (driver.exec_destroy)(self.exec) };
        }
    }
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recorded({:?}, {} held)", self.context, self.held.len())
    }
}
