"""Encoders: texts or pictures to vectors, one adapter per file; they know no task."""
