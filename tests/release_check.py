"""What must hold before a release: versions agree, and what would be published installs and works everywhere.

    make release-check
    python tests/release_check.py [--only versions package pythons dependencies docs]

Each step prints a line; the exit code is 1 if one fails. Environments lie in build/release. Pythons are those that are
found here, 3.11 or newer; systems other than this one are the business of the workflows.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "release"
LARGEST = 5_000_000
"""Bytes of a wheel: code, robots and small policies."""


class CheckError(Exception):
    """A step failed."""


def version() -> str:
    text = (ROOT / "src" / "pliant" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.M)
    assert found is not None
    return found[1]


def check_versions() -> str:
    """The package, CITATION.cff and the changelog name the same version."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    if f"\nversion: {version()}\n" not in citation:
        raise CheckError(f"CITATION.cff has another version than {version()}")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(rf"^## \[{re.escape(version())}\](.*?)(?=^## |\Z)", changes, re.M | re.S)
    if section is None:
        raise CheckError(f"CHANGELOG.md has no section [{version()}]")
    if "### Migration" not in section[1]:
        raise CheckError(f"section [{version()}] of CHANGELOG.md has no part 'Migration'")
    return f"version {version()}"


def check_package() -> str:
    """A source distribution, and a wheel built from it, with nothing that does not belong there."""
    tools = environment("tools", sys.executable)
    run(tools, "-m", "pip", "install", "--quiet", "hatchling")
    made = FOLDER / "dist"
    shutil.rmtree(made, ignore_errors=True)
    run(tools, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(made))
    source = next(made.glob("*.tar.gz"))
    run(tools, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(made), str(source))
    wheel = next(made.glob("*.whl"))
    with tarfile.open(source) as archive:
        inside = {Path(*Path(name).parts[1:]).as_posix() for name in archive.getnames()}
    lacking = {"LICENSE", "README.md", "CHANGELOG.md", "src/pliant/__init__.py", "tests/installed.py"} - inside
    if lacking:
        raise CheckError(f"the source distribution lacks {', '.join(sorted(lacking))}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        odd = [name for name in names if not name.startswith(("pliant/", f"pliant-{version()}.dist-info/"))]
        ours = [name for name in names if str(ROOT).encode() in archive.read(name)]
    if odd or ours:
        raise CheckError(f"the wheel has {', '.join(odd or ours)} (foreign files, or paths of this machine)")
    if wheel.stat().st_size > LARGEST:
        raise CheckError(f"the wheel has {wheel.stat().st_size} bytes, more than {LARGEST}")
    return f"{source.name} and {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB, {len(names)} files"


def check_pythons() -> str:
    """The wheel in an empty environment of each Python that is here."""
    there = pythons()
    for name, path in there.items():
        python = environment(name, path)
        run(python, "-m", "pip", "install", "--quiet", str(the_wheel()))
        run(python, "-I", str(ROOT / "tests" / "installed.py"), cwd=FOLDER)
    return ", ".join(there)


def check_dependencies() -> str:
    """The lowest and the newest versions of all dependencies, each extra tried: `tests/dependencies.py`."""
    printed = run(Path(sys.executable), str(ROOT / "tests" / "dependencies.py"))
    return ", ".join(
        line.partition(":")[0] for line in printed.splitlines() if line.startswith(("lowest:", "highest:"))
    )


def check_docs() -> str:
    """The demo and the pages of the first hour, with the wheel and the newest versions in a new environment."""
    python = environment("newest", sys.executable)
    # what the tests of pages import, beside the extras
    run(python, "-m", "pip", "install", "--quiet", f"{the_wheel()}[all]", "pytest", "hypothesis", "pin", "mujoco")
    run(python, "-I", str(ROOT / "examples" / "00_demo.py"), "--quick", "--out", str(FOLDER / "out"), cwd=FOLDER)
    pages = sorted(path.stem for path in (ROOT / "docs" / "start").glob("*.md"))
    selected = f"start and ({' or '.join(pages)})"
    test = str(ROOT / "tests" / "test_readme.py")
    run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", selected, test, cwd=FOLDER)
    return f"demo, {', '.join(pages)}"


def pythons() -> dict[str, str]:
    """Name and path of each Python here, 3.11 or newer: this one, those on the path, and those of pyenv."""
    found = {f"{sys.version_info.major}.{sys.version_info.minor}": sys.executable}
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in range(11, 20):
        name = f"3.{minor}"
        places = [*kept.glob(f"{name}.*/bin/python"), *filter(None, [shutil.which(f"python{name}")])]
        for path in places:
            works = subprocess.run([str(path), "-c", "import venv, ensurepip"], capture_output=True).returncode == 0
            if works:
                found.setdefault(name, str(path))
    return found


def environment(name: str, python: str) -> Path:
    """The Python of a virtual environment in build/release, made anew."""
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    run(Path(python), "-m", "venv", str(folder))
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def the_wheel() -> Path:
    wheels = list((FOLDER / "dist").glob("*.whl"))
    if not wheels:
        raise CheckError("there is no wheel in build/release/dist: run the step 'package' first")
    return wheels[0]


def run(python: Path, *arguments: str, cwd: Path = ROOT) -> str:
    """Run and return what it prints; nothing of our sources is on its path."""
    cleared = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    ran = subprocess.run([str(python), *arguments], capture_output=True, text=True, cwd=cwd, env=cleared)
    if ran.returncode:
        shown = "\n".join((ran.stdout + ran.stderr).strip().splitlines()[-15:])
        raise CheckError(f"{' '.join(arguments)} failed:\n{shown}")
    return ran.stdout


STEPS: dict[str, Callable[[], str]] = {
    "versions": check_versions, "package": check_package, "pythons": check_pythons,
    "dependencies": check_dependencies, "docs": check_docs,
}  # fmt: skip


def main(doc: str | None, steps: Mapping[str, Callable[[], str]]) -> None:
    """Run the steps that the command line names, all by default, print a line for each, and end with 1 if one fails."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=steps, default=list(steps))
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    failures = 0
    for name in options.only:
        about = (steps[name].__doc__ or "").strip().rstrip(".")
        try:
            print(f"  ok    {name}: {steps[name]()}", flush=True)
        except CheckError as error:
            failures += 1
            print(f"FAILED  {name}: {about}\n        {error}", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(__doc__, STEPS)
