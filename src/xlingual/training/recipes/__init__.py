"""Recipes: what a paper trains, in terms of the shared losses, samplers and loop."""
