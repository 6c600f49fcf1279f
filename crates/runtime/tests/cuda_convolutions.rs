//! Convolutions on a GPU, where there is one, against the host. Without one, or without cuDNN, the test says so and passes.

use std::sync::Arc;

use base::{Config, ErrorKind};
use half::{bf16, f16};
use program::{Access, Convolution, ConvolutionKind, CudaProgram, CudaStep, Epilogue, Param, Tensor, Vector, Window};
use runtime::{Arg, Device};
use scalar::{Activation, DType};

const KINDS: [ConvolutionKind; 3] = [ConvolutionKind::Forward, ConvolutionKind::Data, ConvolutionKind::Weights];

/// Sizes of a convolution.
#[derive(Clone, Debug)]
struct Sizes {
    batch: i64,
    groups: i64,
    /// Channels of a group, in and out.
    channels: [i64; 2],
    /// Extent and taps of each spatial axis.
    space: Vec<[i64; 2]>,
    windows: Vec<Window>,
}

fn window(stride: i64, dilation: i64, before: i64, after: i64) -> Window {
    Window { stride, dilation, before, after }
}

fn sizes() -> Vec<Sizes> {
    let plain =
        Sizes { batch: 2, groups: 1, channels: [16, 24], space: vec![[12, 3], [14, 3]], windows: vec![window(1, 1, 1, 1); 2] };
    let with = |change: fn(&mut Sizes)| {
        let mut sizes = plain.clone();
        change(&mut sizes);
        sizes
    };
    vec![
        plain.clone(),
        with(|s| s.batch = 1),
        with(|s| (s.channels, s.space) = ([5, 7], vec![[9, 3], [11, 2]])),
        with(|s| s.windows = vec![window(2, 1, 1, 1); 2]),
        with(|s| s.windows = vec![window(1, 2, 2, 2); 2]),
        with(|s| s.windows = vec![window(2, 1, 0, 1), window(1, 1, 2, 0)]),
        with(|s| (s.groups, s.channels) = (4, [8, 8])),
        with(|s| (s.groups, s.channels) = (16, [1, 1])),
        with(|s| (s.space, s.windows) = (vec![[1, 1], [40, 5]], vec![window(1, 1, 0, 0), window(1, 1, 2, 2)])),
        with(|s| (s.space, s.windows) = (vec![[12, 1], [14, 1]], vec![window(2, 1, 0, 0); 2])),
        with(|s| (s.space, s.windows) = (vec![[5, 3], [6, 3], [7, 3]], vec![window(1, 1, 1, 1); 3])),
    ]
}

impl Sizes {
    /// Extents of x, w and y.
    fn extents(&self) -> [Vec<i64>; 3] {
        let Sizes { batch, groups, channels: [c, k], space, windows } = self;
        let places =
            space.iter().zip(windows).map(|([n, t], w)| (n + w.before + w.after - (t - 1) * w.dilation - 1) / w.stride + 1);
        let of = |first: [i64; 2], rest: Vec<i64>| first.into_iter().chain(rest).collect();
        let each = |i: usize| space.iter().map(|s| s[i]).collect();
        [of([*batch, groups * c], each(0)), of([groups * k, *c], each(1)), of([*batch, groups * k], places.collect())]
    }

    fn convolution(&self, kind: ConvolutionKind, dtype: DType, last: bool) -> Convolution {
        let [x, w, y] = self.extents();
        let tensor = |param: u16, extents: Vec<i64>| {
            let rank = extents.len();
            let order: Vec<usize> =
                if last { std::iter::once(0).chain(2..rank).chain([1]).collect() } else { (0..rank).collect() };
            let (mut strides, mut step) = (vec![0; rank], 1);
            for &axis in order.iter().rev() {
                strides[axis] = step;
                step *= extents[axis];
            }
            Tensor { param, dtype, offset: 0, extents, strides }
        };
        let (x, w, y) = (tensor(0, x), tensor(1, w), tensor(2, y));
        Convolution {
            kind,
            groups: self.groups,
            windows: self.windows.clone(),
            x,
            w,
            y,
            acc: DType::F32,
            epilogue: Epilogue::default(),
        }
    }
}

fn points(extents: &[i64]) -> Vec<Vec<i64>> {
    extents.iter().fold(vec![vec![]], |all, &n| {
        all.into_iter().flat_map(|p: Vec<i64>| (0..n).map(move |i| p.iter().copied().chain([i]).collect())).collect()
    })
}

fn at(tensor: &Tensor, point: &[i64]) -> usize {
    point.iter().zip(&tensor.strides).map(|(i, s)| i * s).sum::<i64>() as usize
}

