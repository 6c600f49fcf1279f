//! A GPU, where there is one: memory, kernels, checks and recordings. Without one every test says so and passes.

use std::sync::Arc;

use base::{Error, ErrorKind, Result};
use program::{Access, CudaProgram, CudaStep, Launch, Param, Program};
use runtime::{Arg, Array, Buffer, Device, Pool};
use scalar::DType;

/// The first GPU.
fn gpu() -> Option<Arc<Device>> {
    match Device::cuda(0) {
        Ok(device) => Some(device),
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
            assert!(error.to_string().contains("GPU"), "{error}");
            println!("skipped: {error}");
            None
        }
    }
}

fn floats(buffer: &Buffer) -> Vec<f32> {
    let mut bytes = vec![0; buffer.len()];
    buffer.read(0, &mut bytes).unwrap();
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

fn upload(pool: &Pool, values: &[f32]) -> Buffer {
    let buffer = pool.alloc(values.len() * 4).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    buffer.write(0, &bytes).unwrap();
    buffer
}

/// `to[i] = from[i] * 2 + add`, and a check that no element is negative.
const SCALE: &str = r#"// nvrtc: -fmad=false
struct Block { unsigned long long w[5]; };
extern "C" __global__ void scale(const __grid_constant__ Block p) {
    const float* from = (const float*)p.w[0];
    float* to = (float*)p.w[1];
    const long long n = (long long)p.w[2], add = (long long)p.w[3];
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        if (from[i] < 0.0f) atomicCAS((unsigned long long*)p.w[4], 0ull, 2ull);
        to[i] = from[i] * 2.0f + (float)add;
    }
}
"#;

fn scale(count: usize, add: i64) -> CudaProgram {
    let param = |name: &str, access| Param { name: name.into(), dtype: DType::F32, access, elements: count as u64 };
    let launch = Launch {
        entry: "scale".into(),
        grid: 64,
        threads: 256,
        shared: 0,
        cluster: 1,
        in_turns: false,
        args: vec![0, 1],
        numbers: vec![count as i64, add],
    };
    CudaProgram {
        name: format!("scale_{add}"),
        params: vec![param("from", Access::Read), param("to", Access::Write)],
        source: SCALE.into(),
        steps: vec![CudaStep::Launch(launch)],
        checks: vec!["something else".into(), "an element is negative".into()],
    }
}

#[test]
fn bytes_come_back() {
    let Some(device) = gpu() else { return };
    println!("{:#?}", device.info());
    let pool = device.pool();
    let values: Vec<f32> = (0..100_000).map(|i| i as f32).collect();
    let a = upload(pool, &values);
    assert!(a.is_on_gpu() && pool.is_on_gpu() && floats(&a) == values);
    let b = pool.alloc(a.len()).unwrap();
    b.copy_from(0, &a, 0, a.len()).unwrap();
    assert_eq!(floats(&b), values);
    let host = Pool::new().alloc(400).unwrap();
    host.copy_from(0, &b, 40, 400).unwrap();
    assert_eq!(floats(&host)[..3], [10.0, 11.0, 12.0]);
    b.copy_from(4, &host, 0, 400).unwrap();
    assert_eq!(floats(&b)[..3], [0.0, 10.0, 11.0]);
    assert!(b.copy_from(0, &b, 4, 400).is_err() && b.write(b.len(), &[1]).is_err());
}

#[test]
fn arrays_are_gathered_on_the_host() {
    let Some(device) = gpu() else { return };
    let values: Vec<f32> = (0..100_000).map(|i| i as f32).collect();
    let array = Array::over(Arc::new(upload(device.pool(), &values)), DType::F32, &[100, 1000]).unwrap();
    let view = Array { shape: vec![2, 2], strides: vec![-1, 1000], offset: 1, ..array };
    let bytes = view.to_vec_bytes().unwrap();
    let read: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    assert_eq!(read, [1.0, 1001.0, 0.0, 1000.0]);
    let foreign = Buffer::foreign(device.pool(), Arc::new(7f32.to_le_bytes().to_vec()), DType::F32).unwrap();
    assert!(foreign.is_on_gpu() && floats(&foreign) == [7.0]);
}

#[test]
fn kernels_run() {
    let Some(device) = gpu() else { return };
    let programs: Vec<Program> = (0..4).map(|add| scale(1000, add).into()).collect();
    let prepared: Vec<_> = device.prepare_all(programs).into_iter().collect::<Result<_>>().unwrap();
    println!("{:?}", prepared[0].resources());
    assert!(prepared[0].resources()[0].registers > 0 && prepared[0].resources()[0].spills == 0);
    let pool = device.pool();
    let (from, to) = (upload(pool, &(0..1000).map(|i| i as f32).collect::<Vec<_>>()), pool.alloc(4000).unwrap());
    for (add, program) in prepared.iter().enumerate() {
        device.launch(program, &[Arg::from(&from), Arg::from(&to)]).unwrap();
        let expected: Vec<f32> = (0..1000).map(|i| i as f32 * 2.0 + add as f32).collect();
        assert_eq!(floats(&to), expected);
    }
    device.synchronize().unwrap();
    assert!(device.launch(&prepared[0], &[Arg::from(&from)]).is_err());
    let host = Pool::new().alloc(4000).unwrap();
    assert!(device.launch(&prepared[0], &[Arg::from(&host), Arg::from(&to)]).is_err());
    let time = device.time(|| device.launch(&prepared[0], &[Arg::from(&from), Arg::from(&to)])).unwrap();
    device.flush_l2().unwrap();
    assert!(time.as_secs_f64() < 1.0);
}

