//! Compiled code by what was recorded.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::{Config, HashMap, Result};
use graph::{HostTensor, Module};
use scalar::Scalar;

use crate::engine::Executable;
use crate::flush::frozen_values;
use crate::program::{Program, Recording, Source};

/// Programs remembered before starting over.
const CAPACITY: usize = 1024;

/// Compiled code by program and settings.
///
/// A number in a program is a constant of its code until the program is seen with another value there: then it becomes an
/// input, so that its third value compiles nothing.
#[derive(Default)]
pub(crate) struct Cache {
    families: Mutex<HashMap<u64, Vec<Family>>>,
    compiles: AtomicUsize,
}

/// Code for one program under one configuration.
struct Family {
    program: Program,
    config: Config,
    /// The numbers that it was first seen with.
    first: Vec<Scalar>,
    /// Which numbers have been seen with another value.
    vary: Vec<bool>,
    /// The latest, which serves the most values, last.
    code: Vec<Arc<Compiled>>,
}

/// Compiled code and what it takes.
pub(crate) struct Compiled {
    pub(crate) executable: Executable,
    /// Its inputs in order.
    inputs: Vec<Input>,
    /// The numbers that are constants of the code.
    fixed: Vec<Option<Scalar>>,
}

enum Input {
    /// A leaf, by slot.
    Leaf(usize),
    /// A number that varies, by position.
    Number(usize),
}

impl Compiled {
    fn new(recording: &Recording, vary: &[bool], config: &Config) -> Result<Compiled> {
        let (graph, sources) = recording.graph("lazy", &[], vary)?;
        let frozen = frozen_values(&graph, &sources);
        let open = sources.iter().enumerate().filter(|&(slot, _)| !graph.inputs[slot].frozen);
        let inputs =
            open.map(|(slot, s)| if let Source::Number(k) = s { Input::Number(*k) } else { Input::Leaf(slot) }).collect();
        let fixed = recording.numbers.iter().zip(vary).map(|(n, vary)| (!vary).then_some(*n)).collect();
        Ok(Compiled { executable: Executable::compile(&Module { graph, frozen }, config)?, inputs, fixed })
    }
    /// What to run it with.
    pub(crate) fn inputs(&self, recording: &Recording) -> Vec<HostTensor> {
        let value = |input: &Input| match *input {
            Input::Leaf(slot) => recording.sources[slot].value(),
            Input::Number(k) => {
                let number = recording.numbers[k];
                Some(HostTensor::from_scalars(number.dtype(), &[], std::iter::once(number)))
            }
        };
        self.inputs.iter().filter_map(value).collect()
    }
    fn serves(&self, numbers: &[Scalar]) -> bool {
        self.fixed.iter().zip(numbers).all(|(fixed, n)| fixed.is_none_or(|f| f == *n))
    }
}

impl Cache {
    /// Number of times that something was compiled.
    pub(crate) fn compiles(&self) -> usize {
        self.compiles.load(Ordering::Relaxed)
    }
    fn families(&self) -> MutexGuard<'_, HashMap<u64, Vec<Family>>> {
        self.families.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The code for a recording, which is compiled unless it is there.
    ///
    /// # Errors
    /// What compiling gives.
    pub(crate) fn find(&self, recording: &Recording, config: &Config) -> Result<Arc<Compiled>> {
        let vary = match self.lookup(recording, config) {
            Found::Code(code) => return Ok(code),
            Found::Vary(vary) => vary,
        };
        let code = Arc::new(Compiled::new(recording, &vary, config)?);
        self.compiles.fetch_add(1, Ordering::Relaxed);
        self.store(recording, config, vary, code.clone());
        Ok(code)
    }

    fn lookup(&self, recording: &Recording, config: &Config) -> Found {
        let mut families = self.families();
        let family = families.get_mut(&recording.hash()).and_then(|same| same.iter_mut().find(|f| f.is(recording, config)));
        let Some(family) = family else { return Found::Vary(vec![false; recording.numbers.len()]) };
        if let Some(code) = family.code.iter().rev().find(|c| c.serves(&recording.numbers)) {
            return Found::Code(code.clone());
        }
        for ((vary, first), n) in family.vary.iter_mut().zip(&family.first).zip(&recording.numbers) {
            *vary |= first != n;
        }
        Found::Vary(family.vary.clone())
    }

    fn store(&self, recording: &Recording, config: &Config, vary: Vec<bool>, code: Arc<Compiled>) {
        let mut families = self.families();
        if families.len() >= CAPACITY {
            families.clear();
        }
        let same = families.entry(recording.hash()).or_default();
        match same.iter_mut().find(|f| f.is(recording, config)) {
            Some(family) => family.code.push(code),
            None => same.push(Family {
                program: recording.program.clone(),
                config: config.clone(),
                first: recording.numbers.clone(),
                vary,
                code: vec![code],
            }),
        }
    }
}

impl Family {
    fn is(&self, recording: &Recording, config: &Config) -> bool {
        self.program == recording.program && self.config == *config
    }
}

enum Found {
    Code(Arc<Compiled>),
    /// Nothing: which numbers to make inputs.
    Vary(Vec<bool>),
}
