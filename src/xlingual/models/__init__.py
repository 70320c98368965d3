"""What training makes: modules, vocabularies and the model folder; no loop, no data."""
