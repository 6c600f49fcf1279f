//! Symbolic integers (contract; see the helper's implementation).
