"""Evaluations: one task per file, from vectors to results."""
