//! Graph to graph: simplification, in-place analysis.
