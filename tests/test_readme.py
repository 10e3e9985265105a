"""The Python of README.md and of every page in docs/ runs, and prints what the page says it prints.

The blocks of a page run one after the other in one namespace, in an empty folder. A ``text`` block right
after a ``python`` block is what that one prints. Lines of ``sh`` blocks that begin with ``pliant`` run as well, in
another folder; only windows stay closed, videos are small, and trainings end after one update.
"""

import ast
import contextlib
import io
import linecache
import re
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import pliant
from pliant import learn
from pliant.cli import main
from pliant.learn import replaying
from pliant.render import video
from pliant.tasks import training
from pliant.viewer import viewer

ROOT = Path(__file__).parents[1]
PAGES = sorted(p.relative_to(ROOT).as_posix() for p in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>[\w+-]*)[^\n]*\n(?P<body>.*?)^(?P=fence)[ ]*$\n?", re.M | re.S)


class Snippet(NamedTuple):
    """A block of Python on a page, with the line it starts on and what the page says it prints."""

    line: int
    code: str
    printed: str | None


def snippets(text: str) -> Iterator[Snippet]:
    blocks = list(FENCE.finditer(text))
    for block, following in zip_longest(blocks, blocks[1:]):
        if block["language"] != "python":
            continue
        printed = None
        if following is not None and following["language"] == "text":
            between = text[block.end() : following.start()]
            printed = following["body"] if not between.strip() else None
        yield Snippet(text.count("\n", 0, block.start()) + 2, block["body"], printed)


@pytest.mark.parametrize("page", PAGES)
def test_python_of_the_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    with np.printoptions(precision=8, suppress=False, linewidth=120):
        for snippet in snippets((ROOT / page).read_text(encoding="utf-8")):
            where = f"{page}:{snippet.line}"
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                _run(snippet.code, where, namespace)
            if snippet.printed is not None:
                assert _tidy(printed.getvalue()) == _tidy(snippet.printed), f"{where} prints something else"


def _run(code: str, where: str, namespace: dict[str, object]) -> None:
    """Run a block with its place on the page in the traceback."""
    linecache.cache[where] = (len(code), None, code.splitlines(keepends=True), where)
    exec(compile(ast.parse(code, where), where, "exec"), namespace)


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def commands(text: str) -> Iterator[list[str]]:
    """Words of the lines of ``sh`` blocks that call the program."""
    for block in FENCE.finditer(text):
        if block["language"] == "sh":
            for line in block["body"].splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] == ["pliant"]:
                    yield words[1:]


WITH_COMMANDS = [page for page in PAGES if any(commands((ROOT / page).read_text(encoding="utf-8")))]


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands_of_the_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    seen = []
    for name in ("view_log", "view_robot"):
        monkeypatch.setattr(viewer, name, lambda shown, *_, **__: seen.append(shown))
    monkeypatch.setattr(replaying, "view", lambda policy, *_, **__: seen.append(policy))
    monkeypatch.setattr(video, "to_video", partial(_small_video, video.to_video))
    monkeypatch.setattr(training, "ppo", lambda env, **options: learn.ppo(env, **{**options, "steps": 1}))
    asked = 0
    for words in commands((ROOT / page).read_text(encoding="utf-8")):
        with pytest.raises(SystemExit) as end:
            main(words)
        out, err = capsys.readouterr()
        assert not end.value.code, f"{page}: pliant {' '.join(words)}\n{err}"
        opens = words[0] == "view" or "--view" in words
        opens |= words[0] == "play" and not {"--video", "--log", "--events"} & set(words)
        assert out.strip() or opens, f"{page}: pliant {' '.join(words)} says nothing"
        asked += opens
        for option, path in pairwise(words):
            if option in ("--log", "--plot", "--video", "--html", "--report"):
                assert Path(path).stat().st_size > 0
    assert len(seen) == asked, "what was to be seen was shown"


def _small_video(to_video: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    return to_video(*arguments, **{**options, "size": (64, 36), "fps": 5})


def test_readme_shows_code_and_commands_and_leads_to_all_as_does_the_site() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(list(snippets(text))) >= 1
    assert len(list(snippets((ROOT / "docs" / "tour.md").read_text(encoding="utf-8")))) >= 5
    assert len(list(commands(text))) >= 5
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(re.findall(r"\(examples/(\w+\.py)\)", text))
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages == set(re.findall(r"\S+\.md", navigation)), "pages in docs/, and in the nav of mkdocs.yml"


def test_what_is_printed_is_compared() -> None:
    followed = "```python\nprint(1)\n```\n\n```text\n1\n```\n"
    alone = "```python\nx = 1\n```\n\nSome words.\n\n```text\nnot of x\n```\n"
    page = f"{followed}\n{alone}"
    assert list(snippets(page)) == [Snippet(2, "print(1)\n", "1\n"), Snippet(10, "x = 1\n", None)]
    # comments and other programs are no commands
    page = "```sh\nmake demo\npliant run hopper  # it hops\n\n# pliant view hopper\n```\n\n```\npliant robots\n```\n"
    assert list(commands(page)) == [["run", "hopper"]]


def test_links_lead_somewhere() -> None:
    broken = []
    for page in PAGES:
        text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            is_local = "://" not in target and not target.startswith("#")
            if is_local and not ((ROOT / page).parent / target.partition("#")[0]).exists():
                broken.append(f"{page} links to {target}")
    assert broken == []


def test_reference_has_every_public_name() -> None:
    # a page shows the names in __all__ of its package; one that is also the name of a module needs a line of its own
    pages = {page.stem: page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md")}
    for name, page in pages.items():
        assert re.findall(r"^::: (pliant\.[a-z]+)", page, re.M)[0] == f"pliant.{name}"
    for name, home in pliant._homes().items():
        package, _, module = home.removeprefix("pliant.").partition(".") if home != "pliant" else (name, "", "")
        assert package in pages, f"docs/api has no page of pliant.{package}, where {name} is"
        is_module = home != "pliant" and (ROOT / "src" / "pliant" / package / f"{name}.py").exists()
        if module or is_module:
            shown = f"::: {home}" if module else f"::: {home}.{name}"
            assert f"{shown}\n" in pages[package], f"docs/api/{package}.md does not show {name}"
