"""``python -m pliant``: the command line."""

from pliant.cli import main

main()
