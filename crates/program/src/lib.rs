//! What a device executes: tile programs for the CPU.
