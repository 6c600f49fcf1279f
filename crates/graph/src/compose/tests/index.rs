use super::*;
use crate::WriteCombine as W;
use crate::compose::*;

fn ramp(shape: &[usize]) -> HostTensor {
    let n: usize = shape.iter().product();
    i64s(shape, &(0..n as i64).collect::<Vec<_>>())
}

/// Python's slice of 0..n.
fn python_slice(n: i64, start: i64, end: i64, step: i64) -> Vec<i64> {
    let clamp = |v: i64| {
        let v = if v < 0 { v.saturating_add(n) } else { v };
        if step > 0 { v.clamp(0, n) } else { v.clamp(-1, n - 1) }
    };
    let (mut at, end) = (clamp(start), clamp(end));
    let mut out = Vec::new();
    while if step > 0 { at < end } else { at > end } {
        out.push(at);
        at += step;
    }
    out
}

#[test]
fn slices_are_pythons() {
    let bounds = [i64::MIN, -7, -5, -2, -1, 0, 1, 3, 5, 9, i64::MAX];
    for start in bounds {
        for end in bounds {
            for step in [1, 2, 3, -1, -2, -4] {
                let want = python_slice(5, start, end, step);
                let got = both(&["n"], &[ramp(&[5])], |b, x| slice_range(b, x[0], 0, start, end, step));
                assert_eq!(got.to_i64s(), want, "[{start}:{end}:{step}]");
            }
        }
    }
    assert!(eval(&[ramp(&[5])], |b, x| slice_range(b, x[0], 0, 0, 5, 0)).is_err());
    assert!(eval(&[ramp(&[0])], |b, x| slice_range(b, x[0], 0, -1, i64::MIN, -1)).unwrap().is_empty());
}

#[test]
fn whole_slices_make_no_node() {
    let mut b = Builder::new("f");
    let x = b.input("x", DType::F32, [Sym::named("n")], false).unwrap();
    assert_eq!(slice_range(&mut b, x, 0, 0, i64::MAX, 1).unwrap(), x);
    assert_eq!(slice_range(&mut b, x, 0, 0, i64::from(i32::MAX), 1).unwrap(), x);
}

#[test]
fn splits_chunks_stacks() {
    let y = eval_all(&[ramp(&[5])], |b, x| split(b, x[0], 0, &[Sym::from(2), Sym::from(0), Sym::from(3)])).unwrap();
    assert_eq!((y[0].to_i64s(), y[1].len(), y[2].to_i64s()), (vec![0, 1], 0, vec![2, 3, 4]));
    assert!(eval_all(&[ramp(&[5])], |b, x| split(b, x[0], 0, &[Sym::from(2)])).is_err());
    let lens = |n: usize, parts: i64| -> Vec<usize> {
        eval_all(&[ramp(&[n])], |b, x| chunk(b, x[0], parts, 0)).unwrap().iter().map(HostTensor::len).collect()
    };
    assert_eq!(lens(6, 3), [2, 2, 2]);
    assert_eq!(lens(7, 3), [3, 3, 1]);
    assert_eq!(lens(5, 4), [2, 2, 1]);
    assert_eq!(lens(0, 2), [0]);
    let y = eval(&[ramp(&[2]), ramp(&[2])], |b, x| stack(b, x, 1)).unwrap();
    assert_eq!((y.shape(), y.to_i64s()), (&[2, 2][..], vec![0, 0, 1, 1]));
}

#[test]
fn symbolic_chunks_need_divisible_extents() {
    let shape = [vec![Sym::parse("2*n").unwrap()]];
    let y = eval_shaped(&shape, &[ramp(&[6])], |b, x| chunk(b, x[0], 2, 0)).unwrap();
    assert_eq!(y[1].to_i64s(), [3, 4, 5]);
    let e = eval_shaped(&[vec![Sym::named("n")]], &[ramp(&[6])], |b, x| chunk(b, x[0], 2, 0)).unwrap_err();
    assert!(e.to_string().contains("symbolic extent n"), "{e}");
}

