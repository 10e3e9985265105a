"""Settings of all tests."""

from hypothesis import settings

# the same examples on every run and machine; slow machines are no failures
settings.register_profile("pliant", derandomize=True, deadline=None)
settings.load_profile("pliant")
