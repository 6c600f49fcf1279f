//! A value of the importer: a graph node, or something known that becomes one when needed.

use graph::{HostTensor, NodeId};
use scalar::Sym;

use crate::known::{Ints, Known};

/// A tensor while importing. At least one of the two is present.
#[derive(Clone, Debug, Default)]
pub(crate) struct Value {
    /// Its node in the current frame, if it has been made.
    pub(crate) node: Option<NodeId>,
    /// What is known about its elements.
    pub(crate) known: Option<Known>,
}

impl From<NodeId> for Value {
    fn from(node: NodeId) -> Value {
        Value { node: Some(node), known: None }
    }
}

impl From<Known> for Value {
    fn from(known: Known) -> Value {
        Value { node: None, known: Some(known) }
    }
}

impl From<Ints> for Value {
    fn from(ints: Ints) -> Value {
        Known::Ints(ints).into()
    }
}

impl Value {
    /// A constant under the given name.
    pub(crate) fn constant(name: &str, data: HostTensor) -> Value {
        Known::constant(name, data).into()
    }
    /// Its elements as integers, if known.
    pub(crate) fn ints(&self) -> Option<Ints> {
        self.known.as_ref().and_then(Known::ints)
    }
    /// Its elements as numbers, if all are constant.
    pub(crate) fn host(&self) -> Option<HostTensor> {
        self.known.as_ref().and_then(Known::host)
    }
    /// Its elements as a vector of integers, if known and of rank 0 or 1.
    pub(crate) fn vector(&self) -> Option<Vec<Sym>> {
        self.ints().filter(|i| i.shape.len() <= 1).map(|i| i.values)
    }
}