#[test]
fn ranks_change_by_reshape() {
    let shape = |f: &dyn Fn(&mut Builder, NodeId) -> Result<NodeId>| {
        both(&["n, 1, 3"], &[ramp(&[2, 1, 3])], |b, x| f(b, x[0])).shape().to_vec()
    };
    assert_eq!(shape(&|b, x| squeeze(b, x, &[1])), [2, 3]);
    assert_eq!(shape(&|b, x| unsqueeze(b, x, &[0, 4])), [1, 2, 1, 3, 1]);
    assert_eq!(shape(&|b, x| flatten(b, x, 0, 2)), [6]);
    assert_eq!(shape(&|b, x| flatten(b, x, 1, 2)), [2, 3]);
    assert_eq!(shape(&|b, x| transpose(b, x, 0, 2)), [3, 1, 2]);
    assert_eq!(eval(&[ramp(&[])], |b, x| flatten(b, x[0], 0, 0)).unwrap().shape(), [1]);
    assert!(eval(&[ramp(&[2])], |b, x| squeeze(b, x[0], &[0])).is_err());
    assert_eq!(axis("sum", -1, 3).unwrap(), 2);
    assert_eq!(axis("sum", 3, 3).unwrap_err().to_string(), "sum: axis 3 is out of range for rank 3");
}

#[test]
fn repeats() {
    let y = both(&["n, 2"], &[ramp(&[2, 2])], |b, x| tile(b, x[0], &[Sym::from(2), Sym::from(1)]));
    assert_eq!(y.to_i64s(), [0, 1, 2, 3, 0, 1, 2, 3]);
    let y = both(&["n, 2"], &[ramp(&[2, 2])], |b, x| tile(b, x[0], &[Sym::from(1), Sym::from(2)]));
    assert_eq!(y.to_i64s(), [0, 1, 0, 1, 2, 3, 2, 3]);
    let y = both(&["n, 2"], &[ramp(&[2, 2])], |b, x| repeat_interleave(b, x[0], 0, &Sym::from(2)));
    assert_eq!(y.to_i64s(), [0, 1, 0, 1, 2, 3, 2, 3]);
}

#[test]
fn pads_of_every_mode() {
    let pad_by = |lo: i64, hi: i64, mode: PadMode| both(&["n"], &[ramp(&[4])], |b, x| pad(b, x[0], &[lo], &[hi], mode)).to_i64s();
    assert_eq!(pad_by(1, 2, PadMode::Constant(9.0)), [9, 0, 1, 2, 3, 9, 9]);
    assert_eq!(pad_by(2, 3, PadMode::Reflect), [2, 1, 0, 1, 2, 3, 2, 1, 0]);
    assert_eq!(pad_by(1, 2, PadMode::Edge), [0, 0, 1, 2, 3, 3, 3]);
    assert_eq!(pad_by(2, 1, PadMode::Wrap), [2, 3, 0, 1, 2, 3, 0]);
    assert_eq!(pad_by(-1, 1, PadMode::Constant(0.0)), [1, 2, 3, 0]);
    assert_eq!(pad_by(-1, -1, PadMode::Edge), [1, 2]);
}

#[test]
fn taking_and_embedding() {
    let y = both(&["v, 2", "k"], &[ramp(&[3, 2]), i64s(&[2], &[2, 0])], |b, x| index_select(b, x[0], 0, x[1]));
    assert_eq!(y.to_i64s(), [4, 5, 0, 1]);
    let y = both(&["2, v", "a, b"], &[ramp(&[2, 3]), i64s(&[2, 2], &[0, -1, 1, 1])], |b, x| take(b, x[0], 1, x[1]));
    assert_eq!((y.shape(), y.to_i64s()), (&[2, 2, 2][..], vec![0, 2, 1, 1, 3, 5, 4, 4]));
    let y = both(&["v, 2", "a, b"], &[ramp(&[3, 2]), i64s(&[1, 2], &[1, 2])], |b, x| embedding(b, x[0], x[1]));
    assert_eq!((y.shape(), y.to_i64s()), (&[1, 2, 2][..], vec![2, 3, 4, 5]));
    let y = eval(&[ramp(&[3]), i64s(&[], &[-1])], |b, x| take(b, x[0], 0, x[1])).unwrap();
    assert_eq!((y.shape(), y.to_i64s()), (&[][..], vec![2]));
    let e = eval(&[ramp(&[3, 2]), i64s(&[1], &[3])], |b, x| embedding(b, x[0], x[1])).unwrap_err();
    assert!(e.to_string().contains("index 3"), "{e}");
    assert!(eval(&[ramp(&[3]), f32s(&[1], &[0.0])], |b, x| take(b, x[0], 0, x[1])).is_err());
    let y = eval(&[ramp(&[2, 3])], |b, x| select(b, x[0], 1, -1)).unwrap();
    assert_eq!(y.to_i64s(), [2, 5]);
}

