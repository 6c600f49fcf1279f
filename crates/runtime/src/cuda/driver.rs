//! The driver's functions, and its errors.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null;

use base::{Error, ErrorKind, Result};

use super::table::table;

/// A return code; zero is success.
pub(crate) type Code = c_int;
/// A device number.
pub(crate) type RawDevice = c_int;
/// An address in a GPU's memory.
pub(crate) type Address = u64;

macro_rules! handles {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name(pub(crate) *mut c_void);

        // SAFETY: the driver's handles may be used from any thread.
        unsafe impl Send for $name {}
        // SAFETY: as for Send.
        unsafe impl Sync for $name {}

        impl $name {
            pub(crate) const NULL: $name = $name(std::ptr::null_mut());
        }
    )*};
}

handles! {
    /// A context.
    RawContext;
    /// A stream.
    RawStream;
    /// An event.
    RawEvent;
    /// A loaded binary.
    RawModule;
    /// A kernel of a module.
    RawFunction;
    /// A recorded graph.
    RawGraph;
    /// A graph that is ready to run.
    RawExec;
}

/// Shape of a launch.
#[repr(C)]
pub(crate) struct LaunchConfig {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared: c_uint,
    pub(crate) stream: RawStream,
    pub(crate) attributes: *const LaunchAttribute,
    pub(crate) attribute_count: c_uint,
}

/// One attribute of a launch.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LaunchAttribute {
    id: c_uint,
    pad: c_uint,
    /// A union of 64 bytes, aligned to 8.
    value: [u64; 8],
}

const _: () = assert!(size_of::<LaunchAttribute>() == 72 && size_of::<LaunchConfig>() == 56);

