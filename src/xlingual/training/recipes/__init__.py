"""Recipes: the trainings of the papers, made of the shared losses, samplers and loop."""