#[test]
fn gathers_and_scatters_along_an_axis() {
    let y = both(&["n, m", "1, 2"], &[ramp(&[2, 3]), i64s(&[1, 2], &[-1, 0])], |b, x| gather(b, x[0], 1, x[1]));
    assert_eq!((y.shape(), y.to_i64s()), (&[1, 2][..], vec![2, 0]));
    let run = |combine: W| {
        let args = [i64s(&[3], &[1, 1, 1]), i64s(&[2], &[2, -1]), i64s(&[3], &[5, 6, 7])];
        eval(&args, |b, x| scatter(b, x[0], 0, x[1], x[2], combine)).unwrap().to_i64s()
    };
    assert_eq!(run(W::Set), [1, 1, 6]);
    assert_eq!(run(W::Add), [1, 1, 12]);
    assert_eq!(run(W::Mul), [1, 1, 30]);
}

#[test]
fn nd_indices() {
    let index = i64s(&[2, 2], &[0, 1, -1, 0]);
    let y = both(&["n, 2, 2", "k, 2"], &[ramp(&[2, 2, 2]), index.clone()], |b, x| gather_nd(b, x[0], x[1]));
    assert_eq!((y.shape(), y.to_i64s()), (&[2, 2][..], vec![2, 3, 4, 5]));
    let y = eval(&[ramp(&[2, 3]), i64s(&[1, 2, 1], &[1, 0])], |b, x| gather_nd(b, x[0], x[1])).unwrap();
    assert_eq!((y.shape(), y.to_i64s()), (&[1, 2, 3][..], vec![3, 4, 5, 0, 1, 2]));
    let args = [ramp(&[2, 2, 2]), index, i64s(&[2, 2], &[10, 20, 30, 40])];
    let y = both(&["n, 2, 2", "k, 2", "k, 2"], &args, |b, x| scatter_nd(b, x[0], x[1], x[2], W::Add));
    assert_eq!(y.to_i64s(), [0, 1, 12, 23, 34, 45, 6, 7]);
    let e = eval(&[ramp(&[2]), i64s(&[1, 2], &[0, 0])], |b, x| gather_nd(b, x[0], x[1])).unwrap_err();
    assert!(e.to_string().contains("nd-index"), "{e}");
}

#[test]
fn one_hot_arange_triangles_masks() {
    let y = both(&["n"], &[i64s(&[3], &[1, 5, 0])], |b, x| one_hot(b, x[0], &Sym::from(2), DType::F32));
    assert_eq!(y.to_f64s(), [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    let y = eval(&[], |b, _| arange(b, 1.0, &Sym::from(3), 0.5, DType::F32)).unwrap();
    assert_eq!(y.to_f64s(), [1.0, 1.5, 2.0]);
    let ones = i64s(&[2, 3], &[1; 6]);
    let y = both(&["n, m"], std::slice::from_ref(&ones), |b, x| tril(b, x[0], 0));
    assert_eq!(y.to_i64s(), [1, 0, 0, 1, 1, 0]);
    let y = both(&["n, m"], std::slice::from_ref(&ones), |b, x| triu(b, x[0], 1));
    assert_eq!(y.to_i64s(), [0, 1, 1, 0, 0, 1]);
    let y = eval(&[f32s(&[2], &[1.0, 2.0]), HostTensor::from_i64s(DType::Bool, &[2], &[0, 1])], |b, x| {
        masked_fill(b, x[0], x[1], -5.0)
    })
    .unwrap();
    assert_eq!(y.to_f64s(), [1.0, -5.0]);
}
