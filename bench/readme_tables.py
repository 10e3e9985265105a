"""Tables of benchmarks as Markdown, from the document of a whole run."""

import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["BLOCKS"]

Results = dict[str, Any]
_ROBOTS = {
    "panda": "Panda", "anymal": "ANYmal", "go2": "Go2", "g1": "G1", "talos": "Talos", "solo12": "solo12", "hyq": "HyQ"
}  # fmt: skip
_DRY = {"g1_dry": "G1, 0.3 N m of dry friction in 29 joints", "talos": "Talos, dry friction in 20 joints"}
_LOOPS = {
    "four_bar": "four-bar, swinging", "stewart": "Stewart platform, moving", "leg": "leg with a parallelogram, standing"
}  # fmt: skip


# ---- numbers and tables


def _time(t: float | None) -> str:
    """Three digits."""
    if t is None:
        return ""
    return f"{t:.0f}" if t >= 1000 else f"{t:#.3g}".rstrip(".")


def _times(ratio: float | None, *, is_bold: bool = True) -> str:
    """How many times as fast."""
    if ratio is None:
        return ""
    text = f"{ratio:.0f} x" if ratio >= 10 else f"{ratio:.1f} x"
    return f"**{text}**" if is_bold else text


def _share(share: float | None) -> str:
    """A share of steps as a percentage."""
    if share is None:
        return ""
    return "0" if share == 0 else f"{100 * share:.2g} %"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown; columns without any cells are left out, unless they have no header."""
    body = [list(row) for row in rows]
    kept = [k for k, name in enumerate(header) if k == 0 or not name or any(row[k] for row in body)]
    # a ratio has no header of its own, and goes with the time before it
    kept = [k for k in kept if header[k] or k - 1 in kept]
    lines = [f"| {' | '.join(line[k] for k in kept)} |".replace(" |  ", " | ") for line in (header, *body)]
    return "\n".join([lines[0], "|---" * len(kept) + "|", *lines[1:]])


def _marked(label: str, rows: Iterable[dict[str, Any]]) -> str:
    """The label, with a mark if a check of it failed."""
    return f"{label} (a check failed)" if any(row.get("failed") for row in rows) else label


def _robot(name: str) -> str:
    return _ROBOTS.get(name, name)


# ---- blocks


def about(run: Results) -> str:
    """When and where the tables were measured."""
    versions = run["versions"]
    short = "a short run, only to try the command: " if run["short"] else ""
    jiminy = run["results"].get("flexible", {}).get("jiminy")
    peers = f"Pinocchio {versions['pin']}, MuJoCo {versions['mujoco']}" + (f", Jiminy {jiminy}" if jiminy else "")
    text = f"All tables are from one run of `make bench`: {short}{run['date']}, {run['processor']}, one thread, {peers}"
    text += f", llvmlite {versions['llvmlite']}, NumPy {versions['numpy']}, Python {versions['python']}."
    return textwrap.fill(text, 120)


def headline(run: Results) -> str:
    """Forward dynamics next to Pinocchio, from the least to the most."""
    ratios = [r["ratio"] for r in _forward(run).values()]
    return f"{min(ratios):.0f} to {max(ratios):.0f}"


def _forward(run: Results, function: str = "forward_dynamics") -> dict[str, dict[str, Any]]:
    rows = run["results"]["dynamics"]["dynamics"]
    return {r["robot"]: r for r in rows if r.get("function") == function}


def dynamics(run: Results) -> str:
    """Forward dynamics."""
    peer = f"Pinocchio {run['versions']['pin']}"
    header = ("forward dynamics [us]", "dofs", peer, "float64", "", "float32", "", "one robot", "")
    rows = [
        (
            _marked(_robot(name), [r]), str(r["dofs"]), _time(r["pinocchio"]), _time(r["float64"]), _times(r["ratio"]),
            _time(r["float32"]), _times(r["ratio float32"]), _time(r["single"]),
            _times(r["ratio single"], is_bold=False),
        )
        for name, r in _forward(run).items()
    ]  # fmt: skip
    return _table(header, rows)


def functions(run: Results) -> str:
    """Other functions of the dynamics, a column for each robot."""
    found = run["results"]["dynamics"]
    robots = list(_forward(run))
    by_robot = {key: {r.get("robot"): r for r in found[key]} for key in ("derivatives", "start")}

    def line(label: str, rows: dict[Any, Any], key: str, shown: Callable[[Any], str]) -> list[str]:
        return [label, *(shown(rows.get(name, {}).get(key)) for name in robots)]

    def plain(ratio: float | None) -> str:
        return _times(ratio, is_bold=False)

    def seconds(t: float | None) -> str:
        return "" if t is None else f"{t:.2g}"

    rows = [
        line("inverse dynamics", _forward(run, "inverse_dynamics"), "ratio", plain),
        line("mass matrix", _forward(run, "mass_matrix"), "ratio", plain),
        line("derivatives of forward dynamics by q, v and tau", by_robot["derivatives"], "ratio", plain),
        line("from file to first result, nothing cached [s]", by_robot["start"], "cold", seconds),
        line("the same, compiled code on disk [s]", by_robot["start"], "cached", seconds),
    ]
    return _table(["ratio in float64", *(_robot(name) for name in robots)], rows)


def contact(run: Results) -> str:
    """Steps with contact; "not converged" is at rest and while settling, or thrown about."""
    found = run["results"]["contact"]
    header = ("step with contact [us]", "dofs", "points", "Jiminy", "MuJoCo", "float64", "", "float32", "")
    rows = []
    for r in found["summary"]:
        name = r["scene"]
        robot = name.removesuffix("_thrash")
        way = "standing" if name == robot else "thrown about"
        label = f"{_DRY.get(name) or _robot(robot)}, {way}"
        lost = " / ".join(_share(r[key]) for key in ("unconverged", "settling") if r[key] is not None)
        cells = (str(r["dofs"] or ""), str(r["points"] or ""), _time(r["jiminy"]), _time(r["mujoco"]))
        ours = (_time(r["float64"]), _times(r["x float64"]), _time(r["float32"]), _times(r["x float32"]))
        rows.append((_marked(label, found[name]), *cells, *ours, lost))
    return _table((*header, "not converged"), rows)


def loops(run: Results) -> str:
    """Robots with loops."""
    rows = []
    for name, label in _LOOPS.items():
        found = run["results"]["loops"].get(name, [])
        size = [str(found[0].get(key, "")) if found else "" for key in ("dofs", "rows")]
        by = {r.get("simulator"): r for r in found}
        theirs, t64, t32 = (
            by.get(f"{s}", {}).get("us") for s in ("mujoco rollout", "pliant float64", "pliant float32")
        )
        pairs = [(_time(t), _times(theirs / t) if theirs and t else "") for t in (t64, t32)]
        rows.append((_marked(label, found), *size, _time(theirs), *pairs[0], *pairs[1]))
    return _table(("step with loops [us]", "dofs", "rows", "MuJoCo", "float64", "", "float32", ""), rows)


def flexible(run: Results) -> str:
    """The double pendulum with springs about three axes."""
    rows = run["results"]["flexible"]["swing"]
    jiminy = next((r for r in rows if r.get("simulator") == "jiminy" and r.get("ms")), {})
    ours = [
        next((r for r in rows if r.get("settings") == f"{how}, 3 axes, float64"), {})
        for how in ("semi-implicit", "midpoint")
    ]
    header = ("5 s of a flexible double pendulum [ms]", "Jiminy, adaptive", "semi-implicit, 1 ms", "")
    header = (*header, "implicit midpoint, 1 ms", "")

    def line(label: str, key: str, shown: Callable[[Any], str], *, has_ratio: bool = False) -> list[str]:
        cells = [label, shown(jiminy.get(key))]
        for r in ours:
            cells += [shown(r.get(key)), _times(r.get("ratio")) if has_ratio else ""]
        return cells

    def error(e: float | None) -> str:
        return "" if e is None else f"{e:.0e}".replace("e-0", "e-")

    def count(n: int | None) -> str:
        return "" if n is None else f"{n:,}"

    first = _marked(f"per robot, batch of {run['results']['flexible']['batch']}, float64", ours)
    return _table(
        header,
        [
            line(first, "ms", _time, has_ratio=True),
            line("steps", "steps", count),
            line("error of the angles, relative to the swing", "error", error),
        ],
    )


def growth(run: Results) -> str:
    """Chains: time per step and joint, and the cold start."""
    rows = run["results"]["growth"]["chains"]

    def line(label: str, key: str, shown: Callable[[Any], str]) -> list[str]:
        return [label, *(shown(r.get(key)) for r in rows)]

    header = ["chain of n joints, n =", *(_marked(str(r.get("joints", r.get("of"))), [r]) for r in rows)]
    lines = [
        line("MuJoCo, a step [us]", "mujoco", _time),
        line("Pliant, float64 [us]", "pliant", _time),
        line("ratio", "ratio", _times),
        line("Pliant, per joint [us]", "per joint", _time),
        line("import to first step, nothing cached [s]", "cold", _time),
    ]
    return _table(header, lines)


def one_robot(run: Results) -> str:
    """One robot from Python."""
    rows = run["results"]["single"]["single"]
    by = {(r.get("scene"), r.get("way")): r for r in rows}
    lines = []
    for name in dict.fromkeys(r["scene"] for r in rows if "scene" in r):
        theirs, ours = by.get((name, "mj_step"), {}), by.get((name, "step float64"), {})
        mine = [r for r in rows if r["scene"] == name]
        lines.append(
            (_marked(_robot(name), mine), _time(theirs.get("us")), _time(ours.get("us")), _times(ours.get("x")))
        )
    return _table(("one robot from Python [us]", "`mj_step`", "`sim.step(u)`", ""), lines)


def start(run: Results) -> str:
    """Cold starts."""
    labels = {"go2": "Go2, default contacts", "g1": "G1 on its soles", "chain80": "chain of 80 joints"}
    rows = run["results"]["cold_start"]["cold"]
    cells = [
        (_marked(labels.get(r.get("robot", ""), str(r.get("of"))), [r]), _time(r.get("total")), _time(r.get("cached")))
        for r in rows
    ]
    return _table((f"import to first step [s], {run['cores']} cores", "nothing cached", "compiled code on disk"), cells)


def defaults(run: Results) -> str:
    """Default contacts next to feet only."""
    rows = [r for r in run["results"]["default_contacts"]["defaults"] if r.get("precision") == "float64"]
    by = {(r["robot"], r["contacts"]): r for r in rows}
    lines = []
    for name in dict.fromkeys(r["robot"] for r in rows):
        feet, full = by[name, "feet only"], by.get((name, "default"), {})
        ratio = _times(full.get("times feet"), is_bold=False)
        points = f"{feet['points']} / {full.get('points', '')}"
        lines.append((_marked(_robot(name), [feet, full]), points, _time(feet["us"]), _time(full.get("us")), ratio))
    return _table(("default contacts, float64 [us]", "points", "feet only", "default", "time"), lines)


BLOCKS: dict[str, Callable[[Results], str]] = {
    "headline": headline, "run": about, "dynamics": dynamics, "functions": functions, "contact": contact,
    "defaults": defaults, "single": one_robot, "growth": growth, "start": start, "loops": loops, "flexible": flexible,
}  # fmt: skip
"""What stands between the markers of pages, by their names."""
