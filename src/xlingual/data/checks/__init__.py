"""Checking manifests: counts, and findings that deserve a look."""
