//! Buffers, the caching pool that they come from, and strided arrays over them.

mod array;
mod buffer;
mod heap;
mod pool;
mod system;

pub use array::Array;
pub use buffer::{Buffer, Owner};
pub use pool::{Pool, PoolStats};
