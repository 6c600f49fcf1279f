//! Which of the library's algorithms runs a product: the fastest of its proposals, timed once per problem and machine.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base::{Error, Result, Stock};

use super::blas::{self, Algorithm, Opaque, Proposal, preference};
use super::context::Context;
use super::multiply::{Descriptors, Started, WORKSPACE};
use super::product::Problem;
use super::random::random;
use super::timer::seconds;
use crate::memory::Pool;

/// Proposals that are timed.
const PROPOSALS: usize = 8;
/// Multiply-adds from which timing is worth its while.
const WORTHWHILE: f64 = (1u64 << 21) as f64;
/// Seconds that timing one problem may take, besides one run of each proposal.
const BUDGET: f64 = 0.02;

/// What was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chosen {
    pub(super) algorithm: Algorithm,
}

/// Choices by problem, in memory and in a cache folder.
#[derive(Default)]
pub(super) struct Algorithms {
    cache: Option<Stock>,
    /// Held while a problem is timed, so that no other disturbs.
    known: Mutex<BTreeMap<String, Chosen>>,
    /// Problems that were timed.
    pub(super) timed: AtomicUsize,
}

impl Algorithms {
    pub(super) fn new(cache: Option<&str>) -> Algorithms {
        Algorithms { cache: cache.map(|c| Stock::new(c, "products")), ..Algorithms::default() }
    }

    /// The algorithm for a problem whose addresses have an alignment.
    ///
    /// # Errors
    /// `Unsupported` when the library has none.
    pub(super) fn choose(
        &self,
        context: &Arc<Context>,
        pool: &Pool,
        started: &Started,
        descriptors: &Descriptors,
        problem: &Problem,
        alignment: u64,
    ) -> Result<Chosen> {
        let version = started.blas()?.number();
        let machine = (&context.about.name, context.about.multiprocessors, version);
        let key = base::digest(format!("{machine:?} {problem:?} {alignment}").as_bytes());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chosen) = known.get(&key) {
            return Ok(*chosen);
        }
        let stored = self.cache.as_ref().and_then(|c| c.load(&key).ok()).and_then(|bytes| unpack(&bytes));
        let chosen = match stored.filter(|c| is_usable(started, descriptors, c)) {
            Some(chosen) => chosen,
            None => {
                let proposals = propose(started, descriptors, alignment)?;
                let first = *proposals.first().ok_or_else(|| unsupported(problem))?;
                let timed = proposals.len() > 1 && problem.work() >= WORTHWHILE && context.recording() == 0;
                self.timed.fetch_add(usize::from(timed), Ordering::Relaxed);
                // Without memory for timing the first proposal is as good as any.
                let fastest = if timed { fastest(context, pool, started, descriptors, problem, &proposals).ok() } else { None };
                let chosen = Chosen { algorithm: fastest.unwrap_or(first) };
                if let (Some(cache), true) = (&self.cache, fastest.is_some()) {
                    let _ = cache.store(&key, &pack(&chosen));
                }
                chosen
            }
        };
        known.insert(key, chosen);
        Ok(chosen)
    }
}

fn unsupported(problem: &Problem) -> Error {
    Error::unsupported(format!("cuBLASLt has no algorithm for {problem:?}"))
}

fn pack(chosen: &Chosen) -> Vec<u8> {
    chosen.algorithm.0.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn unpack(bytes: &[u8]) -> Option<Chosen> {
    let (words, rest) = bytes.as_chunks::<8>();
    let words: [u64; 8] = words.iter().map(|w| u64::from_le_bytes(*w)).collect::<Vec<_>>().try_into().ok()?;
    rest.is_empty().then_some(Chosen { algorithm: Algorithm(words) })
}

/// Whether a stored algorithm still fits the problem.
fn is_usable(started: &Started, descriptors: &Descriptors, chosen: &Chosen) -> bool {
    let Ok(blas) = started.blas() else { return false };
    let [product, a, b, d] = descriptors.raw;
    let mut result = Proposal::default();
    // SAFETY: the descriptors exist, and one result is stored.
    let code =
        unsafe { (blas.check_algorithm)(started.handle, product, a, b, d, d, &raw const chosen.algorithm, &raw mut result) };
    code == 0 && result.workspace <= WORKSPACE
}

/// Preferences of a search, destroyed in the end.
struct Preference<'a> {
    blas: &'a blas::Blas,
    raw: Opaque,
}

