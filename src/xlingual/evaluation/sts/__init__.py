"""Semantic textual similarity: do cosines of sentences follow what people say of how alike they are."""
