use smallvec::smallvec;

use super::*;
use crate::{At, WriteCombine as W};

#[test]
fn gather_reads_through_views() {
    let y = eval(&[ramp(&[3, 2]), i64s(&[2, 2], &[2, 0, 1, 1])], |b, x| {
        let f = b.flip(x[0], &[1])?;
        b.gather(f, &[x[1]], &[0])
    });
    assert_eq!(y.unwrap().to_i64s(), [5, 0, 3, 2]);
}

#[test]
fn gather_on_two_axes() {
    let y = eval(&[ramp(&[3, 4]), i64s(&[2, 1], &[2, 0]), i64s(&[2, 1], &[3, 1])], |b, x| b.gather(x[0], &[x[1], x[2]], &[0, 1]));
    assert_eq!(y.unwrap().to_i64s(), [11, 1]);
}

#[test]
fn out_of_range_names_node_index_and_limit() {
    for bad in [3, -1] {
        let e = eval(&[ramp(&[3]), i64s(&[1], &[bad])], |b, x| {
            b.with_origin("embedding", "model.rs:7", |b| b.gather(x[0], &[x[1]], &[0]))
        });
        let text = e.unwrap_err().to_string();
        assert!(text.starts_with("%2 gather (embedding at model.rs:7)"), "{text}");
        assert!(text.contains(&format!("index {bad} on axis 0, whose extent is 3")), "{text}");
    }
    let dst = ramp(&[2]);
    let at = At::Indices { axes: smallvec![0], unique: false };
    let e = eval(&[dst, ramp(&[1]), i64s(&[1], &[2])], |b, x| b.write(W::Set, at, x[0], x[1], &[x[2]])).unwrap_err();
    assert!(e.to_string().contains("writes index 2"), "{e}");
}

#[test]
fn empty_gather_reads_nothing() {
    let y = eval(&[ramp(&[0, 2]), i64s(&[0, 2], &[])], |b, x| b.gather(x[0], &[x[1]], &[0])).unwrap();
    assert_eq!(y.shape(), [0, 2]);
}

#[test]
fn write_slice_combines() {
    let at = At::Slice { start: [1i64, 0].iter().map(|&v| v.into()).collect(), step: smallvec![1, 2] };
    let src = i64s(&[1, 2], &[10, 20]);
    let write = |c: W| eval(&[ramp(&[2, 3]), src.clone()], |b, x| b.write(c, at.clone(), x[0], x[1], &[])).unwrap().to_i64s();
    assert_eq!(write(W::Set), [0, 1, 2, 10, 4, 20]);
    assert_eq!(write(W::Add), [0, 1, 2, 13, 4, 25]);
    assert_eq!(write(W::Mul), [0, 1, 2, 30, 4, 100]);
    assert_eq!(write(W::Max), [0, 1, 2, 10, 4, 20]);
    assert_eq!(write(W::Min), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn dynamic_write_clamps_its_start() {
    let write = |start: i64| {
        let at = At::Dynamic { axes: smallvec![0] };
        eval(&[ramp(&[4]), i64s(&[2], &[8, 9]), i64s(&[], &[start])], |b, x| b.write(W::Set, at, x[0], x[1], &[x[2]]))
            .unwrap()
            .to_i64s()
    };
    assert_eq!(write(1), [0, 8, 9, 3]);
    assert_eq!(write(99), [0, 1, 8, 9]);
    assert_eq!(write(-5), [8, 9, 2, 3]);
}

#[test]
fn indexed_writes_collide_in_order_and_accumulate_wide() {
    let at = At::Indices { axes: smallvec![0], unique: false };
    let index = i64s(&[3], &[1, 1, 0]);
    let write = |c: W, dst: HostTensor, src: HostTensor| {
        eval(&[dst, src, index.clone()], |b, x| b.write(c, at.clone(), x[0], x[1], &[x[2]])).unwrap()
    };
    assert_eq!(write(W::Set, ramp(&[2]), i64s(&[3], &[5, 6, 7])).to_i64s(), [7, 6]);
    let big = HostTensor::from_f64s(DType::F16, &[2], &[0.0, 2048.0]);
    let ones = HostTensor::from_f64s(DType::F16, &[3], &[1.0, 1.0, 1.0]);
    assert_eq!(write(W::Add, big, ones).to_f64s(), [1.0, 2050.0]);
    let nan = write(W::Max, f32s(&[2], &[0.0, f64::NAN]), f32s(&[3], &[1.0, 2.0, 3.0]));
    assert!(nan.get(1).as_f64().is_nan());
}

#[test]
fn concat_and_iota() {
    let y = eval(&[ramp(&[2, 1]), ramp(&[2, 2])], |b, x| {
        let t = b.permute(x[1], &[1, 0])?;
        b.concat(&[x[0], t, x[0]], 1)
    });
    assert_eq!(y.unwrap().to_i64s(), [0, 0, 2, 0, 1, 1, 3, 1]);
    assert_eq!(eval(&[], |b, _| b.iota(3i64)).unwrap().to_i64s(), [0, 1, 2]);
}

#[test]
fn calls_and_chosen_values() {
    let mut b = Builder::new("f");
    let x = b.input("x", DType::F32, [3i64], false).unwrap();
    let attrs = [("axis".to_owned(), 0)].into_iter().collect();
    let sorted = b.call("sort", attrs, &[x]).unwrap();
    let (values, order) = (b.result(sorted, 0).unwrap(), b.result(sorted, 1).unwrap());
    b.output("y", values).unwrap();
    let graph = b.finish();
    let inputs = [f32s(&[3], &[3.0, 1.0, 2.0])];
    assert_eq!(run(&graph, &inputs, Options::default()).unwrap()[0].to_f64s(), [1.0, 2.0, 3.0]);
    let got = run_values(&graph, &inputs, Options::default(), &[order, x]).unwrap();
    assert_eq!((got[0].to_i64s(), got[1].to_f64s()), (vec![1, 2, 0], vec![3.0, 1.0, 2.0]));
    let e = run_values(&graph, &inputs, Options::default(), &[sorted]).unwrap_err();
    assert!(e.to_string().contains("several results"), "{e}");
}
