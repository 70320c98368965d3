"""The core: reductions over similarities, never the matrix."""
