"""Approximate ranking in evaluations: what it can tell, and how far it is off, measured in every run."""
