"""Sensors: the geometry and physics of what robots measure, over any scalar."""

__all__: list[str] = []