/// What a convolution means; sums in f64. The second number of an element is the sum of the terms' sizes.
fn meant(c: &Convolution, numbers: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let which = KINDS.iter().position(|k| *k == c.kind).unwrap();
    let result = [2, 0, 1][which];
    let mut out = vec![(0.0, 0.0); numbers[result].len()];
    let (each, taps) = (c.w.extents[1], points(&c.w.extents[2..]));
    for y in points(&c.y.extents) {
        let group = y[1] / (c.w.extents[0] / c.groups);
        for channel in 0..each {
            for tap in &taps {
                let mut x = vec![y[0], group * each + channel];
                let place = |i: usize| y[2 + i] * c.windows[i].stride + tap[i] * c.windows[i].dilation - c.windows[i].before;
                x.extend((0..tap.len()).map(place));
                if x.iter().zip(&c.x.extents).any(|(i, n)| !(0..*n).contains(i)) {
                    continue;
                }
                let w: Vec<i64> = [y[1], channel].into_iter().chain(tap.iter().copied()).collect();
                let (xi, wi, yi) = (at(&c.x, &x), at(&c.w, &w), at(&c.y, &y));
                let (to, term) = match c.kind {
                    ConvolutionKind::Forward => (yi, numbers[0][xi] * numbers[1][wi]),
                    ConvolutionKind::Data => (xi, numbers[2][yi] * numbers[1][wi]),
                    ConvolutionKind::Weights => (wi, numbers[0][xi] * numbers[2][yi]),
                };
                out[to].0 += term;
                out[to].1 += term.abs();
            }
        }
    }
    out
}

fn bytes_of(dtype: DType, value: f64) -> Vec<u8> {
    match dtype {
        DType::F16 => f16::from_f64(value).to_le_bytes().into(),
        DType::BF16 => bf16::from_f64(value).to_le_bytes().into(),
        _ => (value as f32).to_le_bytes().into(),
    }
}

fn value_of(dtype: DType, bytes: &[u8]) -> f64 {
    match dtype {
        DType::F16 => f16::from_le_bytes([bytes[0], bytes[1]]).to_f64(),
        DType::BF16 => bf16::from_le_bytes([bytes[0], bytes[1]]).to_f64(),
        _ => f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
    }
}

/// Relative rounding of a type, and of sums in f32.
fn rounding(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 1.0 / 1024.0,
        DType::BF16 => 1.0 / 128.0,
        _ => 4e-6,
    }
}

/// The result on the device; `None` where the library refuses.
fn run(device: &Device, c: &Convolution, numbers: &[Vec<f64>]) -> Option<Vec<f64>> {
    let (dtype, (_, written)) = (c.x.dtype, c.operands());
    let param = |i: usize| Param {
        name: format!("p{i}"),
        dtype,
        access: if usize::from(written.param) == i { Access::Write } else { Access::Read },
        elements: numbers[i].len() as u64,
    };
    let program = CudaProgram {
        name: "convolution".into(),
        params: (0..numbers.len()).map(param).collect(),
        source: String::new(),
        steps: vec![CudaStep::Convolution(c.clone())],
        checks: vec![],
    };
    let prepared = match device.prepare(program) {
        Err(e) if e.kind == ErrorKind::Unsupported => {
            println!("refused: {c}: {e}");
            return None;
        }
        prepared => prepared.unwrap(),
    };
    let buffer = |values: &Vec<f64>| {
        let bytes: Vec<u8> = values.iter().flat_map(|&v| bytes_of(dtype, v)).collect();
        let buffer = device.pool().alloc(bytes.len()).unwrap();
        buffer.write(0, &bytes).unwrap();
        buffer
    };
    let buffers: Vec<_> = numbers.iter().map(buffer).collect();
    let args: Vec<Arg<'_>> = buffers.iter().map(Arg::from).collect();
    device.launch(&prepared, &args).unwrap();
    let written = &buffers[usize::from(written.param)];
    let mut bytes = vec![0; written.len()];
    written.read(0, &mut bytes).unwrap();
    Some(bytes.chunks(dtype.size()).map(|b| value_of(dtype, b)).collect())
}

