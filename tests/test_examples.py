"""Every example runs, and prints what it promises. Each also checks its own physics and fails if it is off."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))

# what each must print, as regular expressions
PROMISES = {
    "00_demo.py": [
        r"quadruped: 12\.0 kg, nq = 19, nv = 18, nu = 12 motors",
        r"energy \S+ J kept to \d\.\de-(0[6-9]|1\d)",
        r"pendulum from horizontal: after the closed form's period it is back to \d\.\de-(09|1\d) rad",
        r"M11 = 0\.6\*cos\(q2\) \+ 1\.0",
        r"biped +\d+ +\d+ +\S+ s +\d+ ns/robot +\d+ ns/robot",
    ],
    "01_your_robot.py": [
        r"Robot 'leg': nq = 3, nv = 3, nu = 2, 3 bodies, 3 kg",
        r"foot at \[ 0\. +0\. +-0\.3301\] m",
        r"rail -?0\.0000 N, hip 0\.5650 N m, knee 3\.2238 N m",
        r"add 0\.250 kg",
        r"RobotError: body 'plate': .* break the triangle inequality",
        r"repair=True: mended: body 'plate'",
        r"odd: body 'arm' \(line 3\)",
        r"guessed: joint 'pivot' \(line 8\)",
        r"dropped: <gazebo> \(line 10\)",
        r"strict=True: \S*dirty\.urdf:8: joint 'pivot'",
    ],
    "02_batch.py": [
        r"one:   q \(19,\) -> vd \(18,\)",
        r"many:  q \(4096, 19\) -> vd \(4096, 18\), M \(4096, 18, 18\)",
        r"KernelError: forward_dynamics: q has 4096 robots but v has 10",
        r"4096 robots: \d+ ns a robot",
        r"alone: identical\nin reverse order: identical\non two threads: identical",
        r"differ by \de-0[5-9]",
        r"robots with NaN in their result: \[1234\]\nresults of the others: identical",
    ],
    "03_derivatives.py": [
        r"A\[3, 1\] = 15\.791707317073, by hand .* = 15\.791707317073",
        r"d vd / d hinge +of 1000 robots agrees to \de-(09|1\d)",
        r"after 5 s, at most 0\.0\d+ degrees off",
        r"by gradient descent: 0\.\d+ m -> 0\.0\d+ m",
    ],
}


def test_every_example_has_its_promises() -> None:
    assert list(PROMISES) == EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_prints_what_it_promises(name: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / name)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    for promise in PROMISES[name]:
        assert re.search(promise, run.stdout), f"{name} did not print {promise!r}:\n{run.stdout}"
    assert not list(tmp_path.iterdir()), "an example leaves no files behind"
