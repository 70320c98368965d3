"""Data: manifests, samples, pictures and the built-in scenes."""
