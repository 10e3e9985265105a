"""Files read and written safely: XML, TOML, packages of meshes, whole-file writes, and disks that fill up."""

__all__ = []
