"""Comparison: is the difference real, may it ship, how much data would show it. Reads results only."""
