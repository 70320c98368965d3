"""From pages of blocks to media: HTML, a terminal, Markdown, LaTeX, CSV, and what a notebook shows."""
