"""The site of the documentation: `make docs`. Pages of `docs/` as they are, and pages made of the code.

`commands`, `encoder_options`, `schemas` and `api` write pages of reference. `samples` runs the program for
sample reports. `__main__` puts all of it into build/docs, which mkdocs.yml makes a site of.
"""
