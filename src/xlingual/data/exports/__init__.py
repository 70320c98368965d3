"""Exports of shops and databases as clean manifests, with a list of all that was changed."""
