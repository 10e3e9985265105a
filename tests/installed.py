"""What an installed Pliant must do with its core dependencies alone; `make wheel` runs it outside the source tree."""

import subprocess
import sys
import tempfile
from importlib import metadata, resources
from pathlib import Path

import pliant

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    here = Path(pliant.__file__).resolve()
    assert ROOT / "src" not in here.parents, f"this is the source, not an installed package: {here}"
    assert metadata.version("pliant") == pliant.__version__

    # what is not Python travels with the package
    package = resources.files("pliant")
    for name in ("py.typed", "__init__.pyi"):
        assert package.joinpath(name).is_file(), f"the wheel lacks {name}"
    source = {p.relative_to(ROOT / "src" / "pliant") for p in (ROOT / "src" / "pliant").rglob("*") if p.is_file()}
    there = {p.relative_to(here.parent) for p in here.parent.rglob("*") if p.is_file()}
    lacking = sorted(str(p) for p in source - there if "__pycache__" not in p.parts)
    assert not lacking, f"the wheel lacks {', '.join(lacking)}"

    # a shipped robot: dynamics there and back, and a drop onto the ground
    robot = pliant.load("quadruped")
    q, v = robot.neutral(), [0.1] * robot.nv
    tau = pliant.inverse_dynamics(robot, q, v, [0.2] * robot.nv)
    vd = pliant.forward_dynamics(robot, q, v, tau)
    assert abs(vd - 0.2).max() < 1e-9, vd
    q[2] = 1.0
    sim = pliant.Simulation(robot, ground=pliant.flat(), progress=False)
    sim.reset(q=q)
    log = sim.run(0.1)
    fall = 9.81 * 0.1**2 / 2
    assert abs(1 - fall - log.q[-1, 2]) < 1e-2, log.q[-1, 2]

    # what needs an extra says which
    try:
        pliant.equations(pliant.load("pendulum"))
    except pliant.PliantError as error:
        assert "pliant[symbolic]" in str(error), error
    else:
        raise AssertionError("sympy is there, though it is an extra")

    # the program
    program = Path(sys.executable).with_name("pliant")
    version = run(program, "--version")
    assert pliant.__version__ in version, version
    listed = run(program, "robots")
    assert "quadruped" in listed, listed
    assert "quadruped" in run(program, "info", "quadruped")
    print(f"installed: pliant {pliant.__version__} from {here.parent} works with its core dependencies")


def run(*command: object) -> str:
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=folder, timeout=120)
    assert ran.returncode == 0, f"{command}: {ran.stderr}"
    return ran.stdout


if __name__ == "__main__":
    main()
