//! Window stages: pooling and one-channel convolutions with padding, strides and dilation.

use smallvec::SmallVec;

use super::*;
use crate::cpu::vm::window::Window;

/// Sizes of a window nest.
#[derive(Clone, Copy)]
struct Case {
    channels: i64,
    height: i64,
    width: i64,
    taps: (i64, i64),
    stride: (i64, i64),
    dilation: i64,
    pad: i64,
    tile_rows: usize,
}

impl Case {
    fn out(&self) -> (i64, i64) {
        let size = |n: i64, taps: i64, stride: i64| (n + 2 * self.pad - self.dilation * (taps - 1) - 1) / stride + 1;
        (size(self.height, self.taps.0, self.stride.0), size(self.width, self.taps.1, self.stride.1))
    }
}

/// Axes: channel, row, column, tap row, tap column.
fn nest(combiner: Combiner, weighted: bool, case: Case, random: &mut Random, wild: bool) -> (Nest, Vec<Data>) {
    let Case { channels, height, width, taps, stride, dilation, pad, tile_rows } = case;
    let (oh, ow) = case.out();
    let f = if wild { Random::wild } else { Random::tame };
    let f32 = DType::F32;
    let mut data = vec![
        Data::input(f32, (channels * height * width) as usize, random, f),
        Data::input(f32, (channels * taps.0 * taps.1) as usize, random, f),
        Data::output(f32, (channels * oh * ow) as usize),
    ];
    data[1].set(0, Scalar::f32(0.5));
    let index = affine(-pad * width - pad, &[height * width, stride.0 * width, stride.1, dilation * width, dilation]);
    let mut mask =
        vec![bound(-pad, &[0, stride.0, 0, dilation], 0, height), bound(-pad, &[0, 0, stride.1, 0, dilation], 0, width)];
    mask.retain(|_| pad > 0);
    let fill = match combiner {
        Combiner::Max => f32::NEG_INFINITY,
        Combiner::Min => f32::INFINITY,
        _ => 0.0,
    };
    let mut code = vec![Instr::Load { dst: 0, param: 0, index, mask, fill: u64::from(fill.to_bits()) }];
    if weighted {
        code.push(load(1, 1, affine(0, &[taps.0 * taps.1, 0, 0, taps.1, 1])));
        code.push(op(ScalarOp::Mul, f32, 2, &[1, 0]));
    }
    code.push(reduce(combiner, &[3], &[if weighted { 2 } else { 0 }]));
    let full = reg(f32, true, true);
    let nest = Nest {
        extents: vec![channels, oh, ow, taps.0, taps.1],
        grid: [0, 1, 2].into_iter().collect(),
        rows: axis(1, tile_rows),
        cols: axis(2, 64),
        regs: vec![full, reg(f32, false, false), full, full],
        stages: vec![Stage {
            init: vec![(combiner, [3].into_iter().collect())],
            inner: [3, 4].into_iter().collect(),
            ends: SmallVec::new(),
            code,
            finish: vec![store(2, affine(0, &[oh * ow, ow, 1]), 3)],
        }],
        serial: false,
        sequence: None,
    };
    (nest, data)
}

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (height, width) in [(1, 1), (3, 5), (9, 20), (6, 41), (4, 90)] {
        for taps in [(3, 3), (5, 2), (1, 3)] {
            for (stride, dilation, pad) in [((1, 1), 1, 1), ((2, 2), 1, 1), ((2, 1), 1, 0), ((1, 3), 2, 2)] {
                all.push(Case { channels: 3, height, width, taps, stride, dilation, pad, tile_rows: 5 });
            }
        }
    }
    all.retain(|c| c.out().0 > 0 && c.out().1 > 0 && c.height + 2 * c.pad > c.dilation * (c.taps.0 - 1) && c.pad < 2 + c.taps.0);
    all
}

#[test]
fn windows_agree_with_each_point() {
    let mut random = Random(11);
    for case in cases() {
        for (combiner, weighted) in
            [(Combiner::Sum, true), (Combiner::Sum, false), (Combiner::Max, false), (Combiner::Min, false)]
        {
            let (nest, data) = nest(combiner, weighted, case, &mut random, false);
            let params: Vec<Param> = data.iter().map(|d| d.param.clone()).collect();
            assert!(Window::of(&nest, 0, &params).is_some());
            let close = if combiner == Combiner::Sum { Close::Ulp(24.0, 64.0) } else { Close::Exact };
            let what = format!("{} over {}x{} taps {:?}", combiner.info().name, case.height, case.width, case.taps);
            agree(&what, &nest, &data, close);
        }
    }
}

#[test]
fn special_values_follow_the_same_rules() {
    let mut random = Random(12);
    for case in cases() {
        for combiner in [Combiner::Max, Combiner::Min] {
            let (nest, data) = nest(combiner, false, case, &mut random, true);
            agree("wild window", &nest, &data, Close::Exact);
        }
    }
}

#[test]
fn padding_times_infinity_is_not_a_number() {
    let case = Case { channels: 1, height: 4, width: 30, taps: (3, 3), stride: (1, 1), dilation: 1, pad: 1, tile_rows: 4 };
    let (nest, mut data) = nest(Combiner::Sum, true, case, &mut Random(13), false);
    data[1].set(0, Scalar::f32(f32::INFINITY));
    agree("infinite weight", &nest, &data, Close::Ulp(24.0, 64.0));
    let (after, _) = run(&nest, &data, 1);
    assert!(after[2].get(0).as_f64().is_nan());
}

#[test]
fn other_stages_are_no_windows() {
    let case = Case { channels: 1, height: 4, width: 30, taps: (3, 3), stride: (1, 1), dilation: 1, pad: 1, tile_rows: 4 };
    let (good, data) = nest(Combiner::Max, false, case, &mut Random(14), false);
    let params: Vec<Param> = data.iter().map(|d| d.param.clone()).collect();
    let with = |change: &dyn Fn(&mut Nest)| {
        let mut nest = good.clone();
        change(&mut nest);
        Window::of(&nest, 0, &params).is_some()
    };
    assert!(with(&|_| ()));
    assert!(!with(&|n| if let Instr::Load { fill, .. } = &mut n.stages[0].code[0] {
        *fill = 0;
    }));
    assert!(!with(&|n| n.stages[0].finish.push(store(2, affine(0, &[]), 0))));
    assert!(!with(&|n| n.regs[3].cols = false));
    assert!(!with(&|n| n.cols = axis(4, 3)));
}
