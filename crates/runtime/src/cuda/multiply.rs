//! Products by cuBLASLt: descriptors and algorithms.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use base::{Error, Result};
use program::{Epilogue, Operand, Param, Product};
use scalar::DType;

use super::algorithms::Algorithms;
use super::blas::{Algorithm, Blas, Opaque, matrix_attribute, product_attribute};
use super::choices::Choices;
use super::context::Context;
use super::load::LibraryInfo;
use super::product::{Mapped, Matrix, Problem, code, map};
use super::random::Operands;
use crate::memory::{Buffer, Pool};

/// Workspace of the library; what its authors recommend for Hopper.
pub(super) const WORKSPACE: usize = 32 << 20;
/// Alignment of the addresses that the fast algorithms need.
const ALIGNED: u64 = 16;

/// The library on one GPU, started by the first product.
pub(crate) struct Multiplier {
    pool: Pool,
    choices: Choices,
    started: OnceLock<Started>,
    /// Held while it is started, which may fail and be tried again.
    starting: Mutex<()>,
}

/// The library's state, and its workspace: everything runs on one stream, one product after the other.
pub(super) struct Started {
    context: Arc<Context>,
    pub(super) handle: Opaque,
    pub(super) workspace: Buffer,
    pub(super) time: Duration,
}

// SAFETY: the library's handle may be used from several threads at once.
unsafe impl Send for Started {}
// SAFETY: as for Send.
unsafe impl Sync for Started {}

impl Started {
    pub(super) fn blas(&self) -> Result<&Blas> {
        blas(&self.context)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let (Ok(_), Ok(blas)) = (self.context.enter(), self.blas()) {
            // SAFETY: the handle is destroyed once; a failure leaves nothing to do.
            unsafe { (blas.destroy)(self.handle) };
        }
    }
}

fn blas(context: &Context) -> Result<&Blas> {
    let missing = || {
        let about = context.libraries.found.iter().find(|l| l.name == "cublasLt");
        about.map_or_else(|| Error::internal("cuBLASLt was not looked for"), LibraryInfo::missing)
    };
    context.libraries.blas.as_ref().ok_or_else(missing)
}

impl Multiplier {
    pub(crate) fn new(pool: &Pool, cache: Option<&str>) -> Multiplier {
        Multiplier {
            pool: pool.clone(),
            choices: Choices::new(cache, "products"),
            started: OnceLock::new(),
            starting: Mutex::default(),
        }
    }

    /// Time that starting the library took, if it was started.
    pub(crate) fn time(&self) -> Option<Duration> {
        Some(self.started.get()?.time)
    }

    /// Problems that were timed so far.
    pub(crate) fn timed(&self) -> usize {
        self.choices.timed()
    }

    fn started(&self, context: &Arc<Context>) -> Result<&Started> {
        if let Some(started) = self.started.get() {
            return Ok(started);
        }
        let _one = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = self.started.get() {
            return Ok(started);
        }
        let begin = Instant::now();
        context.enter()?;
        let blas = blas(context)?;
        let (workspace, mut handle) = (self.pool.alloc(WORKSPACE)?, null_mut());
        // SAFETY: the context is current; the handle is destroyed once, when the value is dropped.
        blas.check(unsafe { (blas.create)(&raw mut handle) }, "cublasLtCreate")?;
        Ok(self.started.get_or_init(|| Started { context: context.clone(), handle, workspace, time: begin.elapsed() }))
    }

