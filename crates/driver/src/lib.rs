//! The list of passes, executables, guards and reports.
