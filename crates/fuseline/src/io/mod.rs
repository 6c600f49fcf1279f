//! Reading and writing tensors: safetensors, npy, npz.

mod npy;
mod safetensors;

pub use npy::{load_npy, load_npz, read_npy, save_npy, save_npz, write_npy};
pub(crate) use safetensors::data as safetensors_data;
pub use safetensors::{load_safetensors, save_safetensors};
