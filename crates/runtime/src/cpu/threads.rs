//! The thread pool: static workers that take numbered tasks from a shared counter.

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Rounds that an idle worker watches for a new job before it sleeps (some tens of microseconds).
const SPIN: usize = 2000;

/// A job: called with (task, worker).
pub type Task<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// A fixed set of worker threads. The calling thread takes part as worker 0.
#[derive(Debug)]
pub struct ThreadPool {
    shared: Arc<Shared>,
    handles: Vec<JoinHandle<()>>,
}

/// `state` packs the job number, whether the job still takes workers, and how many workers are inside:
/// `number << 32 | OPEN | inside`.
struct Shared {
    state: AtomicU64,
    job: UnsafeCell<Option<Job>>,
    next: AtomicUsize,
    busy: AtomicBool,
    stop: AtomicBool,
    sleepers: AtomicUsize,
    bed: Mutex<()>,
    wake: Condvar,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

const OPEN: u64 = 1 << 31;
const INSIDE: u64 = OPEN - 1;

#[derive(Clone, Copy)]
struct Job {
    task: *const Task<'static>,
    tasks: usize,
}

// SAFETY: `job` is written only by the holder of `busy` while no worker is inside, and read only by workers inside.
unsafe impl Sync for Shared {}
// SAFETY: the pointer in `job` is dereferenced only while `run` keeps its referent alive.
unsafe impl Send for Shared {}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shared(job {})", self.state.load(SeqCst) >> 32)
    }
}

impl ThreadPool {
    /// A pool of `threads` workers, the caller included; 0 means one per available core.
    pub fn new(threads: usize) -> ThreadPool {
        let threads = if threads == 0 { std::thread::available_parallelism().map_or(1, |n| n.get()) } else { threads };
        let shared = Arc::new(Shared {
            state: AtomicU64::new(0),
            job: UnsafeCell::new(None),
            next: AtomicUsize::new(0),
            busy: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            bed: Mutex::new(()),
            wake: Condvar::new(),
            panic: Mutex::new(None),
        });
        let start = |worker| {
            let shared = shared.clone();
            std::thread::Builder::new().name(format!("fuseline-{worker}")).spawn(move || shared.serve(worker)).ok()
        };
        let handles = (1..threads).map_while(start).collect();
        ThreadPool { shared, handles }
    }

    /// Workers, the caller included.
    pub fn threads(&self) -> usize {
        self.handles.len() + 1
    }

    /// Calls `f(task, worker)` once for each task below `tasks` and returns when all have finished. Tasks start in order;
    /// workers that run at the same time in one call have different numbers below [`ThreadPool::threads`]. A call from
    /// inside a task, or while another thread's call has the workers, runs on the calling thread alone.
    ///
    /// # Panics
    /// With the first panic of a task, after the running ones have finished.
    pub fn run(&self, tasks: usize, f: &Task<'_>) {
        let alone = tasks <= 1 || self.handles.is_empty() || self.shared.busy.swap(true, SeqCst);
        if alone {
            (0..tasks).for_each(|task| f(task, 0));
            return;
        }
        let panic = self.shared.lead(tasks, f);
        self.shared.busy.store(false, SeqCst);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        drop(lock(&self.shared.bed));
        self.shared.wake.notify_all();
        for handle in self.handles.drain(..) {
            // A worker never panics: tasks are caught.
            let _ = handle.join();
        }
    }
}

impl Shared {
    /// Publishes a job, works on it, and waits for the workers inside. The caller holds `busy`.
    fn lead(&self, tasks: usize, f: &Task<'_>) -> Option<Box<dyn Any + Send>> {
        // SAFETY: only the lifetime changes; this function returns after the last worker has left the job.
        let task = unsafe { std::mem::transmute::<*const Task<'_>, *const Task<'static>>(f) };
        let job = Job { task, tasks };
        // SAFETY: the caller holds `busy` and the previous job is closed with nobody inside.
        unsafe { *self.job.get() = Some(job) };
        self.next.store(0, SeqCst);
        let number = (self.state.load(SeqCst) >> 32).wrapping_add(1) & 0xFFFF_FFFF;
        self.state.store(number << 32 | OPEN, SeqCst);
        self.rouse(tasks - 1);
        self.work(job, 0);
        self.state.fetch_and(!OPEN, SeqCst);
        let mut rounds = 0;
        while self.state.load(SeqCst) & INSIDE != 0 {
            pause(&mut rounds);
        }
        lock(&self.panic).take()
    }

