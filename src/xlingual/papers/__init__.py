"""The papers: their studies, tables and figures by one command each, and their corpora."""
