"""From pages of blocks to media: HTML, a terminal, Markdown, LaTeX and CSV."""