    fn rouse(&self, most: usize) {
        let sleepers = self.sleepers.load(SeqCst);
        if sleepers > 0 {
            drop(lock(&self.bed));
            (0..most.min(sleepers)).for_each(|_| self.wake.notify_one());
        }
    }

    fn work(&self, job: Job, worker: usize) {
        let run = || {
            loop {
                let task = self.next.fetch_add(1, SeqCst);
                if task >= job.tasks {
                    break;
                }
                // SAFETY: `lead` keeps the closure alive until everybody inside has left.
                unsafe { (*job.task)(task, worker) };
            }
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
            self.next.store(job.tasks, SeqCst);
            lock(&self.panic).get_or_insert(panic);
        }
    }

    /// The life of a worker.
    fn serve(&self, worker: usize) {
        let mut last = 0;
        while let Some(number) = self.await_job(last) {
            last = number;
            if !self.enter(number) {
                continue;
            }
            // SAFETY: the worker is counted as inside, so the job is not replaced.
            if let Some(job) = unsafe { *self.job.get() } {
                self.work(job, worker);
            }
            self.state.fetch_sub(1, SeqCst);
        }
    }

    /// Counts the worker in, unless the job has closed.
    fn enter(&self, number: u64) -> bool {
        let join = |s: u64| (s >> 32 == number && s & OPEN != 0).then(|| s + 1);
        self.state.fetch_update(SeqCst, SeqCst, join).is_ok()
    }

    /// Waits for an open job other than `last`; `None` when the pool stops.
    fn await_job(&self, last: u64) -> Option<u64> {
        let ready = || {
            let s = self.state.load(SeqCst);
            (s & OPEN != 0 && s >> 32 != last).then_some(s >> 32)
        };
        for _ in 0..SPIN {
            if let Some(number) = ready() {
                return Some(number);
            }
            std::hint::spin_loop();
        }
        let mut bed = lock(&self.bed);
        self.sleepers.fetch_add(1, SeqCst);
        let number = loop {
            if self.stop.load(SeqCst) {
                break None;
            }
            if let Some(number) = ready() {
                break Some(number);
            }
            bed = self.wake.wait(bed).unwrap_or_else(PoisonError::into_inner);
        };
        self.sleepers.fetch_sub(1, SeqCst);
        number
    }
}

/// One round of waiting for a thread that is about to finish; gives the core away when it takes long.
fn pause(rounds: &mut usize) {
    *rounds += 1;
    if (*rounds).is_multiple_of(256) { std::thread::yield_now() } else { std::hint::spin_loop() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(pool: &ThreadPool, tasks: usize) -> usize {
        let total = AtomicUsize::new(0);
        pool.run(tasks, &|task, worker| {
            assert!(worker < pool.threads());
            total.fetch_add(task + 1, SeqCst);
        });
        total.into_inner()
    }

    #[test]
    fn every_task_runs_once() {
        for threads in [1, 2, 5] {
            let pool = ThreadPool::new(threads);
            assert_eq!(pool.threads(), threads);
            for tasks in [0, 1, 2, 7, 1000] {
                assert_eq!(sum(&pool, tasks), tasks * (tasks + 1) / 2);
            }
        }
    }

    #[test]
    fn many_callers_and_nested_calls() {
        let pool = ThreadPool::new(3);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..300).for_each(|i| assert_eq!(sum(&pool, i % 20), (i % 20) * (i % 20 + 1) / 2)));
            }
        });
        let total = AtomicUsize::new(0);
        pool.run(10, &|_, _| {
            total.fetch_add(sum(&pool, 10), SeqCst);
        });
        assert_eq!(total.into_inner(), 550);
    }

    #[test]
    fn workers_wake_after_sleeping() {
        let pool = ThreadPool::new(2);
        for _ in 0..3 {
            std::thread::sleep(std::time::Duration::from_millis(5));
            assert_eq!(sum(&pool, 100), 5050);
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_leaves_the_pool_usable() {
        let pool = ThreadPool::new(4);
        for bad in [0, 3, 99] {
            let result = catch_unwind(AssertUnwindSafe(|| pool.run(100, &|task, _| assert!(task != bad, "task {bad}"))));
            assert!(result.is_err());
            assert_eq!(sum(&pool, 50), 1275);
        }
    }
}
