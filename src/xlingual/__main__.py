"""`python -m xlingual` is the command line."""

from xlingual.cli.main import main

main()
