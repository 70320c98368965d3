"""Suites: an evaluation in one file, of which only what changed is computed again."""
