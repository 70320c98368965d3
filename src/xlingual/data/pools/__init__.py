"""Multilingual pools: questions, and candidates in several languages among which their answers are."""