    /// Makes a product ready.
    ///
    /// # Errors
    /// `Unsupported` for what the library does not take.
    pub(crate) fn prepare(
        self: &Arc<Self>,
        context: &Arc<Context>,
        product: &Product,
        params: &[Param],
    ) -> Result<PreparedProduct> {
        let Mapped { problem, swapped, calls } = map(product)?;
        let started = self.started(context)?;
        let size = |dtype: DType| dtype.size() as i64;
        let (a, b) = if swapped { (&product.b, &product.a) } else { (&product.a, &product.b) };
        let operands = [a, b, &product.d];
        let Epilogue { bias, sums, beside, .. } = &product.epilogue;
        let vector = bias.as_ref().or(sums.as_ref()).map(|v| (v.param, v.offset));
        let beside = beside.as_ref().map(|b| Operand { param: b.param, offset: b.offset, ..product.d.clone() });
        let others = vector.map(|v| v.0).into_iter().chain(beside.as_ref().map(|b| b.param));
        for param in operands.iter().map(|o| o.param).chain(others) {
            if usize::from(param) >= params.len() {
                return Err(Error::internal(format!("a product of parameter {param} of {}", params.len())));
            }
        }
        let extents = [(product.m, product.k), (product.k, product.n), (product.m, product.n), (product.m, product.n)];
        for (operand, (rows, columns)) in [&product.a, &product.b, &product.d].into_iter().chain(&beside).zip(extents) {
            check_inside(operand, &product.batch, rows, columns, params[usize::from(operand.param)].elements)?;
        }
        let bytes = |call: &[i64; 3]| [0, 1, 2].map(|o| call[o] * size(operands[o].dtype));
        let Some(problem) = problem else { return Ok(PreparedProduct { ready: None, calls: Vec::new() }) };
        let descriptors = Descriptors::new(started.blas()?, &problem)?;
        let ready = Ready {
            multiplier: self.clone(),
            params: operands.map(|o| o.param),
            vector: vector.map(|(param, at)| (param, at * size(product.d.dtype))),
            beside: beside.map(|b| (b.param, (b.offset - product.d.offset) * size(b.dtype))),
            descriptors: Mutex::new(descriptors),
            problem,
            chosen: [OnceLock::new(), OnceLock::new()],
        };
        ready.chosen(context, started, true)?;
        Ok(PreparedProduct { ready: Some(ready), calls: calls.iter().map(bytes).collect() })
    }
}

/// Checks that an operand lies inside of its parameter.
fn check_inside(operand: &Operand, batch: &[i64], rows: i64, columns: i64, elements: u64) -> Result<()> {
    let Operand { param, offset, batch: strides, .. } = operand;
    let axes = batch.iter().zip(strides).chain([(&rows, &operand.rows), (&columns, &operand.columns)]);
    let (mut least, mut most) = (i128::from(*offset), i128::from(*offset));
    for (&extent, &stride) in axes {
        let span = i128::from(extent - 1) * i128::from(stride);
        (least, most) = (least + span.min(0), most + span.max(0));
    }
    let empty = rows <= 0 || columns <= 0 || batch.iter().any(|&d| d <= 0);
    if batch.len() == strides.len() && (empty || (least >= 0 && most < i128::from(elements))) {
        return Ok(());
    }
    Err(Error::internal(format!("a product's operand {operand:?} of {rows} x {columns} lies outside of parameter {param}")))
}

/// A product that is ready to run.
pub(crate) struct PreparedProduct {
    /// `None` for one without elements.
    ready: Option<Ready>,
    /// Bytes at which the library's a, b and d of each call begin.
    calls: Vec<[i64; 3]>,
}

struct Ready {
    multiplier: Arc<Multiplier>,
    /// Parameters of the library's a, b and d.
    params: [u16; 3],
    /// Parameter and byte of the bias, or of the sums.
    vector: Option<(u16, i64)>,
    /// Parameter of the second matrix, and how many bytes after d's it begins.
    beside: Option<(u16, i64)>,
    /// Held during a call, as the addresses of vector and second matrix are parts of them.
    descriptors: Mutex<Descriptors>,
    problem: Problem,
    /// For addresses that are aligned, and for others, which are rare.
    chosen: [OnceLock<Algorithm>; 2],
}

