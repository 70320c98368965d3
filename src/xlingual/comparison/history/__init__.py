"""Results over time in one SQLite file: recording, reading, what changed, and the baseline of a gate."""
