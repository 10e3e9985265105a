"""Settings of all tests."""

from hypothesis import settings

# the same examples on every run and machine; slow machines are no failures
settings.register_profile("pliant", derandomize=True, deadline=None)
settings.load_profile("pliant")


def pytest_terminal_summary(terminalreporter) -> None:
    """Prints what tests say by ``record_property("note", text)``, also from parallel processes."""
    for report in terminalreporter.getreports("passed"):
        for name, text in report.user_properties:
            if name == "note" and report.when == "call":
                terminalreporter.write_line(text)
