"""``pliant cache``: the compiled kernels on disk."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli.options import Json
from pliant.cli.terminal import print_json, print_pairs, say, size
from pliant.errors import PliantError

__all__ = ["cache"]


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="remove them")] = False,
    json: Json = False,
) -> None:
    """Print where compiled kernels are kept, how many and how large."""
    from pliant.compiler.native import cache_folder

    folder = cache_folder()
    files = _entries(folder)
    total = sum(_size(file) for file in files)
    about: dict[str, Any] = {"folder": None if folder is None else str(folder), "kernels": len(files), "bytes": total}
    if clear:
        about["removed"] = _removed(files)
    if json:
        print_json(about)
    elif folder is None:
        say("there is no cache: PLIANT_CACHE_DIR turns it off")
    elif clear:
        say(f"removed {about['removed']} kernels, {size(total)}, from {folder}")
    else:
        pairs = [("folder", str(folder)), ("kernels", f"{len(files)}"), ("size", size(total))]
        print_pairs("compiled kernels", pairs)
        say("\nThey are compiled again when they are needed; PLIANT_CACHE_DIR names another folder, or `off`.")


def _entries(folder: Path | None) -> list[Path]:
    """Object files, and parts of them that a killed process left behind."""
    if folder is None or not folder.is_dir():
        return []
    try:
        return sorted([*folder.glob("*.o"), *folder.glob(".writing-*")])
    except OSError as error:
        raise PliantError(f"cannot read the cache {folder}: {error.strerror}") from None


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # another process was quicker to remove it
        return 0


def _removed(files: list[Path]) -> int:
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise PliantError(f"cannot remove {file}: {error.strerror}") from None
    return len(files)
