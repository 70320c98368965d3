"""The products of training: modules, vocabularies and the model folder; no loop, no data."""
