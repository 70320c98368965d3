"""Maps of vectors that are fitted on data, and applied to other data: numbers in, numbers out.

`moments` counts what all of them need in one pass, `methods` and `paired` fit from it, `affine` is what they
fit: one linear map with an offset for each language.
"""
