//! Text form of plans.
