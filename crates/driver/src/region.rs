//! Control flow: body graphs compiled on their own.

use std::collections::BTreeMap;

use base::{Config, Error, Result};
use graph::{Graph, HostTensor, Module, NodeId, Op, Region};
use scalar::{Scalar, Var};

use crate::executable::Executable;

/// Executables of the bodies of a graph's regions.
pub(crate) struct Regions {
    bodies: BTreeMap<NodeId, Vec<Executable>>,
}

impl Regions {
    pub(crate) fn new(graph: &Graph, config: &Config) -> Result<Regions> {
        let mut bodies = BTreeMap::new();
        for id in graph.ids() {
            let graphs = match &graph.node(id).op {
                Op::Region(Region::If { then, other }) => vec![then, other],
                Op::Region(Region::Loop { body, .. }) => vec![body],
                _ => continue,
            };
            let compiled = graphs
                .into_iter()
                .map(|g| Executable::new(&Module { graph: Graph::clone(g), frozen: Vec::new() }, config))
                .collect::<Result<Vec<_>>>()?;
            bodies.insert(id, compiled);
        }
        Ok(Regions { bodies })
    }

    pub(crate) fn run(
        &self,
        node: NodeId,
        region: &Region,
        args: &[HostTensor],
        dims: &BTreeMap<Var, i64>,
    ) -> Result<Vec<HostTensor>> {
        let bodies = self.bodies.get(&node).ok_or_else(|| Error::internal(format!("region {node:?} was not compiled")))?;
        match region {
            Region::If { .. } => {
                let taken = if args[0].get(0).is_true() { &bodies[0] } else { &bodies[1] };
                taken.run(&args[1..])
            }
            Region::Loop { trip, carried, scanned, body } => {
                let trip = trip.eval(&|v| dims.get(&v).copied())?.max(0) as usize;
                run_loop(&bodies[0], body, trip, *carried, *scanned, args, dims)
            }
        }
    }
}

fn run_loop(
    body: &Executable,
    graph: &Graph,
    trip: usize,
    carried: usize,
    scanned: usize,
    args: &[HostTensor],
    dims: &BTreeMap<Var, i64>,
) -> Result<Vec<HostTensor>> {
    let mut state = args[..carried].to_vec();
    let sequences = &args[carried..carried + scanned];
    let captures = &args[carried + scanned..];
    let stacked = graph.outputs.len() - carried;
    let mut collected: Vec<Vec<u8>> = vec![Vec::new(); stacked];
    for step in 0..trip {
        let mut inputs = vec![HostTensor::from_scalars(scalar::DType::I64, &[], std::iter::once(Scalar::i64(step as i64)))];
        inputs.extend(state.iter().cloned());
        inputs.extend(sequences.iter().map(|s| slice(s, step)).collect::<Result<Vec<_>>>()?);
        inputs.extend(captures.iter().cloned());
        let mut results = body.run(&inputs)?;
        for (all, part) in collected.iter_mut().zip(results.drain(carried..)) {
            all.extend_from_slice(part.bytes());
        }
        state = results;
    }
    for (k, bytes) in collected.into_iter().enumerate() {
        let ty = graph.tensor(graph.outputs[carried + k].value);
        let mut shape = vec![trip];
        for s in &ty.shape {
            shape.push(s.eval(&|v| dims.get(&v).copied())?.max(0) as usize);
        }
        state.push(HostTensor::from_bytes(ty.dtype, &shape, bytes)?);
    }
    Ok(state)
}

/// One step of a scanned operand.
fn slice(sequence: &HostTensor, step: usize) -> Result<HostTensor> {
    let shape = &sequence.shape()[1..];
    let bytes = shape.iter().product::<usize>() * sequence.dtype().size();
    let all = sequence.bytes();
    let part = all.get(step * bytes..(step + 1) * bytes).ok_or_else(|| Error::invalid("a scanned operand is too short"))?;
    HostTensor::from_bytes(sequence.dtype(), shape, part.to_vec())
}
