"""Files read and written safely: XML, TOML, whole-file writes, and disks that fill up."""

__all__ = []
