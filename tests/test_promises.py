"""The page of promises names tests, and they exist."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "promises.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| .*\.py", line)]


def test_each_promise_has_a_test_that_exists() -> None:
    assert len(ROWS) > 30
    for row in ROWS:
        [name] = re.findall(r"`([\w/]+\.py(?:::\w+)?)`", row)
        file, _, function = name.partition("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        known = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert function in known if function else any(n.startswith("test_") for n in known), name


def test_bounds_on_the_page_are_those_of_the_code() -> None:
    from pliant.compiler.cache import MOST_BYTES
    from pliant.scalar.graph import MOST_OPERATIONS

    assert f"{MOST_OPERATIONS / 1e6:g} million operations" in PAGE
    command_line = (TESTS.parent / "docs" / "command_line.md").read_text(encoding="utf-8")
    assert f"default {MOST_BYTES / 1e9:g} GB" in command_line
    security = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
    from pliant.files import toml, xml
    from pliant.meshes import mesh_file

    for bound, unit in ((xml.MAX_BYTES, "16 MB"), (toml.MAX_BYTES, "1 MB"), (mesh_file.MAX_BYTES, "64 MB")):
        assert f"{bound // 10**6} MB" == unit and unit in security
