//! The functions of cuDNN's backend interface: descriptors with attributes, by number.

use std::ffi::{CStr, c_char, c_int, c_void};

use base::{Error, ErrorKind, Result};

use super::blas::{Code, Opaque};
use super::driver::RawStream;
use super::table::table;

/// Version of the library's files.
pub(crate) const MAJOR: u32 = 9;

/// `cudnnBackendDescriptorType_t`.
pub(crate) mod sort {
    pub(crate) const POINTWISE: i32 = 0;
    pub(crate) const CONVOLUTION: i32 = 1;
    pub(crate) const ENGINE: i32 = 2;
    pub(crate) const CONFIG: i32 = 3;
    pub(crate) const HEURISTIC: i32 = 4;
    pub(crate) const PLAN: i32 = 5;
    pub(crate) const KNOB_CHOICE: i32 = 7;
    pub(crate) const FORWARD: i32 = 10;
    pub(crate) const BACKWARD_WEIGHTS: i32 = 11;
    pub(crate) const BACKWARD_DATA: i32 = 12;
    pub(crate) const OPERATION_POINTWISE: i32 = 13;
    pub(crate) const GRAPH: i32 = 15;
    pub(crate) const VARIANT_PACK: i32 = 16;
    pub(crate) const TENSOR: i32 = 17;
}

/// `cudnnBackendAttributeName_t`.
pub(crate) mod attribute {
    pub(crate) const POINTWISE_FUNCTION: i32 = 0;
    pub(crate) const POINTWISE_TYPE: i32 = 1;
    pub(crate) const POINTWISE_NAN: i32 = 2;
    pub(crate) const CONVOLUTION_TYPE: i32 = 100;
    pub(crate) const CONVOLUTION_MODE: i32 = 101;
    pub(crate) const CONVOLUTION_DILATIONS: i32 = 102;
    pub(crate) const CONVOLUTION_STRIDES: i32 = 103;
    pub(crate) const CONVOLUTION_AFTER: i32 = 104;
    pub(crate) const CONVOLUTION_BEFORE: i32 = 105;
    pub(crate) const CONVOLUTION_SPATIAL: i32 = 106;
    pub(crate) const HEURISTIC_MODE: i32 = 200;
    pub(crate) const HEURISTIC_GRAPH: i32 = 201;
    pub(crate) const HEURISTIC_RESULTS: i32 = 202;
    pub(crate) const CONFIG_ENGINE: i32 = 300;
    pub(crate) const CONFIG_KNOBS: i32 = 302;
    pub(crate) const PLAN_HANDLE: i32 = 400;
    pub(crate) const PLAN_CONFIG: i32 = 401;
    pub(crate) const PLAN_WORKSPACE: i32 = 402;
    pub(crate) const KNOB_TYPE: i32 = 600;
    pub(crate) const KNOB_VALUE: i32 = 601;
    /// Of the forward operation: factors α and β, the convolution, then w, x and y.
    pub(crate) const FORWARD: [i32; 6] = [700, 701, 702, 703, 704, 705];
    /// Of the operation for the gradient of x, in the same order.
    pub(crate) const BACKWARD_DATA: [i32; 6] = [706, 707, 708, 709, 710, 711];
    /// Of the operation for the gradient of w, in the same order.
    pub(crate) const BACKWARD_WEIGHTS: [i32; 6] = [712, 713, 714, 715, 716, 717];
    /// Of a pointwise operation: what it does, then its first operand, the second, and the result.
    pub(crate) const POINTWISE: [i32; 4] = [750, 751, 752, 753];
    pub(crate) const GRAPH_HANDLE: i32 = 800;
    pub(crate) const GRAPH_OPERATIONS: i32 = 801;
    pub(crate) const TENSOR_ALIGNMENT: i32 = 900;
    pub(crate) const TENSOR_TYPE: i32 = 901;
    pub(crate) const TENSOR_EXTENTS: i32 = 902;
    pub(crate) const TENSOR_STRIDES: i32 = 903;
    pub(crate) const TENSOR_ID: i32 = 906;
    pub(crate) const TENSOR_VIRTUAL: i32 = 907;
    pub(crate) const PACK_IDS: i32 = 1000;
    pub(crate) const PACK_POINTERS: i32 = 1001;
    pub(crate) const PACK_WORKSPACE: i32 = 1003;
    pub(crate) const ENGINE_GRAPH: i32 = 1300;
    pub(crate) const ENGINE_INDEX: i32 = 1301;
    pub(crate) const ENGINE_NOTES: i32 = 1303;
}

