"""The command line: ``pliant COMMAND ...``. Each command imports the rest of Pliant when it runs."""

from pliant.cli.main import main

__all__ = ["main"]