impl Ready {
    fn chosen(&self, context: &Arc<Context>, started: &Started, aligned: bool) -> Result<Algorithm> {
        let slot = &self.chosen[usize::from(!aligned)];
        if let Some(chosen) = slot.get() {
            return Ok(*chosen);
        }
        let Ready { multiplier, descriptors, problem, .. } = self;
        let descriptors = descriptors.lock().unwrap_or_else(PoisonError::into_inner);
        let alignment = if aligned { ALIGNED } else { problem.a.dtype.size().min(problem.d.dtype.size()) as u64 };
        // Of a vector that is read while timing any address will do, as the workspace is larger; of a second matrix only the alignment
        // counts until a product runs.
        let any = started.workspace.as_ptr() as u64;
        descriptors.set_others(started.blas()?, self.vector.map(|_| any), self.beside.map(|_| any))?;
        let beside = problem.has_beside().then_some(&problem.d);
        let matrices = [&problem.a, &problem.b, &problem.d].into_iter().chain(beside);
        let sizes = matrices.map(|m| (m.dtype, m.span(problem.batch).max(1) as usize));
        let operands = Operands::new(&multiplier.pool, sizes);
        let contest = Algorithms { context, started, descriptors: &descriptors, problem, alignment, operands };
        let chosen = multiplier.choices.choose(context, &contest)?;
        Ok(*slot.get_or_init(|| chosen))
    }
}

impl PreparedProduct {
    /// Puts it on the stream.
    pub(crate) fn run(&self, context: &Arc<Context>, addresses: &[u64]) -> Result<()> {
        let Some(ready) = &self.ready else { return Ok(()) };
        let started = ready.multiplier.started(context)?;
        let blas = started.blas()?;
        let bases = ready.params.map(|p| addresses[usize::from(p)]);
        let vector = ready.vector.map(|(param, at)| addresses[usize::from(param)].wrapping_add_signed(at));
        for call in &self.calls {
            let [a, b, d] = [0, 1, 2].map(|o| bases[o].wrapping_add_signed(call[o]));
            let aligned = (a | b | d | vector.unwrap_or(0)).is_multiple_of(ALIGNED);
            let chosen = ready.chosen(context, started, aligned)?;
            let beside = ready.beside.map(|(param, after)| addresses[usize::from(param)].wrapping_add_signed(call[2] + after));
            let descriptors = ready.descriptors.lock().unwrap_or_else(PoisonError::into_inner);
            descriptors.set_others(blas, vector, beside)?;
            descriptors.run(context, started, [a, b, d], &chosen)?;
        }
        Ok(())
    }
}

/// The library's descriptions of a product and its matrices.
pub(super) struct Descriptors {
    /// Product, then a, b and d.
    pub(super) raw: [Opaque; 4],
    destroy: [unsafe extern "C" fn(Opaque) -> i32; 2],
    /// Scale factors: one and zero in the type of the product.
    factors: [[u8; 8]; 2],
    /// Addresses that the product has of vector and second matrix.
    others: Cell<[u64; 2]>,
}

// SAFETY: descriptors are plain memory of the library.
unsafe impl Send for Descriptors {}

impl Descriptors {
    fn new(blas: &Blas, problem: &Problem) -> Result<Descriptors> {
        let dtype = |d: DType| code(d).ok_or_else(|| Error::internal(format!("a product of {d}")));
        let mut one = [0; 8];
        match problem.scale {
            DType::F64 => one = 1f64.to_le_bytes(),
            DType::I32 => one[..4].copy_from_slice(&1i32.to_le_bytes()),
            _ => one[..4].copy_from_slice(&1f32.to_le_bytes()),
        }
        let destroy = [blas.desc_destroy, blas.layout_destroy];
        let mut all = Descriptors { raw: [null_mut(); 4], destroy, factors: [one, [0; 8]], others: Cell::default() };
        let scale = dtype(problem.scale)?;
        // SAFETY: the function stores a descriptor, which is destroyed once, when the value is dropped.
        let made = unsafe { (blas.desc_create)(&raw mut all.raw[0], problem.compute, scale) };
        blas.check(made, "cublasLtMatmulDescCreate")?;
        let [a, b] = problem.transposed.map(i32::from);
        use product_attribute::{EPILOGUE, TRANSPOSE_A, TRANSPOSE_B};
        for (attribute, value) in [(TRANSPOSE_A, a), (TRANSPOSE_B, b), (EPILOGUE, problem.epilogue)] {
            let value: *const c_void = (&raw const value).cast();
            // SAFETY: the descriptor exists, and these attributes are integers of 32 bits.
            let set = unsafe { (blas.desc_set)(all.raw[0], attribute, value, 4) };
            blas.check(set, "cublasLtMatmulDescSetAttribute")?;
        }
        for (raw, matrix) in all.raw[1..].iter_mut().zip([&problem.a, &problem.b, &problem.d]) {
            layout(blas, raw, matrix, dtype(matrix.dtype)?, problem.batch)?;
        }
        if problem.has_beside() {
            all.set(blas, product_attribute::BESIDE_LEADING, problem.d.leading as u64)?;
            all.set(blas, product_attribute::BESIDE_STRIDE, problem.d.stride as u64)?;
        }
        Ok(all)
    }