/// `cudnnBackendNumericalNote_t`: what an engine does to numbers.
pub(crate) mod note {
    pub(crate) const TENSOR_CORE: i32 = 0;
    pub(crate) const STRICT_NAN: i32 = 9;
    /// Notes that there are.
    pub(crate) const COUNT: usize = 16;
}

/// `cudnnBackendHeurMode_t`.
pub(crate) mod heuristic {
    pub(crate) const FALLBACK: i32 = 2;
    pub(crate) const A: i32 = 3;
}

/// `cudnnPointwiseMode_t`.
pub(crate) mod function {
    pub(crate) const ADD: i32 = 0;
    pub(crate) const RELU: i32 = 100;
}

/// `CUDNN_DATA_FLOAT`.
pub(crate) const FLOAT: i32 = 0;

/// `CUDNN_PROPAGATE_NAN`.
pub(crate) const PROPAGATE_NAN: i32 = 1;

/// `CUDNN_CROSS_CORRELATION`.
pub(crate) const CROSS_CORRELATION: i32 = 1;

table! {
    /// Convolutions, `libcudnn`.
    Dnn -> Code {
        create = c"cudnnCreate": (*mut Opaque);
        destroy = c"cudnnDestroy": (Opaque);
        set_stream = c"cudnnSetStream": (Opaque, RawStream);
        descriptor_create = c"cudnnBackendCreateDescriptor": (c_int, *mut Opaque);
        descriptor_destroy = c"cudnnBackendDestroyDescriptor": (Opaque);
        finalize = c"cudnnBackendFinalize": (Opaque);
        set = c"cudnnBackendSetAttribute": (Opaque, c_int, c_int, i64, *const c_void);
        get = c"cudnnBackendGetAttribute": (Opaque, c_int, c_int, i64, *mut i64, *mut c_void);
        execute = c"cudnnBackendExecute": (Opaque, Opaque, Opaque);
    }
    optional {}
    other {
        version = c"cudnnGetVersion": () -> usize;
        cuda_version = c"cudnnGetCudartVersion": () -> usize;
        status_name = c"cudnnGetErrorString": (Code) -> *const c_char;
        last_error = c"cudnnGetLastErrorString": (*mut c_char, usize) -> ();
    }
}

impl Dnn {
    /// Success, or an error that names the call, the status, and what the library says of it.
    pub(crate) fn check(&self, code: Code, call: &str) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        let mut text = [0u8; 512];
        // SAFETY: the functions return a constant string, and write at most as many bytes as there are, with a zero.
        let name = unsafe {
            (self.last_error)(text.as_mut_ptr().cast(), text.len());
            CStr::from_ptr((self.status_name)(code)).to_string_lossy()
        };
        let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
        let text = String::from_utf8_lossy(&text[..end]);
        Err(Error::new(kind(code), format!("{call}: {name} ({code}): {}", text.trim())))
    }

    /// Major, minor and patch.
    pub(crate) fn number(&self) -> (usize, usize, usize) {
        // SAFETY: the function takes nothing and returns a number.
        let version = unsafe { (self.version)() };
        (version / 10_000, version / 100 % 100, version % 100)
    }

    /// The major version of CUDA that it is made for.
    pub(crate) fn cuda_major(&self) -> u32 {
        // SAFETY: the function takes nothing and returns a number.
        unsafe { (self.cuda_version)() as u32 / 1000 }
    }
}

/// Statuses from 2000 on refuse a description, from 3000 on a problem; those are left to other code.
fn kind(code: Code) -> ErrorKind {
    match code {
        4003 | 4004 => ErrorKind::OutOfMemory,
        1008 | 2000..4000 => ErrorKind::Unsupported,
        _ => ErrorKind::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_from_failures() {
        assert_eq!([3002, 2008, 1008].map(kind), [ErrorKind::Unsupported; 3]);
        assert_eq!([kind(4004), kind(5000), kind(1001)], [ErrorKind::OutOfMemory, ErrorKind::Internal, ErrorKind::Internal]);
    }
}
