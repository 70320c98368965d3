"""What the numbers say, in plain sentences: the verdicts of pages, and what they share."""
