//! The functions of cuBLASLt.

use std::ffi::{CStr, c_char, c_int, c_void};

use base::{Error, ErrorKind, Result};

use super::driver::RawStream;
use super::table::table;

pub(crate) type Code = c_int;
/// The library's state, a descriptor of a product, of a matrix, or of preferences.
pub(crate) type Opaque = *mut c_void;

/// `CUBLAS_STATUS_NOT_SUPPORTED`.
pub(crate) const NOT_SUPPORTED: Code = 15;
/// `CUBLAS_STATUS_INVALID_VALUE`: what a heuristic says of some layouts that it cannot take.
pub(crate) const INVALID_VALUE: Code = 7;
const ALLOC_FAILED: Code = 3;

/// `cublasLtMatmulDescAttributes_t`.
pub(crate) mod product_attribute {
    pub(crate) const TRANSPOSE_A: i32 = 3;
    pub(crate) const TRANSPOSE_B: i32 = 4;
    pub(crate) const EPILOGUE: i32 = 7;
    pub(crate) const BIAS: i32 = 8;
    pub(crate) const BESIDE: i32 = 11;
    pub(crate) const BESIDE_LEADING: i32 = 12;
    pub(crate) const BESIDE_STRIDE: i32 = 13;
}

/// `cublasLtMatrixLayoutAttribute_t`.
pub(crate) mod matrix_attribute {
    pub(crate) const BATCH: i32 = 5;
    pub(crate) const BATCH_STRIDE: i32 = 6;
}

/// `cublasLtMatmulPreferenceAttributes_t`.
pub(crate) mod preference {
    pub(crate) const WORKSPACE: i32 = 1;
    pub(crate) const REDUCTIONS: i32 = 3;
    pub(crate) const ALIGNMENT_A: i32 = 5;
    pub(crate) const ALIGNMENT_B: i32 = 6;
    pub(crate) const ALIGNMENT_C: i32 = 7;
    pub(crate) const ALIGNMENT_D: i32 = 8;
}

/// An algorithm with its parameters, opaque; it may be stored.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Algorithm(pub(crate) [u64; 8]);

/// What a heuristic proposes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Proposal {
    pub(crate) algorithm: Algorithm,
    pub(crate) workspace: usize,
    pub(crate) state: Code,
    pub(crate) waves: f32,
    reserved: [c_int; 4],
}

const _: () = assert!(size_of::<Proposal>() == 96);

table! {
    /// Matrix products, `libcublasLt`.
    Blas -> Code {
        create = c"cublasLtCreate": (*mut Opaque);
        destroy = c"cublasLtDestroy": (Opaque);
        product = c"cublasLtMatmul":
            (Opaque, Opaque, *const c_void, u64, Opaque, u64, Opaque, *const c_void, u64, Opaque, u64, Opaque,
             *const Algorithm, u64, usize, RawStream);
        heuristic = c"cublasLtMatmulAlgoGetHeuristic":
            (Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, c_int, *mut Proposal, *mut c_int);
        check_algorithm = c"cublasLtMatmulAlgoCheck":
            (Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, *const Algorithm, *mut Proposal);
        desc_create = c"cublasLtMatmulDescCreate": (*mut Opaque, c_int, c_int);
        desc_destroy = c"cublasLtMatmulDescDestroy": (Opaque);
        desc_set = c"cublasLtMatmulDescSetAttribute": (Opaque, c_int, *const c_void, usize);
        layout_create = c"cublasLtMatrixLayoutCreate": (*mut Opaque, c_int, u64, u64, i64);
        layout_destroy = c"cublasLtMatrixLayoutDestroy": (Opaque);
        layout_set = c"cublasLtMatrixLayoutSetAttribute": (Opaque, c_int, *const c_void, usize);
        preference_create = c"cublasLtMatmulPreferenceCreate": (*mut Opaque);
        preference_destroy = c"cublasLtMatmulPreferenceDestroy": (Opaque);
        preference_set = c"cublasLtMatmulPreferenceSetAttribute": (Opaque, c_int, *const c_void, usize);
    }
    optional {}
    other {
        version = c"cublasLtGetVersion": () -> usize;
        status_name = c"cublasLtGetStatusName": (Code) -> *const c_char;
        status_text = c"cublasLtGetStatusString": (Code) -> *const c_char;
    }
}

impl Blas {
    /// Success, or an error that names the call, and the library's name and text of the status.
    pub(crate) fn check(&self, code: Code, call: &str) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the functions return constant strings, or null.
        let text = |f: unsafe extern "C" fn(Code) -> *const c_char| unsafe {
            let text = f(code);
            if text.is_null() { "unknown".into() } else { CStr::from_ptr(text).to_string_lossy() }
        };
        let kind = match code {
            ALLOC_FAILED => ErrorKind::OutOfMemory,
            NOT_SUPPORTED => ErrorKind::Unsupported,
            _ => ErrorKind::Internal,
        };
        Err(Error::new(kind, format!("{call}: {} ({code}): {}", text(self.status_name), text(self.status_text))))
    }

    /// Version as the library writes it: major, minor and patch.
    pub(crate) fn number(&self) -> (usize, usize, usize) {
        // SAFETY: the function takes nothing and returns a number.
        let version = unsafe { (self.version)() };
        (version / 10_000, version / 100 % 100, version % 100)
    }
}
