"""Cross-lingual embeddings, measured on your own data."""
