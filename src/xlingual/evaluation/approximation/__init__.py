"""Approximate ranking in evaluations: which measures it serves, and its error, measured in every run."""
