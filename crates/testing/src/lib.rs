//! Filetests, graph generator, differential runner, reducer.