#[test]
fn failed_checks_are_told_once() {
    let Some(device) = gpu() else { return };
    let prepared = device.prepare(scale(1000, 1)).unwrap();
    let (from, to) = (upload(device.pool(), &[-1.0; 1000]), device.pool().alloc(4000).unwrap());
    let launch = || device.launch(&prepared, &[Arg::from(&from), Arg::from(&to)]).unwrap();
    launch();
    let error = device.synchronize().unwrap_err();
    assert_eq!((error.kind, error.to_string().as_str()), (ErrorKind::Invalid, "kernel scale_1: an element is negative"));
    device.synchronize().unwrap();
    launch();
    let mut byte = [0];
    assert!(to.read(0, &mut byte).is_err() && to.read(0, &mut byte).is_ok());
}

#[test]
fn wrong_sources_are_errors_with_lines() {
    let Some(device) = gpu() else { return };
    let program = CudaProgram { source: SCALE.replace("add =", "sum ="), ..scale(1, 0) };
    let error = device.prepare(program).unwrap_err().to_string();
    println!("{error}");
    assert!(error.contains("kernel scale_0") && error.contains("is undefined") && error.contains(" | "), "{error}");
}

#[test]
fn memory_that_is_not_there_is_an_error_with_numbers() {
    let Some(device) = gpu() else { return };
    let memory = device.info().unwrap().memory;
    for wanted in [memory * 2, memory - (64 << 20)] {
        let error = device.pool().alloc(wanted).unwrap_err();
        println!("{error}");
        assert_eq!(error.kind, ErrorKind::OutOfMemory);
        assert!(error.to_string().contains(&format!("wanted {wanted} bytes")), "{error}");
    }
    device.pool().alloc(1 << 20).expect("the device still works");
}

#[test]
fn recordings_run_again_on_new_data() {
    let Some(device) = gpu() else { return };
    let pool = device.pool();
    let [first, second] = [1, 2].map(|add| device.prepare(scale(5000, add)).unwrap());
    let (from, to) = (upload(pool, &[1.0; 5000]), pool.alloc(20_000).unwrap());
    let body = || {
        let between = pool.alloc(20_000)?;
        device.launch(&first, &[Arg::from(&from), Arg::from(&between)])?;
        device.launch(&second, &[Arg::from(&between), Arg::from(&to)])
    };
    let recorded = device.capture(body).unwrap();
    drop((first, second));
    let other = pool.alloc(20_000).unwrap();
    for value in [1f32, 10.0, 0.5] {
        let bytes: Vec<u8> = std::iter::repeat_n(value.to_le_bytes(), 5000).flatten().collect();
        from.write(0, &bytes).unwrap();
        other.write(0, &bytes).unwrap();
        recorded.replay().unwrap();
        assert!(floats(&to).iter().all(|&v| v == (value * 2.0 + 1.0) * 2.0 + 2.0));
        assert!(floats(&other).iter().all(|&v| v == value), "the recording's memory is its own");
    }
    let error = device.capture(|| to.write(0, &[0])).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    let error = device.capture(|| Err(Error::invalid("mine"))).unwrap_err();
    assert_eq!(error.message(), "mine");
    drop(recorded);
    to.write(0, &[0]).unwrap();
}

#[test]
fn many_threads_launch_one_program() {
    let Some(device) = gpu() else { return };
    let prepared = device.prepare(scale(10_000, 5)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (device, prepared) = (&device, &prepared);
            scope.spawn(move || {
                for round in 0..50 {
                    let value = (thread * 100 + round) as f32;
                    let (from, to) = (upload(device.pool(), &vec![value; 10_000]), device.pool().alloc(40_000).unwrap());
                    device.launch(prepared, &[Arg::from(&from), Arg::from(&to)]).unwrap();
                    drop(from);
                    assert!(floats(&to).iter().all(|&v| v == value * 2.0 + 5.0));
                }
            });
        }
    });
    assert_eq!(device.pool().stats().count, 0);
}

#[test]
fn ceilings_are_measured() {
    let Some(device) = gpu() else { return };
    let rates = runtime::cuda::measure(&device).unwrap();
    println!("{rates:?}");
    assert!(rates.copy > 10.0 && rates.read > 10.0);
}
