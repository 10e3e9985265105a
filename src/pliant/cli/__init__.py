"""The command line: ``pliant COMMAND ...``. What a command needs is imported when it runs."""

from pliant.cli.main import main

__all__ = ["main"]
