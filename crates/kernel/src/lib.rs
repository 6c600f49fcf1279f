//! What one kernel computes (Comp), the device it is for (Target) and what it costs (estimate).
