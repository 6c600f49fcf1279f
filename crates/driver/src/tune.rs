//! Schedules of a GPU's kernels chosen by time.
//!
//! Candidates are compiled side by side and timed in turn, on random numbers, with the second-level cache displaced before each run.
//! What does not compile, spills more than the usual schedule or fails to launch is out. A choice is kept for other processes under
//! everything that it depends on: the program as it usually is, with its sizes and strides, the GPU, and the compiler.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::{Config, Result, Stock};
use fuse::{Kernel, Plan};
use lower::Choice;
use program::{CudaProgram, CudaStep, Program};
use runtime::{Arg, Buffer, Device, Prepared};
use scalar::Var;

use crate::instance::{cuda_program_as, cuda_program_of};

/// Timed runs of each candidate.
const ROUNDS: usize = 9;
/// Of these so many come before those that are far behind are dropped.
const FIRST_ROUNDS: usize = 3;
/// A candidate is far behind when its best run takes so many times as long as the best one's.
const FAR: f64 = 1.15;
/// The part of the usual schedule's time that another one has to save.
const WORTHWHILE: f64 = 0.02;

/// Chooses schedules for one GPU, within a budget of time.
pub(crate) struct Tuner<'a> {
    device: &'a Device,
    config: &'a Config,
    until: Instant,
    stock: Option<Stock>,
    /// What times depend on besides the program.
    machine: String,
    /// Choices of this plan so far, by key.
    known: Mutex<BTreeMap<String, Choice>>,
}

/// One candidate.
struct Trial {
    choice: Choice,
    prepared: Prepared,
    times: Vec<Duration>,
}

impl Trial {
    fn best(&self) -> f64 {
        self.times.iter().min().map_or(f64::INFINITY, Duration::as_secs_f64)
    }

    fn median(&self) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        times.get(times.len() / 2).map_or(f64::INFINITY, Duration::as_secs_f64)
    }

    fn spills(&self) -> u32 {
        self.prepared.resources().iter().map(|r| r.spills).sum()
    }
}

/// The programs that a tuner tries for a kernel, with their choices: the usual one first, and each once.
///
/// # Errors
/// What lowering cannot express.
pub fn candidates(
    plan: &Plan,
    kernel: &Kernel,
    dims: &BTreeMap<Var, i64>,
    config: &Config,
) -> Result<Vec<(Choice, CudaProgram)>> {
    let mut found = vec![(Choice::default(), cuda_program_of(plan, kernel, dims, config)?)];
    for choice in Choice::ALL {
        let Ok(program) = cuda_program_as(plan, kernel, dims, config, choice) else { continue };
        let is_new = found.iter().all(|(_, other)| *other != program);
        if is_new && program.params == found[0].1.params {
            found.push((choice, program));
        }
    }
    Ok(found)
}

