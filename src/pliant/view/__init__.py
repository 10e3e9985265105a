"""Robots and logs to look at: viewer, replay, plots, video, report. Big libraries are imported where they are used."""

from pliant.view.drawing import Drawing, Part, body_poses, drawing, ground_mesh, points_of_contacts
from pliant.view.live import live
from pliant.view.replay import replay_page, to_html
from pliant.view.stage import Viewer
from pliant.view.viewer import view_log, view_robot

__all__ = [
    "Drawing", "Part", "Viewer", "body_poses", "drawing", "ground_mesh", "live", "points_of_contacts", "replay_page",
    "to_html", "view_log", "view_robot",
]  # fmt: skip
