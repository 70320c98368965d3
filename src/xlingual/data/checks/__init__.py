"""Checking manifests: counts, and warnings of what deserves a look."""
