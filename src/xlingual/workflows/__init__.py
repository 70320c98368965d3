"""Workflows: commands that join data, encoders, training and evaluation."""
