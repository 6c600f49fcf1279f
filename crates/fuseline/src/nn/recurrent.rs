//! LSTM and GRU.

use base::{Error, Result};
use scalar::Shape;

use super::vars::{Init, Vars};
use crate::op::{Composite, Op};
use crate::param::Param;
use crate::promote::Number;
use crate::tensor::{Recorded, Tensor, user_op};

/// Weights of one layer.
#[derive(Clone, Debug)]
struct Cell {
    weights: [Param; 4],
}

impl Cell {
    fn new(vars: &Vars, layer: usize, inputs: usize, hidden: usize, gates: usize) -> Result<Cell> {
        let init = Init::Uniform(1.0 / (hidden.max(1) as f32).sqrt());
        let make = |name: &str, shape: &[usize]| vars.param(&format!("{name}_l{layer}"), shape, init);
        let rows = gates * hidden;
        Ok(Cell {
            weights: [
                make("weight_ih", &[rows, inputs])?,
                make("weight_hh", &[rows, hidden])?,
                make("bias_ih", &[rows])?,
                make("bias_hh", &[rows])?,
            ],
        })
    }
    fn tensors(&self) -> [Tensor; 4] {
        self.weights.each_ref().map(Param::tensor)
    }
}

/// Initial state of zeros for x `[T, N, I]`.
fn zeros(x: &Tensor, hidden: usize) -> Recorded<Tensor> {
    if x.ok()?.rank() != 3 {
        return Err(Error::invalid(format!("needs x [steps, batch, features], got {}", x.ty())).into());
    }
    let shape: Shape = [x.size(1), scalar::Sym::from(hidden as i64)].into_iter().collect();
    Ok(Tensor::constant(Number::Int(0), x.dtype()).expand(shape))
}

/// Stacked LSTM layers over x `[steps, batch, features]` (PyTorch's gate order i, f, g, o).
#[derive(Clone, Debug)]
pub struct Lstm {
    layers: Vec<Cell>,
    hidden: usize,
}

impl Lstm {
    /// `layers` layers of `hidden` units.
    ///
    /// # Errors
    /// As [`Vars::param`].
    pub fn new(vars: &Vars, inputs: usize, hidden: usize, layers: usize) -> Result<Lstm> {
        let cell = |l| Cell::new(vars, l, if l == 0 { inputs } else { hidden }, hidden, 4);
        Ok(Lstm { layers: (0..layers).map(cell).collect::<Result<_>>()?, hidden })
    }
    /// Outputs `[steps, batch, hidden]` and the last layer's final h and c `[batch, hidden]`; states start at 0.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> (Tensor, Tensor, Tensor) {
        user_op("lstm", || {
            let zero = zeros(x, self.hidden)?;
            let mut out = (x.clone(), zero.clone(), zero.clone());
            for cell in &self.layers {
                let [wi, wh, bi, bh] = cell.tensors();
                let op = Op::Compose(Composite::Lstm { bias: true, reverse: false });
                let parts = Tensor::apply_many(op, &[&out.0, &zero, &zero, &wi, &wh, &bi, &bh])?;
                out = (parts[0].clone(), parts[1].clone(), parts[2].clone());
            }
            Ok(out)
        })
    }
}

/// Stacked GRU layers over x `[steps, batch, features]` (PyTorch's gate order r, z, n).
#[derive(Clone, Debug)]
pub struct Gru {
    layers: Vec<Cell>,
    hidden: usize,
}

impl Gru {
    /// `layers` layers of `hidden` units.
    ///
    /// # Errors
    /// As [`Vars::param`].
    pub fn new(vars: &Vars, inputs: usize, hidden: usize, layers: usize) -> Result<Gru> {
        let cell = |l| Cell::new(vars, l, if l == 0 { inputs } else { hidden }, hidden, 3);
        Ok(Gru { layers: (0..layers).map(cell).collect::<Result<_>>()?, hidden })
    }
    /// Outputs `[steps, batch, hidden]` and the last layer's final state `[batch, hidden]`; states start at 0.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> (Tensor, Tensor) {
        user_op("gru", || {
            let zero = zeros(x, self.hidden)?;
            let mut out = (x.clone(), zero.clone());
            for cell in &self.layers {
                let [wi, wh, bi, bh] = cell.tensors();
                let op = Op::Compose(Composite::Gru { bias: true, reverse: false });
                let parts = Tensor::apply_many(op, &[&out.0, &zero, &wi, &wh, &bi, &bh])?;
                out = (parts[0].clone(), parts[1].clone());
            }
            Ok(out)
        })
    }
}
