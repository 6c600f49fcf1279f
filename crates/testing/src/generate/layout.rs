//! Views and concatenation.

use base::Result;
use graph::NodeId;
use scalar::{Scalar, Sym};

use super::Gen;

impl Gen<'_, '_> {
    pub(super) fn layout(&mut self) -> Result<Option<NodeId>> {
        let x = self.value();
        match self.choice.below(8) {
            0 => self.merge(x),
            1 => self.split(x),
            2 => self.permute(x).map(Some),
            3 => self.repeat(x).map(Some),
            4 => self.slice(x).map(Some),
            5 => self.flip(x),
            6 => self.pad(x).map(Some),
            _ => self.window(x),
        }
    }

    /// Two neighbouring axes become one.
    fn merge(&mut self, x: NodeId) -> Result<Option<NodeId>> {
        let mut shape = self.shape(x);
        if shape.len() < 2 {
            return self.b.reshape(x, std::iter::once(Sym::ONE).chain(shape)).map(Some);
        }
        let i = self.choice.below(shape.len() - 1);
        let right = shape.remove(i + 1);
        shape[i] = &shape[i] * &right;
        self.b.reshape(x, shape).map(Some)
    }

    /// An axis of an even number becomes two.
    fn split(&mut self, x: NodeId) -> Result<Option<NodeId>> {
        let mut shape = self.shape(x);
        match self.fixed_axis(x, 2) {
            Some((i, n)) if n % 2 == 0 && shape.len() < 5 => {
                shape[i] = Sym::from(n / 2);
                shape.insert(i + self.choice.below(2), Sym::from(2i64));
                self.b.reshape(x, shape).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn permute(&mut self, x: NodeId) -> Result<NodeId> {
        let mut perm: Vec<usize> = (0..self.shape(x).len()).collect();
        for i in (1..perm.len()).rev() {
            perm.swap(i, self.choice.below(i + 1));
        }
        self.b.permute(x, &perm)
    }

    /// A new axis of 1, repeated.
    fn repeat(&mut self, x: NodeId) -> Result<NodeId> {
        let mut shape = self.shape(x);
        if shape.len() >= 5 {
            return Ok(x);
        }
        let at = self.choice.below(shape.len() + 1);
        shape.insert(at, Sym::ONE);
        let flat = self.b.reshape(x, shape.clone())?;
        // A symbol must be bound by some input.
        let extent = self.extent();
        let bound = extent.vars().is_empty() || self.b.graph().inputs.iter().any(|i| i.ty.shape.contains(&extent));
        shape[at] = if bound { extent } else { Sym::from(2i64) };
        self.b.expand(flat, shape)
    }

    /// A part of every axis of fixed extent, and halves of symbolic ones.
    pub(super) fn slice(&mut self, x: NodeId) -> Result<NodeId> {
        let (mut start, mut len, mut step) = (Vec::new(), Vec::new(), Vec::new());
        for n in self.shape(x) {
            let cut = self.choice.chance(140);
            let (s, l, t) = match n.as_int() {
                Some(n) if cut && n > 0 => {
                    let s = self.choice.below(n as usize) as i64;
                    let t = 1 + self.choice.below(3) as i64;
                    (s, Sym::from((n - s - 1) / t + 1 - self.choice.below(2).min((n - s > t) as usize) as i64), t)
                }
                None if cut => (0, n.floor_div(&Sym::from(2i64)), 1),
                _ => (0, n, 1),
            };
            start.push(s);
            len.push(l);
            step.push(t);
        }
        self.b.slice(x, start, len, &step)
    }

    fn flip(&mut self, x: NodeId) -> Result<Option<NodeId>> {
        let axes: Vec<usize> = (0..self.shape(x).len()).filter(|_| self.choice.chance(140)).collect();
        if axes.is_empty() { Ok(None) } else { self.b.flip(x, &axes).map(Some) }
    }

    fn pad(&mut self, x: NodeId) -> Result<NodeId> {
        let rank = self.shape(x).len();
        let mut edge = || (0..rank).map(|_| self.choice.below(6).saturating_sub(3) as i64).collect::<Vec<_>>();
        let (lo, hi) = (edge(), edge());
        let interior: Vec<i64> =
            self.shape(x).iter().map(|n| i64::from(n.as_int().is_some() && self.choice.chance(40))).collect();
        let fill = *self.choice.pick(&[0.0, 1.0, -0.0, 2.0]);
        self.b.pad(x, lo, hi, &interior, Scalar::from_f64(self.b.dtype(x), fill))
    }

    fn window(&mut self, x: NodeId) -> Result<Option<NodeId>> {
        let Some((axis, n)) = self.fixed_axis(x, 2) else { return Ok(None) };
        let size = 1 + self.choice.below(n.min(3) as usize) as i64;
        let dilation = if (size - 1) * 2 < n { 1 + self.choice.below(2) as i64 } else { 1 };
        let stride = 1 + self.choice.below(3) as i64;
        if self.shape(x).len() >= 5 {
            return Ok(None);
        }
        self.b.window(x, axis, size, stride, dilation).map(Some)
    }

    /// x beside itself changed, along any axis.
    pub(super) fn concat(&mut self) -> Result<Option<NodeId>> {
        let x = self.value();
        let rank = self.shape(x).len();
        if rank == 0 {
            return Ok(None);
        }
        let axis = self.choice.below(rank);
        let mut parts = vec![x];
        for _ in 0..=self.choice.below(2) {
            let y = if self.choice.chance(128) { self.b.flip(x, &[axis])? } else { self.partner(x)? };
            let same = (0..rank).all(|i| i == axis || self.shape(y).get(i) == self.shape(x).get(i));
            parts.push(if same && self.shape(y).len() == rank { y } else { x });
        }
        if self.choice.chance(60) {
            let op = graph::Op::Materialize;
            parts[0] = self.b.add(op, &[parts[0]])?;
        }
        self.b.concat(&parts, axis).map(Some)
    }
}
