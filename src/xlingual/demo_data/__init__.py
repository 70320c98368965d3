"""Demo data: images with texts in several languages, made from a seed, for demonstrations and tests.

`scenes` are described independently in each language; `recipes` are told in one language each. The words of
each language stand in a TOML file.
"""
