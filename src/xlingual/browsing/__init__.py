"""Looking at results: a local server of pages, and a file of failures that needs none."""