/// Numbers that the type has; the result's own are not numbers, so that what is not written shows.
fn numbers(c: &Convolution, special: bool) -> Vec<Vec<f64>> {
    let written = c.operands().1.param;
    let of = |t: &Tensor| {
        let count = t.extents.iter().product::<i64>() as usize;
        if t.param == written {
            return vec![f64::NAN; count];
        }
        let mut values: Vec<f64> = (0..count).map(|i| ((i * 37 + 11 * usize::from(t.param)) % 33) as f64 / 16.0 - 1.0).collect();
        // In x for the forward pass and the weights' gradient, in y for the data's.
        let is_special = special && t.param == if c.kind == ConvolutionKind::Data { 2 } else { 0 };
        if is_special {
            (values[count / 2], values[count / 3]) = (f64::NAN, f64::INFINITY);
        }
        values
    };
    [&c.x, &c.w, &c.y].map(of).to_vec()
}

/// The first element that differs from what is meant by more than roundings of a type.
fn differs(dtype: DType, have: &[f64], want: &[(f64, f64)]) -> Option<String> {
    let near = |(have, (want, size)): (&f64, &(f64, f64))| {
        let equal = have == want || (have.is_nan() && want.is_nan());
        equal || (have - want).abs() <= rounding(dtype) * size.max(1.0)
    };
    let at = have.iter().zip(want).position(|pair| !near(pair))?;
    Some(format!("element {at} is {}, not {}", have[at], want[at].0))
}

/// A GPU with the library.
fn device() -> Option<Arc<Device>> {
    let config = Config { cache: None, ..Config::from_env().unwrap() };
    match Device::cuda_with(0, &config) {
        Ok(_) if !runtime::cuda::libraries(&config).iter().any(|l| l.name == "cudnn" && l.path.is_some()) => {
            println!("skipped: no cuDNN");
            None
        }
        Ok(device) => Some(device),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

#[test]
fn convolutions_of_many_shapes_equal_the_reference() {
    let Some(device) = device() else { return };
    let (mut taken, mut all, mut wrong) = (0, 0, Vec::new());
    for (n, sizes) in sizes().into_iter().enumerate() {
        let cases = [(false, false), (true, false), (false, true), (true, true)];
        for (kind, (last, special)) in KINDS.into_iter().flat_map(|k| cases.map(|case| (k, case))) {
            let numbers = numbers(&sizes.convolution(kind, DType::F32, last), special);
            let want = meant(&sizes.convolution(kind, DType::F32, last), &numbers);
            for dtype in [DType::F32, DType::F16, DType::BF16] {
                let c = sizes.convolution(kind, dtype, last);
                all += 1;
                let Some(have) = run(&device, &c, &numbers) else { continue };
                taken += 1;
                let what = differs(dtype, &have, &want);
                wrong.extend(what.map(|what| format!("sizes {n}, special {special}: {what}: {c}")));
            }
        }
    }
    println!("{taken} of {all} taken");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(taken * 10 >= all * 9, "only {taken} of {all} taken");
}

#[test]
fn a_bias_and_relu_follow_within_the_library() {
    let Some(device) = device() else { return };
    let (mut taken, mut all, mut wrong) = (0, 0, Vec::new());
    let alone: Vec<Sizes> = sizes().into_iter().filter(|s| s.groups == 1).collect();
    for (n, sizes) in alone.iter().enumerate() {
        for (has_bias, has_relu, special) in
            [(true, true, false), (true, true, true), (true, false, true), (false, true, false), (false, true, true)]
        {
            let mut c = sizes.convolution(ConvolutionKind::Forward, DType::F16, true);
            c.epilogue = Epilogue {
                bias: has_bias.then_some(Vector { param: 3, offset: 0, over_rows: false }),
                activation: has_relu.then_some(Activation::Relu),
                ..Epilogue::default()
            };
            let mut numbers = numbers(&c, special);
            let mut want = meant(&c, &numbers);
            let bias: Vec<f64> = (0..c.y.extents[1]).map(|k| (k % 7) as f64 - 3.0).collect();
            for (i, (value, size)) in want.iter_mut().enumerate() {
                let with = *value + if has_bias { bias[i % bias.len()] } else { 0.0 };
                (*value, *size) = (if has_relu && with < 0.0 { 0.0 } else { with }, *size + 3.0);
            }
            numbers.extend(has_bias.then_some(bias));
            for dtype in [DType::F16, DType::BF16] {
                [&mut c.x, &mut c.w, &mut c.y].into_iter().for_each(|t| t.dtype = dtype);
                all += 1;
                let Some(have) = run(&device, &c, &numbers) else { continue };
                taken += 1;
                let what = differs(dtype, &have, &want);
                wrong.extend(what.map(|what| format!("sizes {n}, special {special}: {what}: {c}")));
            }
        }
    }
    println!("{taken} of {all} with what follows taken");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(taken * 2 >= all, "only {taken} of {all} taken");
}
