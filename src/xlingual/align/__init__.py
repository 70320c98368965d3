"""Maps that bring languages together, chosen among many: by translations, or by images alone.

`search` fits many transforms and chooses among them by a callback. The image pivot finds texts of different
items whose images look alike: `nodes` are the texts of each item in each language with its image, `pairs`
finds which of different items belong together, `maps` and `fit` bring their vectors together, `choose` says
which map, or none, without labels, `oracle` whether images can be told apart at all.
"""
