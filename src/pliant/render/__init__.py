"""Pictures and videos without a screen: shapes, camera, light, and the frames of a log."""

from pliant.render.robot_drawing import Drawing, Part, body_poses, drawing, points_of_contacts
from pliant.render.shapes import ground_mesh

__all__ = ["Drawing", "Part", "body_poses", "drawing", "ground_mesh", "points_of_contacts"]
