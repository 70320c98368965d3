"""Data: manifests, samples, images and the built-in scenes."""
