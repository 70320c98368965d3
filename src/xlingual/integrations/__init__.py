"""What other programs load: thin, each behind the extra of the program."""