impl<'a> Tuner<'a> {
    /// `None` where the configuration asks for none, and for a CPU.
    pub(crate) fn new(device: &'a Device, config: &'a Config) -> Option<Tuner<'a>> {
        let (seconds, about) = (config.tune?, device.info()?);
        let libraries: Vec<_> = about.libraries.iter().map(|l| (&l.name, &l.version)).collect();
        let machine = format!("{} {} {:?} {libraries:?}", about.name, about.multiprocessors, about.driver);
        let stock = config.cache.as_ref().map(|folder| Stock::new(folder, "schedules"));
        let until = Instant::now() + Duration::from_secs(seconds);
        Some(Tuner { device, config, until, stock, machine, known: Mutex::default() })
    }

    /// The fastest program of a kernel, as far as there is time to find it.
    ///
    /// # Errors
    /// What lowering cannot express.
    pub(crate) fn program(&self, plan: &Plan, kernel: &Kernel, dims: &BTreeMap<Var, i64>) -> Result<CudaProgram> {
        let usual = cuda_program_of(plan, kernel, dims, self.config)?;
        if kernel.once || !usual.steps.iter().any(|s| matches!(s, CudaStep::Launch(_))) {
            return Ok(usual);
        }
        let key = self.key(&usual);
        let choice = match self.known(&key) {
            Some(choice) => choice,
            None => {
                let found = candidates(plan, kernel, dims, self.config)?;
                let Some(choice) = self.fastest(&kernel.name, found) else { return Ok(usual) };
                self.keep(key, choice);
                choice
            }
        };
        if choice == Choice::default() { Ok(usual) } else { cuda_program_as(plan, kernel, dims, self.config, choice) }
    }

    /// Names do not count, as equal kernels of a plan differ in them.
    fn key(&self, usual: &CudaProgram) -> String {
        let CudaProgram { name: _, params, source, steps, checks: _ } = usual;
        let params: Vec<_> = params.iter().map(|p| (p.dtype, p.access, p.elements)).collect();
        base::digest(format!("{} {:?} {params:?} {steps:?} {source}", self.machine, Choice::ALL).as_bytes())
    }

    fn known(&self, key: &str) -> Option<Choice> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied();
        known.or_else(|| match self.stock.as_ref()?.load(key).ok()?[..] {
            [number] => Choice::ALL.get(usize::from(number)).copied(),
            _ => None,
        })
    }

    /// A choice that cannot be written is found again by the next process.
    fn keep(&self, key: String, choice: Choice) {
        let number = Choice::ALL.iter().position(|c| *c == choice);
        if let (Some(stock), Some(number)) = (&self.stock, number) {
            let _ = stock.store(&key, &[number as u8]);
        }
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, choice);
    }

    /// The fastest candidate; `None` where there was no time to find it, or the usual one does not run.
    fn fastest(&self, name: &str, found: Vec<(Choice, CudaProgram)>) -> Option<Choice> {
        if found.len() == 1 {
            return Some(Choice::default());
        }
        if Instant::now() >= self.until {
            return None;
        }
        let (choices, programs): (Vec<Choice>, Vec<Program>) = found.into_iter().map(|(c, p)| (c, Program::Cuda(p))).unzip();
        let prepared = choices.into_iter().zip(self.device.prepare_all(programs));
        let trial = |(choice, prepared): (Choice, Result<Prepared>)| {
            prepared.ok().map(|prepared| Trial { choice, prepared, times: Vec::new() })
        };
        let mut trials: Vec<Trial> = prepared.filter_map(trial).collect();
        let usual = trials.first().filter(|t| t.choice == Choice::default())?.spills();
        trials.retain(|t| t.spills() <= usual);
        let params = trials[0].prepared.params();
        let buffers = params.iter().map(|p| self.device.random(p.dtype, p.elements as usize));
        let buffers = buffers.collect::<Result<Vec<_>>>().ok()?;
        let rounds = self.race(&mut trials, &buffers);
        // Indices among the random numbers may have been out of range.
        let _ = self.device.synchronize();
        if rounds < FIRST_ROUNDS {
            return None;
        }
        let (first, best) = (trials.first()?, trials.iter().min_by(|a, b| a.median().total_cmp(&b.median()))?);
        let is_worthwhile = best.median() < (1.0 - WORTHWHILE) * first.median();
        let choice = if is_worthwhile { best.choice } else { Choice::default() };
        if self.config.logs("timing") {
            let (before, after, tried) = (first.median() * 1e6, best.median() * 1e6, trials.len());
            eprintln!("# tune {name}: {tried} schedules, {before:.1} µs as usual, {after:.1} µs at best, {choice:?}");
        }
        Some(choice)
    }

    /// Times the candidates in turn; those that fail or fall far behind leave, but for the usual one. Gives the number of rounds.
    fn race(&self, trials: &mut Vec<Trial>, buffers: &[Buffer]) -> usize {
        let args: Vec<Arg<'_>> = buffers.iter().map(Arg::from).collect();
        let run = |t: &Trial| {
            self.device.flush_l2()?;
            self.device.time(|| self.device.launch(&t.prepared, &args))
        };
        trials.retain(|t| t.choice == Choice::default() || run(t).is_ok());
        for round in 0..ROUNDS {
            for trial in trials.iter_mut() {
                match run(trial) {
                    Ok(time) => trial.times.push(time),
                    Err(_) => return 0,
                }
            }
            if Instant::now() >= self.until {
                return round + 1;
            }
            if round + 1 == FIRST_ROUNDS {
                let best = trials.iter().map(Trial::best).fold(f64::INFINITY, f64::min);
                trials.retain(|t| t.choice == Choice::default() || t.best() <= FAR * best);
            }
        }
        ROUNDS
    }
}
