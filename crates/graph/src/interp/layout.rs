//! Strided positions of a tensor's elements.

/// Where each element of a tensor lies in its data: `offset + Σ index[i] · strides[i]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Extents.
    pub(crate) shape: Vec<usize>,
    /// Elements between neighbours along each axis; 0 repeats, negative runs backwards.
    pub(crate) strides: Vec<isize>,
    /// Position of the element with index zero.
    pub(crate) offset: isize,
}

/// A run of equally spaced elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Position of the first element.
    pub(crate) start: isize,
    /// Elements between neighbours.
    pub(crate) stride: isize,
    /// Number of elements.
    pub(crate) len: usize,
}

impl Layout {
    /// Row-major from position 0.
    pub(crate) fn dense(shape: Vec<usize>) -> Layout {
        let mut strides = vec![0; shape.len()];
        let mut step = 1isize;
        for axis in (0..shape.len()).rev() {
            strides[axis] = step;
            step *= shape[axis].max(1) as isize;
        }
        Layout { shape, strides, offset: 0 }
    }
    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }
    /// Whether elements lie row-major without gaps.
    pub(crate) fn is_dense(&self) -> bool {
        let mut step = 1isize;
        for (&n, &s) in self.shape.iter().zip(&self.strides).rev() {
            if n != 1 && s != step {
                return false;
            }
            step *= n as isize;
        }
        true
    }
    /// The listed axes, with this offset.
    pub(crate) fn select(&self, axes: impl IntoIterator<Item = usize>) -> Layout {
        let (mut shape, mut strides) = (Vec::new(), Vec::new());
        for axis in axes {
            shape.push(self.shape[axis]);
            strides.push(self.strides[axis]);
        }
        Layout { shape, strides, offset: self.offset }
    }
    /// The same positions with unit axes dropped and neighbours merged where one stride spans both.
    fn merged(&self) -> Layout {
        let (mut shape, mut strides): (Vec<usize>, Vec<isize>) = (Vec::new(), Vec::new());
        for (&n, &s) in self.shape.iter().zip(&self.strides) {
            if n == 1 {
                continue;
            }
            match (shape.last_mut(), strides.last_mut()) {
                (Some(last), Some(step)) if *step == s * n as isize => {
                    *last *= n;
                    *step = s;
                }
                _ => {
                    shape.push(n);
                    strides.push(s);
                }
            }
        }
        Layout { shape, strides, offset: self.offset }
    }
    /// Visits all elements in row-major order as runs.
    pub(crate) fn rows(&self, mut visit: impl FnMut(Row)) {
        if self.len() == 0 {
            return;
        }
        let mut outer = self.merged();
        let (len, stride) = match (outer.shape.pop(), outer.strides.pop()) {
            (Some(n), Some(s)) => (n, s),
            _ => (1, 0),
        };
        outer.positions(|start| visit(Row { start, stride, len }));
    }
    /// Visits the position of each element in row-major order.
    pub(crate) fn positions(&self, mut visit: impl FnMut(isize)) {
        if self.len() == 0 {
            return;
        }
        let mut index = vec![0usize; self.shape.len()];
        let mut at = self.offset;
        loop {
            visit(at);
            let mut axis = self.shape.len();
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                index[axis] += 1;
                at += self.strides[axis];
                if index[axis] < self.shape[axis] {
                    break;
                }
                at -= self.strides[axis] * self.shape[axis] as isize;
                index[axis] = 0;
            }
        }
    }
    /// Positions of all elements in row-major order.
    pub(crate) fn table(&self) -> Vec<isize> {
        let mut table = Vec::with_capacity(self.len());
        self.positions(|at| table.push(at));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_cover_strided_and_empty_layouts() {
        let mut transposed = Layout::dense(vec![2, 3]).select([1, 0]);
        assert_eq!(transposed.table(), [0, 3, 1, 4, 2, 5]);
        assert!(!transposed.is_dense());
        transposed.shape[0] = 0;
        assert_eq!(transposed.table(), [] as [isize; 0]);
        let scalar = Layout::dense(vec![]);
        assert_eq!(scalar.table(), [0]);
        let mut rows = Vec::new();
        Layout::dense(vec![2, 1, 3]).rows(|r| rows.push((r.start, r.stride, r.len)));
        assert_eq!(rows, [(0, 1, 6)]);
        let repeated = Layout { shape: vec![2, 3], strides: vec![0, 1], offset: 4 };
        assert_eq!(repeated.table(), [4, 5, 6, 4, 5, 6]);
    }
}