impl Drop for Preference<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: it was created and is destroyed once; a failure leaves nothing to do.
            unsafe { (self.blas.preference_destroy)(self.raw) };
        }
    }
}

/// What the library proposes, its favourite first.
fn propose(started: &Started, descriptors: &Descriptors, alignment: u64) -> Result<Vec<Algorithm>> {
    let blas = started.blas()?;
    let mut preference = Preference { blas, raw: null_mut() };
    // SAFETY: the function stores a preference.
    blas.check(unsafe { (blas.preference_create)(&raw mut preference.raw) }, "cublasLtMatmulPreferenceCreate")?;
    let set = |attribute: i32, value: *const std::ffi::c_void, size: usize| {
        // SAFETY: the preference exists; callers pass values of the attributes' sizes.
        blas.check(
            unsafe { (blas.preference_set)(preference.raw, attribute, value, size) },
            "cublasLtMatmulPreferenceSetAttribute",
        )
    };
    let (workspace, bytes) = (WORKSPACE as u64, alignment as u32);
    set(preference::WORKSPACE, (&raw const workspace).cast(), 8)?;
    for attribute in [preference::ALIGNMENT_A, preference::ALIGNMENT_B, preference::ALIGNMENT_C, preference::ALIGNMENT_D] {
        set(attribute, (&raw const bytes).cast(), 4)?;
    }
    let [product, a, b, d] = descriptors.raw;
    let (mut proposals, mut count) = ([Proposal::default(); PROPOSALS], 0);
    let (most, to) = (PROPOSALS as c_int, proposals.as_mut_ptr());
    // SAFETY: the descriptors exist, and there is room for as many proposals as asked for.
    let code = unsafe { (blas.heuristic)(started.handle, product, a, b, d, d, preference.raw, most, to, &raw mut count) };
    if code == blas::NOT_SUPPORTED || code == blas::INVALID_VALUE {
        return Ok(Vec::new());
    }
    blas.check(code, "cublasLtMatmulAlgoGetHeuristic")?;
    let good = |p: &&Proposal| p.state == 0 && p.workspace <= WORKSPACE;
    Ok(proposals[..count as usize].iter().filter(good).map(|p| p.algorithm).collect())
}

/// The proposal that takes the least time on random numbers.
fn fastest(
    context: &Arc<Context>,
    pool: &Pool,
    started: &Started,
    descriptors: &Descriptors,
    problem: &Problem,
    proposals: &[Algorithm],
) -> Result<Algorithm> {
    let matrices = [&problem.a, &problem.b, &problem.d];
    let buffers = matrices.map(|m| random(pool, m.dtype, m.span(problem.batch).max(1) as usize));
    let buffers = buffers.into_iter().collect::<Result<Vec<_>>>()?;
    let addresses = [0, 1, 2].map(|i| buffers[i].as_ptr() as u64);
    let mut best: Option<(f64, Algorithm)> = None;
    for &algorithm in proposals {
        let run = || descriptors.run(context, started, addresses, &Chosen { algorithm });
        // A proposal that cannot run after all is none.
        let Ok(once) = run().and_then(|()| seconds(context, 1, run)) else { continue };
        let times = (BUDGET / PROPOSALS as f64 / once.max(1e-6)) as usize;
        let time = if times > 1 { seconds(context, times.min(50), run)? } else { once };
        if best.is_none_or(|(least, _)| time < least) {
            best = Some((time, algorithm));
        }
    }
    best.map(|(_, algorithm)| algorithm).ok_or_else(|| unsupported(problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_come_back_from_the_cache() {
        let chosen = Chosen { algorithm: Algorithm([1, 2, 3, 4, 5, 6, 7, u64::MAX]) };
        assert_eq!(unpack(&pack(&chosen)), Some(chosen));
        assert_eq!(unpack(&[0; 63]), None);
        assert_eq!(unpack(&[0; 72]), None);
    }
}
