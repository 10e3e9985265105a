"""Robots and logs in the browser: viewer, live mode and replay pages."""

from pliant.viewer.live import live
from pliant.viewer.replay import replay_page, to_html
from pliant.viewer.server import Viewer
from pliant.viewer.viewer import view_log, view_robot

__all__ = ["Viewer", "live", "replay_page", "to_html", "view_log", "view_robot"]
