use scalar::Scalar;

use super::*;

#[test]
fn views_compose_without_copies_of_the_meaning() {
    let y = eval(&[ramp(&[2, 3, 4])], |b, x| {
        let t = b.permute(x[0], &[2, 0, 1])?;
        let s = b.slice(t, [1i64, 0, 0], [2i64, 2, 2], &[2, 1, 2])?;
        b.flip(s, &[0, 2])
    });
    let y = y.unwrap();
    let at = |i: i64, j: i64, k: i64| j * 12 + k * 4 + i;
    let want: Vec<i64> =
        [3, 1].into_iter().flat_map(|i| [0, 1].into_iter().flat_map(move |j| [at(i, j, 2), at(i, j, 0)])).collect();
    assert_eq!((y.shape(), y.to_i64s()), (&[2, 2, 2][..], want));
}

#[test]
fn reshape_of_a_transposed_value_is_row_major() {
    let y = eval(&[ramp(&[2, 3])], |b, x| {
        let t = b.permute(x[0], &[1, 0])?;
        b.reshape(t, [6i64])
    });
    assert_eq!(y.unwrap().to_i64s(), [0, 3, 1, 4, 2, 5]);
}

#[test]
fn expand_then_reshape_repeats() {
    let y = eval(&[ramp(&[2, 1])], |b, x| {
        let e = b.expand(x[0], [2i64, 3])?;
        b.reshape(e, [3i64, 2])
    });
    assert_eq!(y.unwrap().to_i64s(), [0, 0, 0, 1, 1, 1]);
}

#[test]
fn pad_with_interior() {
    let y = eval(&[ramp(&[3])], |b, x| b.pad(x[0], [1i64], [2i64], &[1], Scalar::i64(9)));
    assert_eq!(y.unwrap().to_i64s(), [9, 0, 9, 1, 9, 2, 9, 9]);
    let y = eval(&[ramp(&[0])], |b, x| b.pad(x[0], [1i64], [1i64], &[2], Scalar::i64(9)));
    assert_eq!(y.unwrap().to_i64s(), [9, 9]);
}

#[test]
fn windows_with_stride_and_dilation() {
    let y = eval(&[ramp(&[7])], |b, x| b.window(x[0], 0, 2i64, 2, 3)).unwrap();
    assert_eq!((y.shape(), y.to_i64s()), (&[2, 2][..], vec![0, 3, 2, 5]));
    let y = eval(&[ramp(&[2, 3, 2])], |b, x| b.window(x[0], 1, 2i64, 1, 1)).unwrap();
    assert_eq!(y.shape(), [2, 2, 2, 2]);
    assert_eq!(y.to_i64s()[..8], [0, 2, 1, 3, 2, 4, 3, 5]);
}

#[test]
fn windows_of_a_flipped_slice() {
    let y = eval(&[ramp(&[6])], |b, x| {
        let f = b.flip(x[0], &[0])?;
        let s = b.slice(f, [1i64], [4i64], &[1])?;
        b.window(s, 0, 3i64, 1, 1)
    });
    assert_eq!(y.unwrap().to_i64s(), [4, 3, 2, 3, 2, 1]);
}

#[test]
fn empty_views() {
    let y = eval(&[ramp(&[0, 3])], |b, x| {
        let t = b.permute(x[0], &[1, 0])?;
        let f = b.flip(t, &[1])?;
        b.reshape(f, [0i64, 5])
    });
    assert_eq!(y.unwrap().shape(), [0, 5]);
    let y = eval(&[ramp(&[3])], |b, x| b.slice(x[0], [3i64], [0i64], &[1])).unwrap();
    assert!(y.is_empty());
}

#[test]
fn absurd_sizes_are_an_error() {
    let e = eval(&[ramp(&[1])], |b, x| {
        let wide = b.expand(x[0], [1i64 << 34])?;
        b.map(scalar::ScalarOp::Neg, &[wide])
    });
    assert_eq!(e.unwrap_err().kind, ErrorKind::OutOfMemory);
    let e = eval(&[], |b, _| b.iota(1i64 << 40)).unwrap_err();
    assert_eq!(e.kind, ErrorKind::OutOfMemory);
}
