"""Every notebook of the repository, executed by Jupyter's kernel: no cell fails, and values show what they should."""

from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).parents[2]
BOOKS = sorted(p.relative_to(ROOT).as_posix() for part in ("docs", "examples") for p in (ROOT / part).rglob("*.ipynb"))


def test_there_are_some() -> None:
    assert BOOKS


@pytest.mark.parametrize("name", BOOKS)
def test_it_runs_and_shows_what_it_has(name: str, tmp_path: Path) -> None:
    book = nbformat.read(ROOT / name, as_version=4)
    nbformat.validate(book)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells), "stored without outputs"
    client = nbclient.NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()  # raises where a cell does
    outputs = [output for cell in cells for output in cell.outputs]
    assert cells and all(cell.execution_count for cell in cells)
    kinds = {output.output_type for output in outputs}
    assert kinds <= {"execute_result", "display_data", "stream"}, kinds
    said = [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    assert not said, "no warnings, no logs of servers"
    for cell in cells:
        lines = cell.source.strip().splitlines()
        if lines[-1].isidentifier() or ".plot(" in lines[-1] or ".replay(" in lines[-1]:
            shown = [kind for output in cell.outputs for kind in output.get("data", {})]
            assert {"text/html", "text/latex", "image/png", "image/svg+xml"} & set(shown), (
                f"{lines[-1]} shows no picture, table or formula"
            )
