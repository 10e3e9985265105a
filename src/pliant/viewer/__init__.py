"""Robots and logs in the browser: viewer, live mode and replay pages."""

__all__ = []
