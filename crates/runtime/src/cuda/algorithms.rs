//! The algorithms that cuBLASLt proposes for a product.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;

use base::{Error, Result};

use super::blas::{self, Algorithm, Opaque, Proposal, preference};
use super::choices::Contest;
use super::context::Context;
use super::multiply::{Descriptors, Started, WORKSPACE};
use super::product::Problem;
use super::random::Operands;

/// Proposals that are asked for.
const PROPOSALS: usize = 8;

/// `CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE`: parts of a sum that blocks share are added in the type that they were computed in, in an
/// order that never changes. In the type of the result, a small bf16 result of large parts would be wrong in its first digits.
const REDUCTIONS: u32 = 2;

/// A product whose addresses have an alignment.
pub(super) struct Algorithms<'a> {
    pub(super) context: &'a Arc<Context>,
    pub(super) started: &'a Started,
    pub(super) descriptors: &'a Descriptors,
    pub(super) problem: &'a Problem,
    pub(super) alignment: u64,
    /// To measure with: a, b, d, and the second matrix if there is one.
    pub(super) operands: Operands<'a>,
}

impl Contest for Algorithms<'_> {
    type Plan = Algorithm;

    fn description(&self) -> String {
        let version = self.started.blas().ok().map(blas::Blas::number);
        format!("{version:?} {:?} {} {REDUCTIONS}", self.problem, self.alignment)
    }

    fn work(&self) -> f64 {
        self.problem.work()
    }

    fn plan(&self, choice: &[u64]) -> Option<Algorithm> {
        let algorithm = Algorithm(choice.try_into().ok()?);
        let [product, a, b, d] = self.descriptors.raw;
        let (check, handle) = (self.started.blas().ok()?.check_algorithm, self.started.handle);
        let mut result = Proposal::default();
        // SAFETY: the descriptors exist, and one result is stored.
        let code = unsafe { check(handle, product, a, b, d, d, &raw const algorithm, &raw mut result) };
        (code == 0 && result.workspace <= WORKSPACE).then_some(algorithm)
    }

    fn proposals(&self) -> impl Iterator<Item = Result<Vec<(Vec<u64>, Algorithm)>>> {
        std::iter::once_with(|| Ok(self.propose()?.into_iter().map(|a| (a.0.to_vec(), a)).collect()))
    }

    fn rehearsal<'a>(&'a self, plan: &'a Algorithm) -> Result<impl Fn() -> Result<()> + 'a> {
        let addresses = self.operands.addresses::<3>()?;
        let beside = if self.problem.has_beside() { Some(self.operands.addresses::<4>()?[3]) } else { None };
        // Sums are written, which may go over the second matrix while timing, but not over the workspace.
        let sums = beside.filter(|_| self.problem.has_sums());
        self.descriptors.set_others(self.started.blas()?, sums, beside)?;
        Ok(move || self.descriptors.run(self.context, self.started, addresses, plan))
    }

    fn unsupported(&self) -> Error {
        Error::unsupported(format!("cuBLASLt has no algorithm for {:?}", self.problem))
    }
}

impl Algorithms<'_> {
    /// What the library proposes, its favourite first.
    fn propose(&self) -> Result<Vec<Algorithm>> {
        let blas = self.started.blas()?;
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
        let (workspace, bytes, reductions) = (WORKSPACE as u64, self.alignment as u32, REDUCTIONS);
        set(preference::WORKSPACE, (&raw const workspace).cast(), 8)?;
        set(preference::REDUCTIONS, (&raw const reductions).cast(), 4)?;
        for attribute in [preference::ALIGNMENT_A, preference::ALIGNMENT_B, preference::ALIGNMENT_C, preference::ALIGNMENT_D] {
            set(attribute, (&raw const bytes).cast(), 4)?;
        }
        let ([product, a, b, d], handle) = (self.descriptors.raw, self.started.handle);
        let (mut proposals, mut count) = ([Proposal::default(); PROPOSALS], 0);
        let (most, to) = (PROPOSALS as c_int, proposals.as_mut_ptr());
        // SAFETY: the descriptors exist, and there is room for as many proposals as asked for.
        let code = unsafe { (blas.heuristic)(handle, product, a, b, d, d, preference.raw, most, to, &raw mut count) };
        if code == blas::NOT_SUPPORTED || code == blas::INVALID_VALUE {
            return Ok(Vec::new());
        }
        blas.check(code, "cublasLtMatmulAlgoGetHeuristic")?;
        let good = |p: &&Proposal| p.state == 0 && p.workspace <= WORKSPACE;
        Ok(proposals[..count as usize].iter().filter(good).map(|p| p.algorithm).collect())
    }
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
