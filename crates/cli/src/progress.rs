//! A spinner on standard error for work that takes longer than a second, only on a terminal.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

const DELAY: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// Shown until dropped.
pub(crate) struct Progress {
    done: Arc<AtomicU64>,
    shower: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts work of `total` steps; 0 if it has none.
    pub(crate) fn start(message: impl Into<String>, total: u64) -> Progress {
        let done = Arc::new(AtomicU64::new(0));
        let shower = std::io::stderr().is_terminal().then(|| {
            let (stop, stopped) = channel();
            let (message, done) = (message.into(), done.clone());
            let thread = std::thread::spawn(move || {
                if stopped.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                let bar = bar(message, total);
                while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    bar.set_position(done.load(Ordering::Relaxed));
                    bar.tick();
                }
                bar.finish_and_clear();
            });
            (stop, thread)
        });
        Progress { done, shower }
    }
    /// One step is done.
    pub(crate) fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

fn bar(message: String, total: u64) -> ProgressBar {
    let (bar, template) = match total {
        0 => (ProgressBar::new_spinner(), "{spinner} {msg} ({elapsed})"),
        n => (ProgressBar::new(n), "{spinner} {msg} {pos}/{len} ({elapsed}, {eta} left)"),
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    bar.with_style(style).with_message(message)
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.shower.take() {
            drop(stop);
            // A panic of the thread that only draws must not end the command.
            let _ = thread.join();
        }
    }
}
