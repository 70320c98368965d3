"""What other programs load, and results as they read them: thin, each behind the extra of the program."""
