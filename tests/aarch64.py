"""Pliant on an emulated ARM processor: kernels compiled and linked there, next to plain Python and this machine.

    make aarch64
    python tests/aarch64.py [-k WORD] [TEST ...]

It gets Debian's Python for arm64, the wheels of the dependencies and qemu-user into build/aarch64 (once, 800 MB;
needs apt-get and dpkg-deb, not root), and runs there what `_inside` says, then tests: those of `TESTS`, or the given
ones. The emulator takes ten times as long as a processor.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "aarch64"
TESTS = ("tests/compiler/test_program.py", "tests/compiler/test_slices.py")
PYTHON = "3.11"  # that of Debian 12
DEBIAN = (f"python{PYTHON}", "python3-distutils", "libstdc++6", "libgomp1", "zlib1g")
WHEELS = ("numpy", "llvmlite", "msgspec", "typer", "rich", "pytest", "hypothesis", "mpmath")
PLATFORMS = ("manylinux2014_aarch64", "manylinux_2_17_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64")

# kernels of two processors round alike, but for what one of them does not fuse, and contacts make that larger
TOLERANCE = 1e-9
PERIODS = 200


# ---- on this machine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", dest="word", help="only tests with this word")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("tests", nargs="*", default=TESTS)
    options = parser.parse_args()
    if options.inside:
        _inside()
        return
    if not (FOLDER / "ready").exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        _get_emulator()
        _get_python()
        (FOLDER / "ready").touch()
    _expected()
    _emulate(str(Path(__file__).resolve()), "--inside")
    chosen = ["-k", options.word] if options.word else []
    _emulate("-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, *options.tests)


def _get_emulator() -> None:
    if shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static"):
        return
    print("getting qemu-user-static", flush=True)
    (FOLDER / "emulator").mkdir()
    _run("apt-get", "download", "-q", "qemu-user-static", cwd=FOLDER / "emulator")
    for package in (FOLDER / "emulator").glob("*.deb"):
        _run("dpkg-deb", "-x", str(package), str(FOLDER / "emulator"))


def _get_python() -> None:
    print(f"getting Debian's Python {PYTHON} for arm64, and wheels", flush=True)
    apt = FOLDER / "apt"
    (apt / "lists" / "partial").mkdir(parents=True)
    (apt / "status").touch()
    options = {
        "APT::Architecture": "arm64", "APT::Architectures::": "arm64", "Acquire::Languages": "none",
        "APT::Sandbox::User": "", "Debug::NoLocking": "true", "Dir::State::Lists": apt / "lists", "Dir::Cache": apt,
        "Dir::State::status": apt / "status",
    }  # fmt: skip
    settings = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    _run("apt-get", *settings, "-q", "update")
    _run("apt-get", *settings, "-q", "-y", "--no-install-recommends", "--download-only", "install", *DEBIAN)
    for package in sorted((apt / "archives").glob("*.deb")):
        _run("dpkg-deb", "-x", str(package), str(FOLDER / "root"))
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    target = ["--target", str(FOLDER / "site"), "--python-version", PYTHON, "--only-binary=:all:", *platforms]
    _run(sys.executable, "-m", "pip", "install", "-q", *target, *WHEELS)


def _expected() -> None:
    """What this machine makes: object files for the other one, and a run of each robot."""
    import numpy as np

    from cross_compiled import ROBOTS, objects, period, simulation
    from pliant.compiler import native

    made = {}
    for robot in ROBOTS:
        sim = simulation(robot)
        made[f"{robot} run"] = _run_of(sim)
        codes = objects(period(sim), native.level("aarch64"), "float64")
        made |= {f"{robot} object {k}": np.frombuffer(code, np.uint8) for k, code in enumerate(codes)}
    np.savez(FOLDER / "expected.npz", **made)


def _emulate(*arguments: str) -> None:
    found = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    emulator = found or str(FOLDER / "emulator" / "usr" / "bin" / "qemu-aarch64-static")
    root = FOLDER / "root"
    paths = [FOLDER / "site", ROOT / "src", ROOT / "tests"]
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(FOLDER), "PYTHONHOME": str(root / "usr"),
        "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1", "PLIANT_PROCESSOR": "aarch64",
        "PLIANT_CACHE_DIR": str(FOLDER / "kernels"),
    }  # fmt: skip
    python = root / "usr" / "bin" / f"python{PYTHON}"
    _run(emulator, "-L", str(root), str(python), *arguments, env=environment, cwd=ROOT, is_shown=True)


def _run(*command: str, is_shown: bool = False, **options) -> None:
    ran = subprocess.run(command, **({} if is_shown else {"capture_output": True, "text": True}), **options)
    if ran.returncode:
        shown = "" if is_shown else f":\n{ran.stdout}{ran.stderr}"
        sys.exit(f"{' '.join(command)} failed{shown}")


# ---- on both


def _run_of(sim, objects: Sequence[bytes] | None = None):
    """States while a robot falls, hits the floor and slips: (periods, size)."""
    import numpy as np

    from cross_compiled import period
    from native_code import Native

    sim.reset(v=0.3 * np.sin(1.0 + np.arange(sim.robot.nv)))
    run = Native(period(sim), 2, objects=objects)
    given = [sim.state.data[None], np.zeros((1, PERIODS, sim.robot.nu))]
    found = dict(zip(run.program.outputs, run(*given, rounds=[PERIODS]), strict=True))
    return np.hstack([found["rows of q"][0], found["rows of v"][0]])


# ---- on the emulated processor


def _inside() -> None:
    import platform

    import numpy as np

    import pliant
    from cross_compiled import ROBOTS, objects, period, simulation
    from pliant.compiler import native

    assert platform.machine() == "aarch64"
    machine = native.machine()
    assert (machine.vector_bytes, machine.has_fma) == (16, True)
    expected = np.load(FOLDER / "expected.npz")
    for name in ROBOTS:
        robot = pliant.load(name)
        rng = np.random.default_rng(0)
        q, v, tau = [rng.uniform(-1, 1, (7, n)) for n in (robot.nq, robot.nv, robot.nv)]
        q[:] = [robot.integrate(robot.neutral(), x) for x in v]
        plain = [
            pliant.dynamics.forward_dynamics.algorithm(robot, *map(list, row)) for row in zip(q, v, tau, strict=True)
        ]
        for precision, tolerance in (("float64", 1e-11), ("float32", 1e-3)):
            kernel = pliant.dynamics.compile(pliant.dynamics.forward_dynamics, robot, precision=precision)
            vd = kernel(*(x.astype(precision) for x in (q, v, tau)))
            error = np.max(abs(vd - plain) / np.max(np.abs(plain), axis=1, keepdims=True))
            assert error < tolerance, (name, precision, error)
            print(f"{name:14} {precision}, {kernel.lanes} lanes: {error:.1e} from plain Python", flush=True)
        sim = simulation(name)
        theirs = [expected[key].tobytes() for key in expected.files if key.startswith(f"{name} object")]
        if name == "pendulum":
            assert objects(period(sim), machine, "float64") == theirs, "object files of another machine differ"
        states = _run_of(sim, theirs)
        error = abs(states - expected[f"{name} run"]).max()
        assert error < TOLERANCE, (name, error)
        print(f"{name:14} {PERIODS} periods by object files of the other machine: {error:.1e} from its own", flush=True)


if __name__ == "__main__":
    main()
