"""N-best lists of translations: their format, weights for their features, and the BLEU of a choice."""
