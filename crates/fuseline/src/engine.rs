//! The one place that compiles and runs graphs.

use base::{Config, Result};
use graph::{HostTensor, Module, interp};

/// A compiled module.
pub(crate) struct Executable {
    module: Module,
}

impl Executable {
    pub(crate) fn compile(module: Module, _config: &Config) -> Result<Executable> {
        Ok(Executable { module })
    }
    /// Runs on the inputs that are not frozen, in slot order.
    pub(crate) fn run(&self, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
        let mut given = inputs.iter().cloned();
        let slots = self.module.graph.inputs.iter().enumerate();
        let all: Vec<HostTensor> = slots
            .filter_map(|(slot, decl)| if decl.frozen { self.frozen(slot) } else { given.next() })
            .collect();
        interp::run(&self.module.graph, &all, interp::Options::default())
    }
    fn frozen(&self, slot: usize) -> Option<HostTensor> {
        self.module.frozen.iter().find(|f| f.slot as usize == slot).map(|f| (*f.data).clone())
    }
    /// What was compiled.
    pub(crate) fn explain(&self) -> String {
        format!("{} nodes, interpreted\n", self.module.graph.nodes.len())
    }
}
