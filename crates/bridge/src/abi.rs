//! The functions that a process finds by name. A null pointer or a code other than 0 is a failure, which [`fuseline_error`] tells
//! in words. A program may be used from several threads at once, a call from one at a time.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use base::{Error, Result};

use crate::call::Call;
use crate::program::Program;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// What `f` gives; a failure is remembered for this thread.
fn guarded<T>(f: impl FnOnce() -> Result<T>) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| Err(Error::internal("a panic, told on standard error")));
    let message = result.as_ref().err().map(|e| e.to_string().replace('\0', " ")).unwrap_or_default();
    LAST.set(CString::new(message).unwrap_or_default());
    result.ok()
}

fn code(done: Option<()>) -> c_int {
    if done.is_some() { 0 } else { 1 }
}

/// # Safety
/// The pointer is null or a text with its zero.
unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(Error::invalid("a text is null"));
    }
    // SAFETY: the caller promises a text.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| Error::invalid("a text is not UTF-8"))
}

/// Why this thread's last call of a function failed; empty if it did not. It is valid until the next one.
#[unsafe(no_mangle)]
pub extern "C" fn fuseline_error() -> *const c_char {
    LAST.with_borrow(|last| last.as_ptr())
}

/// [`Program::open`]; null if it fails.
///
/// # Safety
/// The pointers are texts with their zeros.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuseline_open(source: *const c_char, device: *const c_char, numerics: *const c_char) -> *const Program {
    // SAFETY: the caller promises texts.
    let open = || unsafe { Program::open(text(source)?, text(device)?, text(numerics)?) };
    guarded(open).map_or(null(), |program| Arc::into_raw(Arc::new(program)))
}

/// Gives a program back; calls of it may outlive it.
///
/// # Safety
/// The pointer is from [`fuseline_open`], and not used after this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuseline_close(program: *const Program) {
    // SAFETY: the caller gives up the count that `fuseline_open` made.
    drop(unsafe { Arc::from_raw(program) });
}

/// [`Program::description`], valid as long as the program.
///
/// # Safety
/// The pointer is from [`fuseline_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuseline_describe(program: *const Program) -> *const c_char {
    // SAFETY: the caller promises a program.
    unsafe { (*program).description().as_ptr() }
}

/// First byte of the data of a frozen input, of the host and valid as long as the program; null if the slot has none.
///
/// # Safety
/// The pointer is from [`fuseline_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuseline_weight(program: *const Program, slot: usize) -> *const u8 {
    // SAFETY: the caller promises a program.
    unsafe { &*program }.weight(slot).map_or(null(), <[u8]>::as_ptr)
}

/// The stream of the program's device, a `CUstream` of its primary context; 0 on the CPU.
///
/// # Safety
/// The pointer is from [`fuseline_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuseline_stream(program: *const Program) -> usize {
    // SAFETY: the caller promises a program.
    unsafe { &*program }.stream().unwrap_or(0)
}

/// [`Program::synchronize`].
///
/// # Safety
/// The pointer is from [`fuseline_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuseline_synchronize(program: *const Program) -> c_int {
    // SAFETY: the caller promises a program.
    code(guarded(|| unsafe { &*program }.synchronize()))
}

/// [`Call::new`], with as many addresses as the program has inputs and outputs; null if it fails.
///
/// # Safety
/// The program is from [`fuseline_open`], the arrays are as long as it says, and their addresses fulfil the contract of [`Call::new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuseline_bind(program: *const Program, inputs: *const usize, outputs: *const usize) -> *mut Call {
    let bind = || {
        // SAFETY: the caller promises a program, of which this makes another count, and arrays of these lengths.
        let (program, inputs, outputs) = unsafe {
            Arc::increment_strong_count(program);
            let program = Arc::from_raw(program);
            let (reads, writes) = (program.inputs.len(), program.outputs.len());
            (program, array(inputs, reads), array(outputs, writes))
        };
        // SAFETY: the caller promises what `Call::new` asks for.
        unsafe { Call::new(program, inputs, outputs) }
    };
    guarded(bind).map_or(null_mut(), |call| Box::into_raw(Box::new(call)))
}

/// # Safety
/// The pointer has so many numbers, or is not looked at for none.
unsafe fn array(pointer: *const usize, count: usize) -> Vec<usize> {
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller promises so many numbers.
    unsafe { std::slice::from_raw_parts(pointer, count) }.to_vec()
}

/// Gives a call back, after what it launched has run.
///
/// # Safety
/// The pointer is from [`fuseline_bind`], and not used after this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuseline_unbind(call: *mut Call) {
    // SAFETY: the caller gives up the box that `fuseline_bind` made.
    drop(unsafe { Box::from_raw(call) });
}

/// [`Call::run`].
///
/// # Safety
/// The pointer is from [`fuseline_bind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuseline_run(call: *const Call) -> c_int {
    // SAFETY: the caller promises a call.
    code(guarded(|| unsafe { &*call }.run()))
}

/// [`Call::record`].
///
/// # Safety
/// The pointer is from [`fuseline_bind`], and no other thread uses it now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuseline_record(call: *mut Call) -> c_int {
    // SAFETY: the caller promises a call that nobody else uses.
    code(guarded(|| unsafe { &mut *call }.record()))
}

/// [`Call::replay`].
///
/// # Safety
/// The pointer is from [`fuseline_bind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fuseline_replay(call: *const Call) -> c_int {
    // SAFETY: the caller promises a call.
    code(guarded(|| unsafe { &*call }.replay()))
}
