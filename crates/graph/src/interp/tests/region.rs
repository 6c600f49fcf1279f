use scalar::{Combiner, ScalarOp as S, Sym};

use super::*;
use crate::Graph;

fn body(name: &str, inputs: &[(&str, DType, &[i64])], f: impl FnOnce(&mut Builder, &[NodeId]) -> Result<Vec<NodeId>>) -> Graph {
    let mut b = Builder::new(name);
    let ids: Vec<NodeId> = inputs.iter().map(|(n, d, s)| b.input(*n, *d, s.to_vec(), false).unwrap()).collect();
    for (i, id) in f(&mut b, &ids).unwrap().into_iter().enumerate() {
        b.output(format!("r{i}"), id).unwrap();
    }
    b.finish()
}

#[test]
fn branches() {
    for (condition, want) in [(1, 3.0), (0, -3.0)] {
        let args = [HostTensor::from_i64s(DType::Bool, &[], &[condition]), f32s(&[1], &[3.0])];
        let y = eval(&args, |b, x| {
            let then = body("then", &[("x", DType::F32, &[1])], |_, x| Ok(vec![x[0]]));
            let other = body("other", &[("x", DType::F32, &[1])], |b, x| Ok(vec![b.map(S::Neg, x)?]));
            b.region_if(x[0], &[x[1]], then, other)
        });
        assert_eq!(y.unwrap().to_f64s(), [want]);
    }
}

/// s ← s·c + x + i, stacked s.
fn recurrence(b: &mut Builder, x: &[NodeId], trip: impl Into<Sym>) -> Result<Vec<NodeId>> {
    let inputs: [(&str, DType, &[i64]); 4] =
        [("i", DType::I64, &[]), ("s", DType::I64, &[]), ("x", DType::I64, &[]), ("c", DType::I64, &[])];
    let step = body("step", &inputs, |b, x| {
        let scaled = b.map(S::Mul, &[x[1], x[3]])?;
        let more = b.map(S::Add, &[scaled, x[2]])?;
        let s = b.map(S::Add, &[more, x[0]])?;
        Ok(vec![s, s])
    });
    let node = b.region_loop(trip, &[x[0]], &[x[1]], &[x[2]], step)?;
    Ok(vec![b.result(node, 0)?, b.result(node, 1)?])
}

#[test]
fn loops_carry_scan_and_stack() {
    let args = [i64s(&[], &[1]), i64s(&[3], &[5, 6, 7]), i64s(&[], &[2])];
    let y = eval_all(&args, false, |b, x| recurrence(b, x, 3i64)).unwrap();
    assert_eq!((y[0].to_i64s(), y[1].to_i64s()), (vec![51], vec![7, 21, 51]));
    let args = [i64s(&[], &[1]), i64s(&[0], &[]), i64s(&[], &[2])];
    let y = eval_all(&args, false, |b, x| recurrence(b, x, 0i64)).unwrap();
    assert_eq!((y[0].to_i64s(), y[1].shape()), (vec![1], &[0][..]));
}

#[test]
fn symbolic_trip_count() {
    let mut b = Builder::new("f");
    let t = Sym::named("t");
    let ids = [
        b.input("s", DType::I64, [] as [i64; 0], false).unwrap(),
        b.input("x", DType::I64, [t.clone()], false).unwrap(),
        b.input("c", DType::I64, [] as [i64; 0], false).unwrap(),
    ];
    let out = recurrence(&mut b, &ids, t).unwrap();
    b.output("y", out[1]).unwrap();
    let graph = b.finish();
    verify(&graph).unwrap();
    for n in [0usize, 1, 4] {
        let y = run(&graph, &[i64s(&[], &[0]), i64s(&[n], &vec![1; n]), i64s(&[], &[1])], Options::default()).unwrap();
        let want: Vec<i64> = (0..n as i64).map(|i| (i + 1) * (i + 2) / 2).collect();
        assert_eq!(y[0].to_i64s(), want);
    }
}

#[test]
fn errors_inside_name_the_step() {
    let e = eval_all(&[i64s(&[2], &[0, 9]), ramp(&[3])], false, |b, x| {
        let step = body("step", &[("i", DType::I64, &[]), ("k", DType::I64, &[]), ("t", DType::I64, &[3])], |b, x| {
            let k = b.reshape(x[1], [1i64])?;
            Ok(vec![b.gather(x[2], &[k], &[0])?])
        });
        Ok(vec![b.region_loop(2i64, &[], &[x[0]], &[x[1]], step)?])
    });
    let text = e.unwrap_err().to_string();
    assert!(text.contains("step 1: body step: ") && text.contains("index 9"), "{text}");
}

#[test]
fn values_are_freed_only_after_their_last_reader() {
    let y = eval(&[f32s(&[2], &[1.0, 2.0])], |b, x| {
        let early = b.map(S::Exp, x)?;
        let sum = b.reduce(Combiner::Sum, &[early], &[0])?;
        let sum = b.reshape(sum, [1i64])?;
        let sum = b.expand(sum, [2i64])?;
        b.map(S::Div, &[early, sum])
    });
    let total: f64 = y.unwrap().to_f64s().iter().sum();
    assert!((total - 1.0).abs() < 1e-6);
}
