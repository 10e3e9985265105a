"""Pictures and videos without a screen: shapes, camera, light, and the film of a log."""

from pliant.render.drawing import Drawing, Part, body_poses, drawing, ground_mesh, points_of_contacts

__all__ = ["Drawing", "Part", "body_poses", "drawing", "ground_mesh", "points_of_contacts"]
