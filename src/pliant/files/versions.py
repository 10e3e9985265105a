"""The versions of what numbers depend on."""

import platform
import sys

import numpy as np


def versions() -> dict[str, str]:
    """The versions of Pliant and of the libraries on which its numbers depend."""
    import llvmlite

    import pliant

    return {
        "pliant": pliant.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "llvmlite": llvmlite.__version__,
        "platform": f"{sys.platform} {platform.machine()}",
    }
