//! The mode that records. Without a GPU every test of replays says so and passes.

use base::{Code, Config, DeviceId, ErrorKind};
use driver::{Array, Executable, HostTensor, Module, compile, to_host};
use graph::text;
use scalar::DType;

const POINT: &str = "func point(x: f32[1000], y: f32[1000]) -> (z) {
  %2 = mul %0, %1 : f32[1000]
  %3 = exp %2 : f32[1000]
  %4 = add %3, %1 : f32[1000]
  return z = %4
}
";

/// An executable in the mode that records, on the first GPU.
fn on_gpu(body: &str) -> Option<Executable> {
    let module = Module { graph: text::parse("test", body).unwrap(), frozen: vec![] };
    match compile(&module, &Config { replay: true, fuse: false, device: DeviceId::Cuda(0), ..Config::from_env().unwrap() }) {
        Ok(executable) => Some(executable),
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
            println!("skipped: {error}");
            None
        }
    }
}

fn array(exe: &Executable, value: f32) -> Array {
    let bytes: Vec<u8> = std::iter::repeat_n(value.to_le_bytes(), 1000).flatten().collect();
    Array::from_bytes(exe.device().pool(), DType::F32, &[1000], &bytes).unwrap()
}

fn expected(x: f32, y: f32) -> f64 {
    f64::from((x * y).exp() + y)
}

fn is(outputs: &[Array], wanted: f64) -> bool {
    to_host(&outputs[0]).unwrap().to_f64s().iter().all(|v| (v - wanted).abs() < 1e-4 * wanted.abs())
}

#[test]
fn a_device_that_records_nothing_says_so() {
    let module = Module { graph: text::parse("test", POINT).unwrap(), frozen: vec![] };
    let exe = compile(&module, &Config { replay: true, ..Config::default() }).unwrap();
    let x = HostTensor::from_f64s(DType::F32, &[1000], &[0.5; 1000]);
    (0..3).for_each(|_| drop(exe.run(&[x.clone(), x.clone()]).unwrap()));
    assert_eq!(exe.recordings(), driver::Recordings::default());
    let remarks = exe.remarks(&[x.clone(), x]).unwrap();
    assert!(remarks.iter().any(|r| r.code == Code::Replay && r.message.contains("cpu records no launches")), "{remarks:?}");
}

#[test]
fn later_calls_are_replays_and_results_are_never_overwritten() {
    let Some(exe) = on_gpu(POINT) else { return };
    let (x, y) = (array(&exe, 0.5), array(&exe, 2.0));
    let mut held = Vec::new();
    for _ in 0..6 {
        held.push(exe.run_arrays(&[x.clone(), y.clone()]).unwrap());
    }
    let bytes: Vec<u8> = std::iter::repeat_n(0.25f32.to_le_bytes(), 1000).flatten().collect();
    x.buffer.write(0, &bytes).unwrap();
    held.truncate(2);
    let later = exe.run_arrays(&[x, y]).unwrap();
    assert!(held.iter().all(|h| is(h, expected(0.5, 2.0))) && is(&later, expected(0.25, 2.0)));
    let recordings = exe.recordings();
    assert_eq!((recordings.count, recordings.replays), (2, 3), "results of two live, so four calls ran as ever");
    assert!(recordings.bytes >= 2 * 4000);
}

#[test]
fn inputs_that_move_are_copied_and_told_of() {
    let Some(exe) = on_gpu(POINT) else { return };
    let y = array(&exe, 2.0);
    let kept: Vec<Array> = (1..=5).map(|n| array(&exe, n as f32 * 0.1)).collect();
    for (n, x) in kept.iter().enumerate() {
        let outputs = exe.run_arrays(&[x.clone(), y.clone()]).unwrap();
        assert!(is(&outputs, expected((n + 1) as f32 * 0.1, 2.0)), "call {n}");
    }
    assert_eq!((exe.recordings().count, exe.recordings().replays), (1, 4));
    let tensor = HostTensor::from_f64s(DType::F32, &[1000], &[0.0; 1000]);
    let remarks = exe.remarks(&[tensor.clone(), tensor]).unwrap();
    assert!(remarks.iter().any(|r| r.code == Code::Replay && r.places == ["x"] && r.bytes == 4000), "{remarks:?}");
}

#[test]
fn results_may_be_the_next_inputs() {
    let Some(exe) = on_gpu("func f(x: f32[1000]) -> (y) {\n  %1 = add %0, %0 : f32[1000]\n  return y = %1\n}\n") else { return };
    let mut x = array(&exe, 1.0);
    for _ in 0..20 {
        x = exe.run_arrays(&[x]).unwrap().remove(0);
    }
    assert!(is(&[x], 2f64.powi(20)));
    assert!(exe.recordings().replays > 10);
}

#[test]
fn what_is_given_away_is_updated_in_place_by_replays() {
    let body = "func f(x: donated f32[1000], y: f32[1000]) -> (x) {\n  %2 = add %0, %1 : f32[1000]\n  return x = %2\n}\n";
    let Some(exe) = on_gpu(body) else { return };
    let (mut x, y) = (array(&exe, 0.0), array(&exe, 1.0));
    let at = x.buffer.as_ptr();
    for _ in 0..10 {
        x = exe.run_owned(vec![x, y.clone()]).unwrap().remove(0);
        assert_eq!(x.buffer.as_ptr(), at);
    }
    assert!(is(&[x.clone()], 10.0));
    assert_eq!(exe.recordings().replays, 9);
    exe.run_owned(vec![x.clone(), y]).unwrap();
    assert!(is(&[x], 10.0), "what somebody holds is not overwritten by a replay");
}

#[test]
fn threads_share_recordings() {
    let Some(exe) = on_gpu(POINT) else { return };
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let exe = &exe;
            scope.spawn(move || {
                for round in 0..40 {
                    let value = (thread * 40 + round) as f32 / 320.0;
                    let outputs = exe.run_arrays(&[array(exe, value), array(exe, 1.5)]).unwrap();
                    assert!(is(&outputs, expected(value, 1.5)), "thread {thread}, round {round}");
                }
            });
        }
    });
    assert!(exe.recordings().replays > 0 && exe.recordings().count <= 2);
}

#[test]
fn a_plan_that_passes_through_the_host_says_which_kernel() {
    let body = "func f(x: f32[8]) -> (y) {\n  %1 = call.sort %0 : f32[8]\n  return y = %1\n}\n";
    let Ok(graph) = text::parse("test", body) else { return };
    let module = Module { graph, frozen: vec![] };
    let config = Config { replay: true, device: DeviceId::Cuda(0), ..Config::from_env().unwrap() };
    let Ok(exe) = compile(&module, &config) else { return };
    let x = HostTensor::from_f64s(DType::F32, &[8], &[0.5; 8]);
    (0..3).for_each(|_| drop(exe.run(std::slice::from_ref(&x)).unwrap()));
    assert_eq!(exe.recordings().count, 0);
    let remarks = exe.remarks(&[x]).unwrap();
    assert!(remarks.iter().any(|r| r.code == Code::Replay && r.message.contains("host")), "{remarks:?}");
}
