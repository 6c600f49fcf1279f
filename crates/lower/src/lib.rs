//! Comp and sizes to tile program: loop structure, vector axis, tiles, stages.
