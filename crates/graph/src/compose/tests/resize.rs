use super::*;
use crate::compose::*;

fn target(size: i64, scale: Option<f64>) -> Target {
    Target { axis: 0, size: Sym::from(size), scale }
}

fn run_1d(values: &[f64], t: &Target, filter: Filter, how: Coordinates) -> Vec<f64> {
    eval(&[f32s(&[values.len()], values)], |b, x| resize(b, x[0], std::slice::from_ref(t), filter, how)).unwrap().to_f64s()
}

fn coordinate(o: f64, n: f64, m: f64, how: Coordinates) -> f64 {
    match how {
        Coordinates::PytorchHalfPixel if m == 1.0 => 0.0,
        Coordinates::HalfPixel | Coordinates::PytorchHalfPixel => (o + 0.5) * n / m - 0.5,
        Coordinates::AlignCorners if m == 1.0 => 0.0,
        Coordinates::AlignCorners => o * (n - 1.0) / (m - 1.0),
        Coordinates::Asymmetric => o * n / m,
    }
}

fn keys(d: f64, a: f64) -> f64 {
    let d = d.abs();
    if d <= 1.0 {
        (a + 2.0) * d.powi(3) - (a + 3.0) * d * d + 1.0
    } else if d < 2.0 {
        a * d.powi(3) - 5.0 * a * d * d + 8.0 * a * d - 4.0 * a
    } else {
        0.0
    }
}

/// One axis by definition, in f64.
fn naive(v: &[f64], m: usize, filter: Filter, how: Coordinates) -> Vec<f64> {
    let n = v.len() as f64;
    let at = |p: f64| v[p.clamp(0.0, n - 1.0) as usize];
    let one = |o: usize| {
        let x = coordinate(o as f64, n, m as f64, how);
        match filter {
            Filter::Nearest(Nearest::Floor) => at(x.floor()),
            Filter::Nearest(Nearest::Ceil) => at(x.ceil()),
            Filter::Nearest(Nearest::RoundPreferFloor) => at((x - 0.5).ceil()),
            Filter::Nearest(Nearest::RoundPreferCeil) => at((x + 0.5).floor()),
            Filter::Linear => at(x.floor()) * (1.0 - (x - x.floor())) + at(x.floor() + 1.0) * (x - x.floor()),
            Filter::Cubic { a } => (-1..3).map(|k| x.floor() + f64::from(k)).map(|p| at(p) * keys(x - p, a)).sum(),
        }
    };
    (0..m).map(one).collect()
}

const ALL: [Coordinates; 4] =
    [Coordinates::HalfPixel, Coordinates::PytorchHalfPixel, Coordinates::AlignCorners, Coordinates::Asymmetric];
const RULES: [Nearest; 4] = [Nearest::RoundPreferFloor, Nearest::RoundPreferCeil, Nearest::Floor, Nearest::Ceil];

#[test]
fn every_filter_and_coordinate_rule() {
    let values = [1.0, -2.0, 4.0, 0.5];
    let filters =
        RULES.into_iter().map(Filter::Nearest).chain([Filter::Linear, Filter::Cubic { a: -0.75 }, Filter::Cubic { a: -0.5 }]);
    for filter in filters {
        for how in ALL {
            for size in [1, 2, 4, 8, 16] {
                let got = f32s(&[size], &run_1d(&values, &target(size as i64, None), filter, how));
                let want = naive(&values, size, filter, how);
                let exact = how != Coordinates::AlignCorners || !matches!(filter, Filter::Nearest(_));
                if exact {
                    assert_near(&got, &want, 1e-5);
                }
            }
        }
    }
}

#[test]
fn align_corners_keeps_the_ends() {
    let y = run_1d(&[1.0, 2.0, 3.0], &target(5, None), Filter::Linear, Coordinates::AlignCorners);
    assert_eq!(y, [1.0, 1.5, 2.0, 2.5, 3.0]);
}

#[test]
fn whole_factors_are_views() {
    for how in [Coordinates::Asymmetric, Coordinates::HalfPixel] {
        let rule = if how == Coordinates::Asymmetric { Nearest::Floor } else { Nearest::RoundPreferFloor };
        let mut b = Builder::new("f");
        let x = b.input("x", DType::F32, [Sym::named("n")], false).unwrap();
        let t = Target { axis: 0, size: Sym::parse("2*n").unwrap(), scale: Some(2.0) };
        let y = resize(&mut b, x, &[t], Filter::Nearest(rule), how).unwrap();
        b.output("y", y).unwrap();
        let graph = b.finish();
        assert!(graph.nodes.iter().all(|n| !matches!(n.op, crate::Op::Gather(_))));
        let got = run(&graph, &[f32s(&[3], &[1.0, 2.0, 3.0])], Options::default()).unwrap();
        assert_eq!(got[0].to_f64s(), naive(&[1.0, 2.0, 3.0], 6, Filter::Nearest(rule), how));
    }
}

#[test]
fn symbolic_sizes_interpolate() {
    let x = data(1, &[1, 2, 3, 4]);
    let y = both(&["1, 2, h, w"], &[x], |b, x| {
        let shape = b.shape(x[0]).clone();
        let targets = [
            Target { axis: 2, size: &shape[2] * 2, scale: Some(2.0) },
            Target { axis: 3, size: &shape[3] * 2, scale: Some(2.0) },
        ];
        resize(b, x[0], &targets, Filter::Linear, Coordinates::HalfPixel)
    });
    assert_eq!(y.shape(), [1, 2, 6, 8]);
}

#[test]
fn a_given_scale_decides_coordinates() {
    let y = run_1d(&[0.0, 1.0, 2.0, 3.0], &target(2, Some(0.6)), Filter::Linear, Coordinates::HalfPixel);
    assert_near(&f32s(&[2], &y), &[0.5 / 0.6 - 0.5, 1.5 / 0.6 - 0.5], 1e-6);
}

#[test]
fn integers_do_not_interpolate() {
    let e = eval(&[i64s(&[2], &[1, 2])], |b, x| resize(b, x[0], &[target(3, None)], Filter::Linear, Coordinates::HalfPixel))
        .unwrap_err();
    assert!(e.to_string().contains("needs a float"), "{e}");
    let y = eval(&[i64s(&[2], &[1, 2])], |b, x| {
        resize(b, x[0], &[target(3, None)], Filter::Nearest(Nearest::Floor), Coordinates::Asymmetric)
    })
    .unwrap();
    assert_eq!(y.to_i64s(), [1, 1, 2]);
}
