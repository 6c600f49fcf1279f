//! CPU device: memory, threads, the tile VM and its GEMM.
