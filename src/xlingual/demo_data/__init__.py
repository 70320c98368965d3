"""Demo data: images with texts in several languages, made from a seed, for demonstrations and tests.

Each language describes the scenes independently; its words are in a TOML file.
"""
