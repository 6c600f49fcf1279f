//! Arrays of a convolution in memory: channels before or after the spatial axes.

/// One axis of an array in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dim {
    pub(super) extent: i64,
    /// Distance of neighbours, in elements.
    pub(super) stride: i64,
}

impl Dim {
    pub(super) fn new(extent: i64, stride: i64) -> Dim {
        Dim { extent, stride }
    }

    /// Both axes as one, this one outside; `None` if memory does not see them so.
    pub(super) fn over(self, inner: Dim) -> Option<Dim> {
        match (self.extent, inner.extent) {
            (1, _) => Some(inner),
            (_, 1) => Some(self),
            _ if self.stride == inner.stride * inner.extent => Some(Dim::new(self.extent * inner.extent, inner.stride)),
            _ => None,
        }
    }
}

/// Arrays whose axes are: two, the second of channels, then spatial ones.
pub(super) struct Layouts {
    pub(super) arrays: [Vec<Dim>; 3],
    /// Axes of each from the outermost to the innermost.
    orders: [Vec<usize>; 3],
}

impl Layouts {
    /// Fits arrays into memory, all with channels before or all with channels after the spatial axes where that is possible. Axes
    /// of one element get the strides that they would have.
    pub(super) fn fit(mut arrays: [Vec<Dim>; 3]) -> Option<Layouts> {
        let rank = arrays[0].len();
        let first: Vec<usize> = (0..rank).collect();
        let last: Vec<usize> = std::iter::once(0).chain(2..rank).chain([1]).collect();
        let alike = [&first, &last].into_iter().find(|order| arrays.iter().all(|a| nests(a, order)));
        let orders = match alike {
            Some(order) => [order.clone(), order.clone(), order.clone()],
            None => {
                let own = |a: &Vec<Dim>| [&first, &last].into_iter().find(|order| nests(a, order)).cloned();
                [own(&arrays[0])?, own(&arrays[1])?, own(&arrays[2])?]
            }
        };
        for (array, order) in arrays.iter_mut().zip(&orders) {
            let mut step = 1;
            for &a in order.iter().rev() {
                if array[a].extent == 1 {
                    array[a].stride = step;
                }
                step = array[a].stride * array[a].extent;
            }
        }
        Some(Layouts { arrays, orders })
    }

    /// Makes axes of one array as long as memory has them, by so many elements at most.
    pub(super) fn widen(&mut self, array: usize, axes: &[(usize, i64)]) {
        let (dims, order) = (&mut self.arrays[array], &self.orders[array]);
        for &(axis, most) in axes {
            let outer = order.iter().rev().skip_while(|&&a| a != axis).skip(1).find(|&&a| dims[a].extent > 1);
            let Some(room) = outer.map(|&a| dims[a].stride) else { continue };
            let Dim { extent, stride } = dims[axis];
            if extent > 1 && room % stride == 0 && (extent..=extent + most).contains(&(room / stride)) {
                dims[axis].extent = room / stride;
            }
        }
    }

    /// How many axes are farther apart than what lies between takes.
    pub(super) fn gaps(&self) -> usize {
        let of = |(dims, order): (&Vec<Dim>, &Vec<usize>)| {
            let long: Vec<Dim> = order.iter().map(|&a| dims[a]).filter(|d| d.extent > 1).collect();
            long.windows(2).filter(|w| w[0].stride != w[1].stride * w[1].extent).count()
        };
        self.arrays.iter().zip(&self.orders).map(of).sum()
    }
}

/// Whether each axis reaches over those inside of it, and the innermost is adjacent.
fn nests(dims: &[Dim], order: &[usize]) -> bool {
    let long: Vec<Dim> = order.iter().map(|&a| dims[a]).filter(|d| d.extent > 1).collect();
    let apart = long.windows(2).all(|w| w[0].stride >= w[1].stride * w[1].extent);
    apart && long.last().is_none_or(|d| d.stride == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(list: &[(i64, i64)]) -> Vec<Dim> {
        list.iter().map(|&(extent, stride)| Dim::new(extent, stride)).collect()
    }

    #[test]
    fn channels_may_be_first_or_last_but_nowhere_else() {
        let first = dims(&[(2, 60), (3, 20), (4, 5), (5, 1)]);
        let last = dims(&[(2, 60), (3, 1), (4, 15), (5, 3)]);
        assert!(Layouts::fit([first.clone(), first.clone(), first.clone()]).is_some());
        assert!(Layouts::fit([last.clone(), last.clone(), first.clone()]).is_some_and(|l| l.gaps() == 0));
        let turned = dims(&[(2, 60), (3, 20), (4, 1), (5, 4)]);
        let apart = dims(&[(2, 120), (3, 40), (4, 10), (5, 2)]);
        for bad in [turned, apart] {
            assert!(Layouts::fit([first.clone(), bad, first.clone()]).is_none());
        }
    }

    #[test]
    fn axes_of_one_element_follow_the_others() {
        let one = dims(&[(2, 20), (1, 0), (4, 5), (5, 1)]);
        let last = dims(&[(2, 60), (3, 1), (4, 15), (5, 3)]);
        let fitted = Layouts::fit([last.clone(), one.clone(), last]).unwrap();
        assert_eq!(fitted.arrays[1][1].stride, 1);
        let first = dims(&[(2, 60), (3, 20), (4, 5), (5, 1)]);
        assert_eq!(Layouts::fit([first.clone(), one, first]).unwrap().arrays[1][1].stride, 20);
    }

    #[test]
    fn an_axis_is_widened_to_what_memory_has() {
        let cut = dims(&[(2, 72), (3, 24), (3, 6), (5, 1)]);
        let mut layouts = Layouts::fit([cut.clone(), cut.clone(), cut]).unwrap();
        assert_eq!(layouts.gaps(), 6);
        layouts.widen(0, &[(3, 1), (2, 1)]);
        assert_eq!((layouts.arrays[0][3].extent, layouts.arrays[0][2].extent, layouts.gaps()), (6, 4, 4));
    }
}
