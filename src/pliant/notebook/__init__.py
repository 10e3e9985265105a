"""Displays of robots, logs, simulations and policies in notebooks: tables, pictures, and replays inside the page."""

from pliant.notebook.replay import Replay

__all__ = ["Replay"]
