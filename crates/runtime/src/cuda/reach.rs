//! Which results of a convolution depend on one element of an operand.
//!
//! Some engines add products with zeros that a convolution does not have: filters of neighbouring groups as one with zeros between,
//! results between strides as sums of nothing but zeros. Finite numbers do not tell; a NaN then shows where it does not belong.

use program::{ConvolutionKind, Window};

use super::convolution::{Problem, W, X, Y};

/// Whether a NaN shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shows {
    No,
    /// It may be multiplied by a zero around or between the elements of the operand that slides, or be left out there.
    Maybe,
    Yes,
}

/// What each axis of the result says of an element: it shows where all say so.
pub(super) struct Reach {
    pub(super) axes: Vec<Vec<Shows>>,
}

/// Batch, group, channel of the data and channel of the result that a coordinate stands for, as far as it does.
type Names = [Option<i64>; 4];

impl Problem {
    /// The operands that are read, the one along which the other slides first, and the one that is written.
    pub(super) fn roles(&self) -> ([usize; 2], usize) {
        match self.kind {
            ConvolutionKind::Forward => ([X, W], Y),
            ConvolutionKind::Data => ([Y, W], X),
            ConvolutionKind::Weights => ([X, Y], W),
        }
    }

    /// How far an element of an operand that is read reaches.
    pub(super) fn reach(&self, operand: usize, element: &[i64]) -> Reach {
        let ([sliding, _], result) = self.roles();
        let extents = &self.arrays[result].extents;
        let names = [0, 1].map(|axis| self.names(operand, axis, element[axis]));
        let outside = if operand == sliding { Shows::No } else { Shows::Maybe };
        let shows = |axis: usize, i: i64| match axis.checked_sub(2) {
            None if names.iter().all(|n| agree(n, &self.names(result, axis, i))) => Shows::Yes,
            None => Shows::No,
            Some(_) if self.meets(axis, (operand, element[axis]), (result, i)) => Shows::Yes,
            Some(_) => outside,
        };
        Reach { axes: (0..extents.len()).map(|axis| (0..extents[axis]).map(|i| shows(axis, i)).collect()).collect() }
    }

    fn names(&self, array: usize, axis: usize, i: i64) -> Names {
        let [w, x, _] = &self.arrays;
        let groups = x.extents[1] / w.extents[1];
        let (inputs, outputs) = (w.extents[1], w.extents[0] / groups);
        match (array, axis) {
            (W, 0) | (Y, 1) => [None, Some(i / outputs), None, Some(i % outputs)],
            (W, _) => [None, None, Some(i), None],
            (X, 1) => [None, Some(i / inputs), Some(i % inputs), None],
            _ => [Some(i), None, None, None],
        }
    }

    /// Whether coordinates of two operands along a spatial axis belong to one of the third.
    fn meets(&self, axis: usize, a: (usize, i64), b: (usize, i64)) -> bool {
        let Window { stride, dilation, before, .. } = self.windows[axis - 2];
        let at = |array: usize| [a, b].iter().find(|(of, _)| *of == array).map(|(_, i)| *i);
        let (third, (at, by)) = match (at(W), at(X), at(Y)) {
            (None, Some(x), Some(y)) => (W, (x + before - y * stride, dilation)),
            (Some(w), None, Some(y)) => (X, (y * stride + w * dilation - before, 1)),
            (Some(w), Some(x), _) => (Y, (x + before - w * dilation, stride)),
            _ => return false,
        };
        at % by == 0 && (0..self.arrays[third].extents[axis]).contains(&(at / by))
    }
}

fn agree(a: &Names, b: &Names) -> bool {
    a.iter().zip(b).all(|(a, b)| a.is_none() || b.is_none() || a == b)
}

#[cfg(test)]
mod tests {
    use scalar::DType;

    use super::super::convolution::Array;
    use super::*;

    fn problem(kind: ConvolutionKind) -> Problem {
        let array = |extents: &[i64]| Array { extents: extents.to_vec(), strides: vec![1; extents.len()], alignment: 16 };
        let window = Window { stride: 2, dilation: 1, before: 1, after: 1 };
        let arrays = [array(&[6, 2, 3, 1]), array(&[2, 4, 5, 1]), array(&[2, 6, 3, 1])];
        let windows = vec![window, Window { stride: 1, before: 0, after: 0, ..window }];
        Problem { kind, dtype: DType::F32, windows, arrays, bias: None, activation: None }
    }

    #[test]
    fn data_reaches_its_group_and_the_windows_over_it() {
        use Shows::{No, Yes};
        let axes = problem(ConvolutionKind::Forward).reach(X, &[1, 2, 2, 0]).axes;
        assert_eq!(axes, [vec![No, Yes], vec![No, No, No, Yes, Yes, Yes], vec![No, Yes, No], vec![Yes]]);
    }

    #[test]
    fn filters_reach_their_channel_and_maybe_zeros_around() {
        use Shows::{Maybe, No, Yes};
        let axes = problem(ConvolutionKind::Forward).reach(W, &[4, 1, 0, 0]).axes;
        assert_eq!(axes, [vec![Yes, Yes], vec![No, No, No, No, Yes, No], vec![Maybe, Yes, Yes], vec![Yes]]);
    }

    #[test]
    fn gradients_reach_every_second_element() {
        use Shows::{Maybe, No, Yes};
        let axes = problem(ConvolutionKind::Data).reach(Y, &[0, 2, 1, 0]).axes;
        assert_eq!(axes, [vec![Yes, No], vec![Yes, Yes, No, No], vec![No, Yes, Yes, Yes, No], vec![Yes]]);
        let axes = problem(ConvolutionKind::Weights).reach(Y, &[0, 2, 2, 0]).axes;
        assert_eq!(axes, [vec![No, No, Yes, No, No, No], vec![Yes, Yes], vec![Yes, Yes, Maybe], vec![Yes]]);
        let axes = problem(ConvolutionKind::Weights).reach(X, &[0, 2, 4, 0]).axes;
        assert_eq!(axes, [vec![No, No, No, Yes, Yes, Yes], vec![Yes, No], vec![No, Yes, No], vec![Yes]]);
    }
}