    /// Sets an attribute of 64 bits.
    fn set(&self, blas: &Blas, attribute: i32, value: u64) -> Result<()> {
        let value: *const c_void = (&raw const value).cast();
        // SAFETY: the descriptor exists; callers pass attributes that are addresses or integers of 64 bits.
        let set = unsafe { (blas.desc_set)(self.raw[0], attribute, value, 8) };
        blas.check(set, "cublasLtMatmulDescSetAttribute")
    }

    /// Sets the addresses of vector and second matrix, where there are such.
    pub(super) fn set_others(&self, blas: &Blas, vector: Option<u64>, beside: Option<u64>) -> Result<()> {
        let mut known = self.others.get();
        let attributes = [product_attribute::BIAS, product_attribute::BESIDE];
        for ((known, attribute), address) in known.iter_mut().zip(attributes).zip([vector, beside]) {
            if let Some(address) = address.filter(|a| a != known) {
                self.set(blas, attribute, address)?;
                *known = address;
            }
        }
        self.others.set(known);
        Ok(())
    }

    /// Runs the product on addresses of a, b and d.
    pub(super) fn run(&self, context: &Context, started: &Started, [a, b, d]: [u64; 3], algorithm: &Algorithm) -> Result<()> {
        let blas = started.blas()?;
        let [product, la, lb, ld] = self.raw;
        let [one, zero] = [0, 1].map(|i| self.factors[i].as_ptr().cast::<c_void>());
        let (algorithm, workspace) = (std::ptr::from_ref(algorithm), started.workspace.as_ptr() as u64);
        let (handle, stream) = (started.handle, context.stream());
        // SAFETY: the descriptors describe matrices that lie in the operands' parameters, whose sizes the launch checked; the algorithm
        // was proposed for them, and takes no more workspace than there is.
        let code = unsafe {
            (blas.product)(handle, product, one, a, la, b, lb, zero, d, ld, d, ld, algorithm, workspace, WORKSPACE, stream)
        };
        blas.check(code, "cublasLtMatmul")
    }
}

fn layout(blas: &Blas, raw: &mut Opaque, matrix: &Matrix, dtype: i32, batch: i64) -> Result<()> {
    let &Matrix { rows, columns, leading, stride, .. } = matrix;
    // SAFETY: the function stores a descriptor, which is destroyed once, by the caller's value.
    let made = unsafe { (blas.layout_create)(raw, dtype, rows as u64, columns as u64, leading) };
    blas.check(made, "cublasLtMatrixLayoutCreate")?;
    if batch == 1 {
        return Ok(());
    }
    let count = batch as i32;
    // SAFETY: the descriptor exists; the count is an integer of 32 bits, the stride one of 64.
    unsafe {
        let set = (blas.layout_set)(*raw, matrix_attribute::BATCH, (&raw const count).cast(), 4);
        blas.check(set, "cublasLtMatrixLayoutSetAttribute")?;
        let set = (blas.layout_set)(*raw, matrix_attribute::BATCH_STRIDE, (&raw const stride).cast(), 8);
        blas.check(set, "cublasLtMatrixLayoutSetAttribute")
    }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        for (i, raw) in self.raw.into_iter().enumerate().filter(|(_, raw)| !raw.is_null()) {
            // SAFETY: each was created and is destroyed once; a failure leaves nothing to do.
            unsafe { self.destroy[usize::from(i > 0)](raw) };
        }
    }
}
