"""Benchmarks: every speed claim, measured next to its peers in one run that checks what it times."""
