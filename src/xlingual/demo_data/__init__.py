"""Demo data: images with texts in several languages, made from a seed, for demonstrations and tests.

`scenes` are described independently in each language; `recipes` are written in one language each. The
words of each language are in a TOML file.
"""
