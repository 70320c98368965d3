"""Answers from a multilingual pool (LAReQA): one pass, and every view of language bias that follows."""
