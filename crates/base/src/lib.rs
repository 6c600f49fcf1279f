//! Errors, remarks, configuration and lookup maps shared by every Fuseline crate.
//!
//! Nothing here knows tensors. [`Config::from_env`] is the only reader of the environment.

mod config;
mod error;
mod hash;
mod remark;

pub use config::{Config, LOG_TOPICS, Numerics};
pub use error::{Error, ErrorKind, Result};
pub use hash::{HashMap, HashSet, StableHasher, stable_hash};
pub use remark::{Code, Remark};
