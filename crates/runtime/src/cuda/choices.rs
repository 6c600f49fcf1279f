//! Which of a library's algorithms runs a problem: the fastest of its proposals that computes what is meant, timed once per problem
//! and machine.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use base::{Error, Result, Stock};

use super::context::Context;
use super::timer::seconds;

/// Multiply-adds from which timing is worth its while.
const WORTHWHILE: f64 = (1u64 << 21) as f64;
/// Seconds that timing a proposal may take, besides one run, and most runs.
const BUDGET: f64 = 0.0025;
const MOST_RUNS: usize = 50;

/// A problem for which a library has several algorithms.
pub(super) trait Contest {
    /// What runs the problem.
    type Plan;

    /// The problem, and the library's version: the same choice is good wherever they are the same.
    fn description(&self) -> String;

    /// Multiply-adds.
    fn work(&self) -> f64;

    /// What runs a choice that was made before, if the library still takes it.
    fn plan(&self, choice: &[u64]) -> Option<Self::Plan>;

    /// Choices with their plans, the library's favourite first; each list only counts where nothing in those before it does.
    fn proposals(&self) -> impl Iterator<Item = Result<Vec<(Vec<u64>, Self::Plan)>>>;

    /// A run on random numbers, any number of times.
    fn rehearsal<'a>(&'a self, plan: &'a Self::Plan) -> Result<impl Fn() -> Result<()> + 'a>;

    /// Whether a plan computes what is meant.
    fn is_right(&self, _plan: &Self::Plan) -> Result<bool> {
        Ok(true)
    }

    /// The error for a problem without algorithms.
    fn unsupported(&self) -> Error;
}

/// Choices by problem, in memory and in a cache folder.
#[derive(Default)]
pub(super) struct Choices {
    cache: Option<Stock>,
    /// Held while a problem is timed, so that no other disturbs.
    known: Mutex<BTreeMap<String, Vec<u64>>>,
    /// Problems that were timed.
    timed: AtomicUsize,
}

impl Choices {
    /// Those of a sort of problems.
    pub(super) fn new(cache: Option<&str>, sort: &str) -> Choices {
        Choices { cache: cache.map(|c| Stock::new(c, sort)), ..Choices::default() }
    }

    /// Problems that were timed so far.
    pub(super) fn timed(&self) -> usize {
        self.timed.load(Ordering::Relaxed)
    }

    /// The plan for a problem.
    ///
    /// # Errors
    /// `Unsupported` when the library has none.
    pub(super) fn choose<C: Contest>(&self, context: &Context, contest: &C) -> Result<C::Plan> {
        let machine = (&context.about.name, context.about.multiprocessors);
        let key = base::digest(format!("{machine:?} {}", contest.description()).as_bytes());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = || self.cache.as_ref().and_then(|c| c.load(&key).ok()).and_then(|bytes| unpack(&bytes));
        if let Some(choice) = known.get(&key).cloned().or_else(stored)
            && let Some(plan) = contest.plan(&choice)
        {
            known.insert(key, choice);
            return Ok(plan);
        }
        for proposals in contest.proposals() {
            let mut proposals = proposals?;
            let is_contest = proposals.len() > 1 && contest.work() >= WORTHWHILE && context.recording() == 0;
            self.timed.fetch_add(usize::from(is_contest), Ordering::Relaxed);
            // Without memory for timing the library's order is as good as any.
            let timed = if is_contest { fastest_first(context, contest, &proposals).ok() } else { None };
            let is_settled = timed.is_some() || !is_contest;
            for n in timed.unwrap_or_else(|| (0..proposals.len()).collect()) {
                if contest.is_right(&proposals[n].1)? {
                    let (choice, plan) = proposals.swap_remove(n);
                    if let Some(cache) = self.cache.as_ref().filter(|_| is_settled) {
                        let _ = cache.store(&key, &pack(&choice));
                    }
                    known.insert(key, choice);
                    return Ok(plan);
                }
            }
        }
        Err(contest.unsupported())
    }
}

/// The proposals that run, by the time they take.
fn fastest_first<C: Contest>(context: &Context, contest: &C, proposals: &[(Vec<u64>, C::Plan)]) -> Result<Vec<usize>> {
    let mut times = Vec::new();
    for (n, (_, plan)) in proposals.iter().enumerate() {
        let run = contest.rehearsal(plan)?;
        // A proposal that cannot run after all is none.
        let Ok(once) = run().and_then(|()| seconds(context, 1, &run)) else { continue };
        let runs = (BUDGET / once.max(1e-6)) as usize;
        let time = if runs > 1 { seconds(context, runs.min(MOST_RUNS), &run)? } else { once };
        times.push((time, n));
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(times.into_iter().map(|(_, n)| n).collect())
}

fn pack(choice: &[u64]) -> Vec<u8> {
    choice.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn unpack(bytes: &[u8]) -> Option<Vec<u64>> {
    let (words, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| words.iter().map(|w| u64::from_le_bytes(*w)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_come_back_from_the_cache() {
        let choice = vec![1, 2, 3, u64::MAX];
        assert_eq!(unpack(&pack(&choice)), Some(choice));
        assert_eq!(unpack(&[0; 63]), None);
    }
}
