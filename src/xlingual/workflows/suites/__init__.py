"""Suites: data sets, encoders, tasks, comparisons and gates in one file, of which only what changed is computed."""
