//! Tensor graphs: pure, typed, hash-consed, in topological order, with symbolic shapes.
//!
//! A graph has no device, stride, buffer, address or mutation. A node's type is known when the node exists.
//! Origins (the user's op and source line) are carried outside the hash.
//!
//! * [`Graph`], [`Node`], [`Op`], [`View`]: the data
//! * [`Builder`]: infers and interns, never rewrites; `compose` holds the composites (softmax, norms, conv, …)
//! * [`text`]: print and parse; [`verify()`]: checks every invariant; [`interp`]: the oracle

mod builder;
pub mod call;
pub mod compose;
mod data;
mod infer;
pub mod interp;
mod ir;
pub mod text;
mod verify;

pub use builder::Builder;
pub use data::HostTensor;
pub use ir::{
    At, ContractSpec, Frozen, Graph, Guard, InputDecl, Module, Node, NodeId, Op, Origin, OriginId, Output, Region, TensorType,
    Type, View, WriteCombine,
};
pub use verify::{dims, verify};
