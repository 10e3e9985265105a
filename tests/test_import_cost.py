"""``import pliant`` leaves the big libraries alone: they are imported where they are used.

No time is asserted (machines differ); `make bench` measures it.
"""

import json
import subprocess
import sys

HEAVY = [
    "sympy", "llvmlite", "numba", "scipy", "matplotlib", "trimesh", "yourdfpy", "xacrodoc", "pinocchio", "mujoco",
    "h5py", "viser", "gymnasium", "coal", "lxml", "rich", "typer", "multiprocessing", "asyncio",
]  # fmt: skip


def test_import_leaves_big_libraries_alone() -> None:
    code = "import json, sys; import numpy; before = set(sys.modules); import pliant, pliant.formats; "
    code += "print(json.dumps(sorted(set(sys.modules) - before)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    imported = {name.split(".")[0] for name in json.loads(run.stdout)}
    assert "pliant" in imported
    assert not imported & set(HEAVY)
