"""Measures: value objects that turn rank counts into numbers."""
