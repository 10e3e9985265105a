"""A newcomer's first hour, from an empty environment: install, play, every tutorial, a notebook, the documentation.

    make newcomer
    python tests/newcomer.py [--only install play tutorials notebook site]

Each step prints a line; the exit code is 1 if one fails. Environments lie in build/release.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from release_check import FOLDER, ROOT, CheckError, environment, main, run

PATIENCE = 900  # seconds
PAGES = sorted((ROOT / "docs" / "start").glob("*.md"))
FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^```$\n?", re.M | re.S)
BLOCK = "---- the next block of the page ----"
EXECUTE = """
import nbclient, nbformat, sys
book = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
print(sum(len(cell.get("outputs", ())) for cell in book.cells))
"""


def place(name: str = "newcomer") -> Path:
    return FOLDER / name / ("Scripts" if os.name == "nt" else "bin") / "python"


def check_install() -> str:
    """The wheel with its extras."""
    made = FOLDER / "newcomer-dist"
    run(Path(sys.executable), "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(made), str(ROOT))
    wheel = max(made.glob("*.whl"), key=os.path.getmtime)
    run(environment("newcomer", sys.executable), "-m", "pip", "install", "--quiet", f"{wheel}[all]")
    return run(place(), "-m", "pliant", "--version", cwd=FOLDER).strip()


def check_play() -> str:
    """A trained policy in the browser."""
    return f"answers at {_watched('play', 'quadruped', '--no-browser')}"


def check_tutorials() -> str:
    """Every page of docs/start: its Python prints what it says, its commands run."""
    done = []
    for page in PAGES:
        blocks = list(FENCE.finditer(page.read_text(encoding="utf-8")))
        with tempfile.TemporaryDirectory() as folder:
            _run_python(page, blocks, Path(folder))
            commands = [line for b in blocks if b["language"] == "sh" for line in b["body"].splitlines()]
            for words in (shlex.split(line, comments=True) for line in commands):
                if words[:1] == ["pliant"]:
                    is_shown = "--view" in words or words[1] in ("view", "play")
                    (_watched if is_shown else _run_program)(*words[1:], cwd=Path(folder))
        done.append(page.stem)
    return ", ".join(done)


def check_notebook() -> str:
    """A notebook, by the Jupyter of the environment."""
    run(place(), "-m", "pip", "install", "--quiet", "nbclient", "ipykernel")
    with tempfile.TemporaryDirectory() as folder:
        name = ROOT / "examples" / "notebooks" / "first_look.ipynb"
        count = run(place(), "-c", EXECUTE, str(name), cwd=Path(folder)).split()[-1]
    return f"{name.name}, {count} outputs"


def check_site() -> str:
    """The documentation as a site: its links, and its search in a browser."""
    python = environment("site", sys.executable)
    run(python, "-m", "pip", "install", "--quiet", f"{ROOT}[docs]", "playwright")
    built = FOLDER / "site-built"
    run(python, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(built))
    return "; ".join(run(python, str(ROOT / "tests" / "docs_site.py"), str(built)).strip().splitlines())


def _run_python(page: Path, blocks: list[re.Match[str]], folder: Path) -> None:
    """The Python of a page, one block after the other, next to what it says that they print."""
    code = [(k, b["body"]) for k, b in enumerate(blocks) if b["language"] == "python"]
    (folder / "page.json").write_text(json.dumps([text for _, text in code]), encoding="utf-8")
    script = (
        "import json, numpy as np\nnp.set_printoptions(precision=8, suppress=False, linewidth=120)\nplace = {}\n"
        "for text in json.load(open('page.json', encoding='utf-8')):\n"
        f"    exec(compile(text, 'page', 'exec'), place)\n    print({BLOCK!r}, flush=True)\n"
    )
    # functions that are compiled show their source in errors: files, not strings, as for a newcomer
    printed = run(place(), "-W", "ignore", "-c", script, cwd=folder).split(f"{BLOCK}\n")
    for (k, _), found in zip(code, printed, strict=False):
        follows = k + 1 < len(blocks) and blocks[k + 1]["language"] == "text"
        between = blocks[k].string[blocks[k].end() : blocks[k + 1].start()].strip() if follows else "none"
        if not between and _tidy(found) != _tidy(blocks[k + 1]["body"]):
            raise CheckError(f"{page.name} does not print what it says, but:\n{found}")


def _tidy(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _program(*words: str) -> list[str]:
    return [str(place().with_name("pliant")), *words]


def _surroundings() -> dict[str, str]:
    cleared = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    return cleared | {"BROWSER": "true", "PYTHONUNBUFFERED": "1"}


def _run_program(*words: str, cwd: Path) -> None:
    ran = subprocess.run(
        _program(*words), capture_output=True, text=True, cwd=cwd, env=_surroundings(), timeout=PATIENCE
    )
    if ran.returncode or not ran.stdout.strip():
        raise CheckError(f"pliant {' '.join(words)} ends with {ran.returncode}:\n{ran.stdout}{ran.stderr}")


def _watched(*words: str, cwd: Path = FOLDER) -> str:
    """Run what opens a page in the browser, until it answers; then Ctrl-C, which must end it well."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(_program(*words), stdout=said, stderr=said, cwd=cwd, env=_surroundings())
        try:
            end, address = time.monotonic() + PATIENCE, None
            while address is None:
                time.sleep(0.5)
                said.seek(0)
                text = said.read()
                address = re.search(r"http://[\w.]+:\d+", text)
                if address is None and (process.poll() is not None or time.monotonic() > end):
                    raise CheckError(f"pliant {' '.join(words)} shows no address:\n{text}")
            with urllib.request.urlopen(address[0], timeout=60) as answer:
                page = answer.read().decode(errors="replace")
            if "<html" not in page.lower():
                raise CheckError(f"pliant {' '.join(words)}: {address[0]} is no page")
            process.send_signal(signal.SIGINT)
            status = process.wait(timeout=120)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if status:
            said.seek(0)
            raise CheckError(f"pliant {' '.join(words)} ends with {status} after Ctrl-C:\n{said.read()}")
        return address[0]


STEPS: dict[str, Callable[[], str]] = {
    "install": check_install, "play": check_play, "tutorials": check_tutorials, "notebook": check_notebook,
    "site": check_site,
}  # fmt: skip


if __name__ == "__main__":
    main(__doc__, STEPS)
