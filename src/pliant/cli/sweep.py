"""``pliant sweep``: a function at many points, from a TOML file, and how far it is."""

from typing import Annotated, Any

import typer

from pliant.cli.terminal import Json, number, print_json, print_pairs, say
from pliant.errors import PliantError


def sweep(
    file: Annotated[str | None, typer.Argument(metavar="FILE.toml", help="trial, space and options")] = None,
    status: Annotated[str | None, typer.Option(metavar="FOLDER", help="print how far the sweep in it is")] = None,
    on: Annotated[str | None, typer.Option(help="processes, ray or slurm, in place of the file's")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="how many, in place of the file's")] = None,
    out: Annotated[str | None, typer.Option(help="folder of the results, in place of the file's")] = None,
    redo: Annotated[
        list[str] | None, typer.Option(help="status to compute again: raised, timeout or killed; may be repeated")
    ] = None,
    table: Annotated[str | None, typer.Option(help="file of the table: .csv or .parquet (default FOLDER.csv)")] = None,
    json: Json = False,
) -> None:
    """Call a function at many points, on many processors.

    What has been computed is not computed again.
    """
    from pliant.cluster import load_sweep, status_of
    from pliant.cluster.settings_file import read_sweep
    from pliant.cluster.sweeping import sweep as run

    if (file is None) == (status is None):
        cure = "pliant sweep FILE.toml, or pliant sweep --status FOLDER"
        raise PliantError("give either a file or --status", subject="pliant sweep", field="file", cure=cure)
    _check_table(table)
    if status is not None:
        found = status_of(status)
        if table is not None:
            _write(load_sweep(status), table)
        print_json(found) if json else _print_status(found)
        return
    given: dict[str, Any] = {"on": on, "workers": workers, "out": out, "redo": redo or None}
    arguments = read_sweep(file or "") | {name: x for name, x in given.items() if x is not None}
    made = run(**arguments)
    path = table or f"{made.folder}.csv"
    _write(made, path)
    if json:
        print_json({**made.counts, "folder": made.folder, "table": path})
        return
    _print_status(status_of(made.folder))
    for result in made.failures[:5]:
        say(f"  {result.status}: {result.values}: {result.error}")
    say(path)


def _check_table(path: str | None) -> None:
    if path is not None and not path.endswith((".csv", ".parquet")):
        raise PliantError(f"--table is {path!r}", subject="--table", field="table", cure="end it in .csv or .parquet")


def _write(table: Any, path: str) -> None:
    table.to_parquet(path) if path.endswith(".parquet") else table.to_csv(path)


def _print_status(found: dict[str, Any]) -> None:
    ended = ", ".join(f"{found[name]} {name}" for name in ("done", "raised", "timeout", "killed") if found[name])
    rows = [("trials", f"{found['trials']}: {ended or 'none yet'}, {found['left']} left")]
    if found["seconds a trial"] is not None:
        rows.append(("time", f"{number(found['seconds a trial'], 3)} s a trial"))
    rows.append(("running", "yes" if found["running"] else "no"))
    print_pairs(f"{found['trial']} in {found['folder']}", rows)
