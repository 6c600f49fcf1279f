//! Errors, remarks, configuration, lookup maps, a cache and files on disk, shared by every Fuseline crate.
//!
//! Nothing here knows tensors. [`Config::from_env`] is the only reader of the environment.

mod config;
mod error;
mod hash;
mod recent;
mod remark;
mod stock;

pub use config::{Config, Convolutions, CudaConfig, DeviceId, LOG_TOPICS, Mode, Numerics};
pub use error::{Error, ErrorKind, Result};
pub use hash::{HashMap, HashSet, StableHasher, stable_hash};
pub use recent::Recent;
pub use remark::{Code, Remark};
pub use stock::{Stock, digest};
