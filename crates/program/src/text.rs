//! Text form of tile programs.
