"""Simulations whose figures the docs quote: `python -m tests.simulations NAME [SIMULATIONS]`."""
