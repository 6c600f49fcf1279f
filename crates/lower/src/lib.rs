//! Comp and sizes to tile program: loop structure, vector axis, tiles, stages.
//!
//! * `lin`: concrete index expressions over loop axes
//! * `flat`: a comp with every size bound, its axes merged and split so that accesses are affine
//! * `parts`: a domain cut where selections decide
//! * `schedule`: which axes are the grid, the rows and the columns
//! * `partial`: reductions over parallel axes, in a main and a finish phase
//! * `meet`: stores to one element from several points
//! * `coalesce`: inner axes of different lengths as one
//! * `nest`, `gemm`: stages and instructions
//!
//! Pure and quick (microseconds a kernel): executables lower again for each new size.

mod coalesce;
mod cuda;
mod emit;
mod flat;
mod gemm;
mod lin;
mod meet;
mod nest;
mod partial;
mod parts;
mod schedule;
mod stages;

use base::{Error, Numerics, Result};
pub use cuda::{Choice, lower_cuda};
use kernel::Comp;
use program::{Access, Param, Phase, TileProgram};
use scalar::Var;

/// Where an argument lies: element offset and stride per logical axis, and the elements of its buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Element offset of index 0.
    pub offset: i64,
    /// Element stride per axis.
    pub strides: Vec<i64>,
    /// Elements of the whole buffer.
    pub elements: u64,
}

impl Layout {
    /// Row-major, from the start of its own buffer.
    pub fn contiguous(shape: &[i64]) -> Layout {
        let mut strides = vec![1; shape.len()];
        for d in (1..shape.len()).rev() {
            strides[d - 1] = strides[d] * shape[d].max(1);
        }
        Layout { offset: 0, strides, elements: shape.iter().map(|&n| n.max(0) as u64).product() }
    }
}

/// One kernel to lower.
pub struct Request<'a> {
    /// Kernel name.
    pub name: &'a str,
    /// What it computes.
    pub comp: &'a Comp,
    /// Value of each dimension.
    pub dims: &'a dyn Fn(Var) -> Option<i64>,
    /// Layout of each argument.
    pub layouts: &'a [Layout],
    /// Rounding policy.
    pub numerics: Numerics,
}

/// Lowers a kernel for given sizes. Parameters beyond the comp's arguments are workspaces.
///
/// # Errors
/// What the tile program cannot express; the driver then falls back to smaller kernels.
pub fn lower(request: &Request<'_>) -> Result<TileProgram> {
    let parts = flat::flatten(request)?;
    let mut program =
        TileProgram { name: request.name.to_owned(), params: params(request), phases: Vec::new(), checks: Vec::new() };
    for flat in parts.into_iter().filter(|flat| !flat.stores.is_empty()) {
        let phases = match gemm::products(&flat) {
            Some(_) if flat.points(flat.parallel()) == 0 => Vec::new(),
            Some(products) => vec![Phase::Gemm(gemm::lower(&flat, &products, request.numerics, &mut program)?)],
            None => partial::lower(flat, request.numerics, &mut program)?,
        };
        side_by_side(&mut program.phases, phases);
    }
    Ok(program)
}

/// Adds the phases of one part of a domain: parts do not depend on each other, so that nests share phases.
fn side_by_side(all: &mut Vec<Phase>, phases: Vec<Phase>) {
    let is_nest = |p: &Phase| matches!(p, Phase::Nests(_));
    if !all.iter().chain(&phases).all(is_nest) {
        return all.extend(phases);
    }
    for (number, phase) in phases.into_iter().enumerate() {
        match (all.get_mut(number), phase) {
            (Some(Phase::Nests(beside)), Phase::Nests(nests)) => beside.extend(nests),
            (_, phase) => all.push(phase),
        }
    }
}

fn params(request: &Request<'_>) -> Vec<Param> {
    let comp = request.comp;
    let reads = |arg: usize| comp.values.iter().any(|v| matches!(&v.def, kernel::Def::Load { arg: a, .. } if *a == arg));
    let combines = |arg: usize| comp.stores.iter().any(|s| s.arg == arg && s.combine.is_some());
    comp.args
        .iter()
        .zip(request.layouts)
        .enumerate()
        .map(|(i, (arg, layout))| {
            let access = match (arg.written, reads(i) || combines(i)) {
                (false, _) => Access::Read,
                (true, false) => Access::Write,
                (true, true) => Access::ReadWrite,
            };
            Param { name: arg.name.clone(), dtype: arg.dtype, access, elements: layout.elements }
        })
        .collect()
}

pub(crate) fn unsupported(what: &str) -> Error {
    Error::unsupported(format!("lowering: {what}"))
}
