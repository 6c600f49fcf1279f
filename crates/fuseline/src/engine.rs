//! The one place that compiles and runs graphs.

use std::collections::BTreeMap;

use base::{Config, Result};
use graph::{Guard, HostTensor, Module};

/// A compiled module.
pub(crate) struct Executable(driver::Executable);

impl Executable {
    pub(crate) fn compile(module: &Module, config: &Config) -> Result<Executable> {
        driver::compile(module, config).map(Executable)
    }
    /// Runs on the inputs that are not frozen, in slot order.
    pub(crate) fn run(&self, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
        self.0.run(inputs)
    }
    /// What the sizes of a run must satisfy.
    pub(crate) fn guards(&self) -> &[Guard] {
        &self.0.graph().guards
    }
    /// The driver's report, at representative sizes.
    pub(crate) fn explain(&self) -> String {
        match self.0.report(&BTreeMap::new()) {
            Ok(report) => report.to_string(),
            Err(error) => format!("no report: {error}\n"),
        }
    }
}
