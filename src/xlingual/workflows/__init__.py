"""Workflows: several rooms in one command."""
