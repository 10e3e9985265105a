"""Methods that other layers bring are what they say, and cost nothing until they are asked for."""

import inspect
import subprocess
import sys

import numpy as np

import pliant


def test_help_shows_the_arguments_of_the_function_behind() -> None:
    log = pliant.Log(np.arange(3.0), {"q": np.zeros((3, 1))})
    robot = pliant.load("pendulum")
    for method, argument in (
        (log.plot, "path"), (log.to_video, "fps"), (log.save, "path"), (log.view, "traces"), (robot.to_image, "camera"),
        (robot.view, "q"), (robot.to_dh, "tolerance"), (pliant.Simulation.view, "gains"),
    ):  # fmt: skip
        parameters = inspect.signature(method).parameters
        assert argument in parameters
        assert "log" not in parameters and "robot" not in parameters
        assert "Args:" in (inspect.getdoc(method) or "")
    assert log.plot.__self__ is log


def test_they_are_imported_when_asked_for() -> None:
    code = (
        "import sys, numpy, pliant; log = pliant.Log(numpy.arange(3.0), {'q': numpy.zeros((3, 1))});"
        "assert 'pliant.plots.time_plots' not in sys.modules; log.plot; assert 'pliant.plots.time_plots' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