impl LaunchAttribute {
    /// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`: the kernel waits itself for earlier ones of the stream.
    pub(crate) fn programmatic() -> LaunchAttribute {
        LaunchAttribute { id: 6, pad: 0, value: [1, 0, 0, 0, 0, 0, 0, 0] }
    }
    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`: three extents of 32 bits.
    pub(crate) fn cluster(blocks: u32) -> LaunchAttribute {
        let mut value = [0; 8];
        value[0] = u64::from(blocks) | 1 << 32;
        value[1] = 1;
        LaunchAttribute { id: 4, pad: 0, value }
    }
}

/// `CUdevice_attribute`.
pub(crate) mod device_attribute {
    pub(crate) const MULTIPROCESSORS: i32 = 16;
    pub(crate) const L2: i32 = 38;
    pub(crate) const MAJOR: i32 = 75;
    pub(crate) const MINOR: i32 = 76;
    pub(crate) const SHARED_OPT_IN: i32 = 97;
}

/// `CUfunction_attribute`.
pub(crate) mod function_attribute {
    pub(crate) const SHARED: i32 = 1;
    pub(crate) const LOCAL: i32 = 3;
    pub(crate) const REGISTERS: i32 = 4;
    pub(crate) const MAX_DYNAMIC_SHARED: i32 = 8;
    pub(crate) const NON_PORTABLE_CLUSTER: i32 = 14;
}

/// `CU_STREAM_NON_BLOCKING`.
pub(crate) const STREAM_NON_BLOCKING: c_uint = 1;
/// `CU_STREAM_CAPTURE_MODE_RELAXED`: other threads, and allocations of this one, are no part of a recording.
pub(crate) const CAPTURE_RELAXED: c_int = 2;
/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`.
pub(crate) const HOST_MAPPED: c_uint = 3;

const OUT_OF_MEMORY: Code = 2;
const DEINITIALIZED: Code = 4;
const NO_DEVICE: Code = 100;
/// Codes for a machine that cannot run CUDA, or not this version: stub library, newer driver needed, device unavailable or unknown,
/// system not ready, mismatch, compatibility libraries that do not fit.
const UNUSABLE: [Code; 8] = [NO_DEVICE, 34, 36, 46, 101, 802, 803, 804];
/// Codes after which a context is of no use any more.
const FATAL: [Code; 12] = [214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719];

table! {
    /// The driver, `libcuda`.
    Driver -> Code {
        init = c"cuInit": (c_uint);
        driver_version = c"cuDriverGetVersion": (*mut c_int);
        error_name = c"cuGetErrorName": (Code, *mut *const c_char);
        error_string = c"cuGetErrorString": (Code, *mut *const c_char);
        device_count = c"cuDeviceGetCount": (*mut c_int);
        device_get = c"cuDeviceGet": (*mut RawDevice, c_int);
        device_name = c"cuDeviceGetName": (*mut c_char, c_int, RawDevice);
        device_attribute = c"cuDeviceGetAttribute": (*mut c_int, c_int, RawDevice);
        device_memory = c"cuDeviceTotalMem_v2": (*mut usize, RawDevice);
        context_retain = c"cuDevicePrimaryCtxRetain": (*mut RawContext, RawDevice);
        context_release = c"cuDevicePrimaryCtxRelease_v2": (RawDevice);
        context_set = c"cuCtxSetCurrent": (RawContext);
        memory_info = c"cuMemGetInfo_v2": (*mut usize, *mut usize);
        memory_alloc = c"cuMemAlloc_v2": (*mut Address, usize);
        memory_free = c"cuMemFree_v2": (Address);
        host_alloc = c"cuMemHostAlloc": (*mut *mut c_void, usize, c_uint);
        host_free = c"cuMemFreeHost": (*mut c_void);
        host_address = c"cuMemHostGetDevicePointer_v2": (*mut Address, *mut c_void, c_uint);
        to_device = c"cuMemcpyHtoDAsync_v2": (Address, *const c_void, usize, RawStream);
        to_host = c"cuMemcpyDtoHAsync_v2": (*mut c_void, Address, usize, RawStream);
        copy = c"cuMemcpyDtoDAsync_v2": (Address, Address, usize, RawStream);
        fill = c"cuMemsetD8Async": (Address, u8, usize, RawStream);
        stream_create = c"cuStreamCreate": (*mut RawStream, c_uint);
        stream_destroy = c"cuStreamDestroy_v2": (RawStream);
        stream_synchronize = c"cuStreamSynchronize": (RawStream);
        event_create = c"cuEventCreate": (*mut RawEvent, c_uint);
        event_destroy = c"cuEventDestroy_v2": (RawEvent);
        event_record = c"cuEventRecord": (RawEvent, RawStream);
        event_synchronize = c"cuEventSynchronize": (RawEvent);
        event_elapsed = c"cuEventElapsedTime": (*mut f32, RawEvent, RawEvent);
        module_load = c"cuModuleLoadData": (*mut RawModule, *const c_void);
        module_unload = c"cuModuleUnload": (RawModule);
        module_function = c"cuModuleGetFunction": (*mut RawFunction, RawModule, *const c_char);
        active_clusters = c"cuOccupancyMaxActiveClusters": (*mut c_int, RawFunction, *const LaunchConfig);
        function_get = c"cuFuncGetAttribute": (*mut c_int, c_int, RawFunction);
        function_set = c"cuFuncSetAttribute": (RawFunction, c_int, c_int);
        launch = c"cuLaunchKernelEx": (*const LaunchConfig, RawFunction, *mut *mut c_void, *mut *mut c_void);
        capture_begin = c"cuStreamBeginCapture_v2": (RawStream, c_int);
        capture_end = c"cuStreamEndCapture": (RawStream, *mut RawGraph);
        graph_instantiate = c"cuGraphInstantiateWithFlags": (*mut RawExec, RawGraph, u64);
        graph_launch = c"cuGraphLaunch": (RawExec, RawStream);
        graph_destroy = c"cuGraphDestroy": (RawGraph);
        exec_destroy = c"cuGraphExecDestroy": (RawExec);
    }
    optional { function_param = c"cuFuncGetParamInfo": (RawFunction, usize, *mut usize, *mut usize); }
    other {}
}

impl Driver {
    /// Success, or an error that names the call, and the driver's name and text of the code.
    pub(crate) fn check(&self, code: Code, call: &str) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.error(code, call)) }
    }

    /// The error of a code.
    #[cold]
    pub(crate) fn error(&self, code: Code, call: &str) -> Error {
        let text = |f: unsafe extern "C" fn(Code, *mut *const c_char) -> Code| {
            let mut text = null();
            // SAFETY: the functions store a pointer to a constant string, or null.
            unsafe {
                f(code, &raw mut text);
                if text.is_null() { "unknown".into() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
            }
        };
        let kind = match code {
            OUT_OF_MEMORY => ErrorKind::OutOfMemory,
            code if UNUSABLE.contains(&code) => ErrorKind::Unsupported,
            _ => ErrorKind::Internal,
        };
        Error::new(kind, format!("{call}: {} ({code}): {}", text(self.error_name), text(self.error_string)))
    }

    /// Version of CUDA that it serves: major and minor.
    pub(crate) fn version(&self) -> (u32, u32) {
        let mut version = 0;
        // SAFETY: the function stores one integer.
        let code = unsafe { (self.driver_version)(&raw mut version) };
        if code == 0 { (version as u32 / 1000, version as u32 % 1000 / 10) } else { (0, 0) }
    }
}

/// Whether memory ran out.
pub(crate) fn is_out_of_memory(code: Code) -> bool {
    code == OUT_OF_MEMORY
}
/// Whether nothing works any more in the context.
pub(crate) fn is_fatal(code: Code) -> bool {
    FATAL.contains(&code) || code == DEINITIALIZED
}
