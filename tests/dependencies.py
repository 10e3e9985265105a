"""The lowest and the highest versions of all dependencies: installed, and tried. Run by hand, it needs the network.

    python tests/dependencies.py                 # both
    python tests/dependencies.py lowest --extras logs symbolic --python python3.11

Each goes into a virtual environment of its own in `build/dependencies`. The lowest versions are the bounds of
pyproject.toml, exactly; the highest are what pip finds. Then a smoke test tries the core, and one each extra.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "dependencies"

EXTRAS = ("symbolic", "logs", "export", "plots", "view", "video", "qp", "gym", "onnx", "xacro", "mjcf")

SMOKE = {
    "": """
        import numpy as np, pliant
        robot = pliant.load("quadruped")
        sim = pliant.Simulation(robot, dt=1e-3, ground=pliant.flat(), batch=3)
        q = np.asarray(robot.on_ground(robot.neutral()))
        sim.reset(q=q)
        log = sim.run(0.05)
        assert np.isfinite(log.q).all() and log.q.shape == (3, 51, robot.nq)
        assert np.allclose(pliant.mass_matrix(robot, q), np.transpose(pliant.mass_matrix(robot, q)))
    """,
    "symbolic": """
        import pliant, sympy
        found = pliant.symbolic.equations(pliant.load("pendulum"))
        assert sympy.sympify(found.M[0, 0]) != 0
    """,
    "logs": """
        import pliant, tempfile, pathlib
        log = pliant.Simulation(pliant.load("pendulum"), dt=0.01).run(0.1)
        path = pathlib.Path(tempfile.mkdtemp()) / "run.h5"
        log.save(path)
        assert pliant.load_log(path) == log
    """,
    "export": """
        import pliant, tempfile, pathlib
        log = pliant.Simulation(pliant.load("pendulum"), dt=0.01).run(0.1)
        folder = pathlib.Path(tempfile.mkdtemp())
        log.to_parquet(folder / "run.parquet"); log.to_mcap(folder / "run.mcap")
    """,
    "plots": """
        import matplotlib; matplotlib.use("agg")
        import pliant
        pliant.Simulation(pliant.load("pendulum"), dt=0.01).run(0.1).plot("q")
    """,
    "view": "import viser, PIL",
    "video": "import imageio_ffmpeg; imageio_ffmpeg.get_ffmpeg_exe()",
    "qp": """
        import numpy as np, pliant
        from pliant.constrained import unilateral_impact
        import daqp
    """,
    "gym": "import gymnasium, pliant.tasks.gym; gymnasium.make('Pliant/cartpole-balance-v0')",
    "onnx": """
        import onnx, pathlib, tempfile, pliant
        policy = pliant.tasks.trained("cartpole-balance")
        path = pathlib.Path(tempfile.mkdtemp()) / "p.onnx"
        policy.to_onnx(path); onnx.load(path)
    """,
    "xacro": "import xacrodoc",
    "mjcf": """
        import pathlib, pliant, tempfile
        path = pathlib.Path(tempfile.mkdtemp()) / "ball.xml"
        path.write_text("<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>")
        assert pliant.load(path).nv == 6
    """,
}


def requirements(extras: Sequence[str]) -> list[str]:
    """Those of the package and of some extras, as pyproject.toml has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = list(project["dependencies"])
    for extra in extras:
        found += project["optional-dependencies"][extra]
    return list(dict.fromkeys(found))


def lowest(requirement: str) -> str:
    """A requirement pinned to its lower bound."""
    match = re.fullmatch(r"([\w.-]+(?:\[[\w,]+\])?)\s*>=\s*([\w.]+)", requirement)
    if match is None:
        raise SystemExit(f"{requirement!r} has no lower bound of the form NAME>=VERSION")
    return f"{match[1]}=={match[2]}"


def tried(which: str, extras: Sequence[str], python: str) -> bool:
    """Install into an environment and try everything; prints a line for each."""
    home = FOLDER / which
    subprocess.run([python, "-m", "venv", "--clear", str(home)], check=True)
    run = str(home / "bin" / "python")
    wanted = requirements(extras)
    pins = [lowest(r) for r in wanted] if which == "lowest" else wanted
    pip = [run, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    upgrade = ["--upgrade"] if which == "highest" else []
    if subprocess.run([*pip, *upgrade, str(ROOT), *pins], cwd=ROOT).returncode != 0:
        print(f"{which}: cannot be installed together: {' '.join(pins)}")
        return False
    shown = subprocess.run([run, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True).stdout
    names = {re.split(r"[>=\[]", pin)[0].lower().replace("_", "-") for pin in pins}
    print(f"{which}:", *(line for line in shown.split() if line.split("==")[0].lower().replace("_", "-") in names))
    is_fine = True
    for name, script in {"": SMOKE[""], **{extra: SMOKE[extra] for extra in extras}}.items():
        lines = script.strip("\n").split("\n")
        indent = len(lines[0]) - len(lines[0].lstrip())
        text = "\n".join(line[indent:] for line in lines)
        done = subprocess.run([run, "-I", "-c", text], cwd=home, capture_output=True, text=True)
        is_fine &= done.returncode == 0
        print(f"  {name or 'core':<10}", "ok" if done.returncode == 0 else done.stderr.strip()[-400:], flush=True)
    return is_fine


def main() -> int:
    """Run it; the exit code is 1 if something does not work."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("which", nargs="*", help="lowest, highest (default: both)")
    parser.add_argument("--extras", nargs="*", choices=EXTRAS, default=list(EXTRAS))
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args()
    chosen = given.which or ["lowest", "highest"]
    if not set(chosen) <= {"lowest", "highest"}:
        parser.error("give lowest, highest or both")
    results = [tried(which, given.extras, given.python) for which in chosen]
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
