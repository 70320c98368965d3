"""Public corpora, read from the folder that a person has downloaded."""
