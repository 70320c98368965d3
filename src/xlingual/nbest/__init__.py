"""N-best lists of translations: their format, weights for their features, and what a choice is worth."""
