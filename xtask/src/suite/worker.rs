//! A process that runs cases one after the other, so that a crash, a hang or a broken device costs one case only.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use base::{Error, Result};
use serde_json::{Value, json};

use super::outcome::Outcome;
use super::{Context, cases, device};
use crate::flags::Flags;

/// How long a process may take to end.
const ENDING: Duration = Duration::from_secs(10);

/// Marks the lines that are answers.
const MARK: &str = "@case ";

/// Where the last panic was.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Answers names of cases on standard input with outcomes on standard output.
///
/// # Errors
/// A pipe that breaks.
pub(crate) fn serve(context: &Context) -> Result<()> {
    std::panic::set_hook(Box::new(|info| *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string()));
    for line in std::io::stdin().lines() {
        let outcome = run(context, &line?);
        let broken = matches!(outcome, Outcome::Failed(_)) && !caught(|| Ok(device::is_usable(context))).unwrap_or(false);
        let answer = json!({ "outcome": outcome.to_json(), "broken": broken });
        println!("{MARK}{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn run(context: &Context, case: &str) -> Outcome {
    caught(|| cases::run(context, case)).unwrap_or_else(Outcome::from)
}

/// The result of `f`; its panic as an error.
fn caught<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
        let panic = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        Err(Error::internal(format!("panic: {panic}")))
    })
}

/// A worker process, started when it is needed.
pub(crate) struct Worker {
    flags: Flags,
    timeout: Duration,
    log: PathBuf,
    process: Option<Process>,
}

struct Process {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Worker {
    /// A worker that gets the suite's own options.
    pub(crate) fn new(number: usize, flags: &Flags, timeout: Duration) -> Worker {
        let log = std::env::temp_dir().join(format!("fuseline-suite-{}-{number}.log", std::process::id()));
        Worker { flags: flags.clone(), timeout, log, process: None }
    }

    /// What a case comes to.
    pub(crate) fn run(&mut self, case: &str) -> Outcome {
        let answer = self.ask(case).unwrap_or_else(|e| json!({ "outcome": Outcome::from(e).to_json(), "broken": true }));
        if answer["broken"] == json!(true) {
            self.stop();
        }
        Outcome::from_json(&answer["outcome"])
    }

    fn ask(&mut self, case: &str) -> Result<Value> {
        if self.process.is_none() {
            self.process = Some(self.start()?);
        }
        let process = self.process.as_mut().ok_or_else(|| Error::internal("no worker"))?;
        writeln!(process.stdin, "{case}")?;
        let line = match process.answers.recv_timeout(self.timeout) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                return Err(Error::internal(format!("no answer within {} s", self.timeout.as_secs())));
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = process.child.wait()?;
                return Err(Error::internal(format!("the process ended: {status}\n{}", tail(&self.log))));
            }
        };
        serde_json::from_str(&line).map_err(|e| Error::internal(format!("{e}: {line}")))
    }

    fn start(&self) -> Result<Process> {
        let log = File::create(&self.log)?;
        let mut words = self.flags.text("under").unwrap_or("").split_whitespace().map(OsString::from).collect::<Vec<_>>();
        words.push(std::env::current_exe()?.into());
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .args(["suite", "--serve"])
            .args(self.flags.words())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(|| Error::internal("a worker without pipes"))?;
        let (send, answers) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(std::result::Result::ok) {
                if let Some(answer) = line.strip_prefix(MARK)
                    && send.send(answer.to_owned()).is_err()
                {
                    break;
                }
            }
        });
        Ok(Process { child, stdin, answers })
    }

    /// Without names to come a process ends by itself, and a tool that watches it says what it found; one that hangs is killed.
    fn stop(&mut self) {
        if let Some(Process { mut child, stdin, answers }) = self.process.take() {
            drop(stdin);
            if !ends(&answers) {
                // It may have ended by itself since.
                let _ = child.kill();
            }
            let _ = child.wait();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop();
        let _ = std::fs::remove_file(&self.log);
    }
}

/// Whether a process closes its output in time.
fn ends(answers: &Receiver<String>) -> bool {
    let until = Instant::now() + ENDING;
    loop {
        match answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(_) => {}
            Err(why) => return why == RecvTimeoutError::Disconnected,
        }
    }
}

/// The last lines of a file.
fn tail(path: &PathBuf) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(4)..].join("\n")
}
