//! Graph to plan: index maps, legality, choice of fusion groups, buffers.
