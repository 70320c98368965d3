"""The image pivot: texts of different items whose images look alike bring languages together.

`nodes` are the texts of each item in each language with its image, `pairs` finds which of different items
belong together, `maps` and `fit` bring their vectors together, `choose` says which map, or none, without
labels, `oracle` whether images can be told apart at all.
"""
