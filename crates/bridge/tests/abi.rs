//! The functions, called as C would, on the CPU.

use std::ffi::{CStr, CString};
use std::ptr::null;

use fuseline_bridge::{Call, Program, abi};

const PROGRAM: &str = "func f(x: f32[2, 3], y: f32[3]) -> (sum, root) {
  %2 = view.reshape %1 [1, 3] : f32[1, 3]
  %3 = view.expand %2 [2, 3] : f32[2, 3]
  %4 = add %0, %3 : f32[2, 3]
  %5 = sqrt %4 : f32[2, 3]
  return sum = %4, root = %5
}
";

/// Sixteen-byte aligned floats.
#[repr(align(16))]
struct Floats<const N: usize>([f32; N]);

impl<const N: usize> Floats<N> {
    fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

fn open(source: &str, device: &str, numerics: &str) -> *const Program {
    let [source, device, numerics] = [source, device, numerics].map(|t| CString::new(t).unwrap());
    // SAFETY: three texts.
    unsafe { abi::fuseline_open(source.as_ptr(), device.as_ptr(), numerics.as_ptr()) }
}

fn error() -> String {
    // SAFETY: a text that is valid until the next call.
    unsafe { CStr::from_ptr(abi::fuseline_error()) }.to_str().unwrap().to_owned()
}

fn described(program: *const Program) -> serde_json::Value {
    // SAFETY: the program is open.
    let text = unsafe { CStr::from_ptr(abi::fuseline_describe(program)) };
    serde_json::from_str(text.to_str().unwrap()).unwrap()
}

fn bind(program: *const Program, inputs: &[usize], outputs: &[usize]) -> *mut Call {
    // SAFETY: the tests give as many addresses of live memory as their programs have.
    unsafe { abi::fuseline_bind(program, inputs.as_ptr(), outputs.as_ptr()) }
}

#[test]
fn a_program_runs_on_memory_of_the_callers() {
    let program = open(PROGRAM, "cpu", "wide");
    assert!(!program.is_null(), "{}", error());
    let told = described(program);
    assert_eq!(told["inputs"][1], serde_json::json!({ "name": "y", "dtype": "f32", "shape": [3] }));
    assert_eq!(told["outputs"][0], serde_json::json!({ "name": "sum", "dtype": "f32", "shape": [2, 3] }));
    assert_eq!(told["kernels"], 1);
    let (x, y) = (Floats([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Floats([3.0, 2.0, 1.0]));
    let (sum, root) = (Floats([f32::NAN; 6]), Floats([f32::NAN; 6]));
    let call = bind(program, &[x.address(), y.address()], &[sum.address(), root.address()]);
    assert!(!call.is_null(), "{}", error());
    // SAFETY: the pointers are open, and given back once; a call may outlive its program.
    unsafe {
        assert_eq!(abi::fuseline_stream(program), 0);
        abi::fuseline_close(program);
        assert_eq!(abi::fuseline_run(call), 0, "{}", error());
        assert_eq!(abi::fuseline_replay(call), 1);
        assert!(error().contains("record the call first"), "{}", error());
        assert_eq!(abi::fuseline_record(call), 1);
        assert!(error().contains("the CPU records no launches"), "{}", error());
        abi::fuseline_unbind(call);
    }
    let read = |f: &Floats<6>| std::hint::black_box(f).0;
    assert_eq!(read(&sum), [4.0, 4.0, 4.0, 7.0, 7.0, 7.0]);
    assert_eq!(read(&root)[..3], [2.0; 3]);
}

#[test]
fn an_output_may_overwrite_an_input() {
    let program = open("func f(x: donated f32[4]) -> (y) {\n  %1 = mul %0, %0 : f32[4]\n  return y = %1\n}\n", "cpu", "eager");
    let x = Floats([1.0, 2.0, 3.0, 4.0]);
    let call = bind(program, &[x.address()], &[x.address()]);
    // SAFETY: as above.
    unsafe {
        assert_eq!(abi::fuseline_run(call), 0, "{}", error());
        assert_eq!(abi::fuseline_synchronize(program), 0);
        abi::fuseline_unbind(call);
        abi::fuseline_close(program);
    }
    assert_eq!(std::hint::black_box(&x).0, [1.0, 4.0, 9.0, 16.0]);
}

#[test]
fn mistakes_are_told_in_words() {
    let told = |source: &str, device: &str, numerics: &str, part: &str| {
        assert!(open(source, device, numerics).is_null());
        assert!(error().contains(part), "{part:?} is not in {}", error());
    };
    told("nonsense", "cpu", "wide", "the program");
    told(PROGRAM, "tpu", "wide", "no device \"tpu\"");
    told(PROGRAM, "cpu", "double", "numerics \"double\"");
    told("zoo:none", "cpu", "wide", "no model \"none\"");
    told("func f(x: f32[n]) -> (y) {\n  return y = %0\n}\n", "cpu", "wide", "input x is f32[n]: give it fixed sizes");
    let program = open(PROGRAM, "cpu", "eager");
    assert_eq!(error(), "");
    assert!(bind(program, &[0, 16], &[16, 16]).is_null());
    assert!(error().contains("input 0, f32[2, 3], is at 0x0"), "{}", error());
    // SAFETY: the program is open, and given back once; null is no text.
    unsafe {
        abi::fuseline_close(program);
        assert!(abi::fuseline_open(null(), null(), null()).is_null());
    }
    assert!(error().contains("a text is null"));
}

#[test]
fn a_model_lends_its_weights() {
    let program = open("zoo:mlp", "cpu", "eager");
    assert!(!program.is_null(), "{}", error());
    let told = described(program);
    let weight = &told["weights"][0];
    let slot = weight["slot"].as_u64().unwrap() as usize;
    // SAFETY: the program is open, and given back once.
    unsafe {
        assert!(!abi::fuseline_weight(program, slot).is_null());
        assert!(abi::fuseline_weight(program, 1000).is_null());
        abi::fuseline_close(program);
    }
}
