"""Groups of columns: each column is in one, and each has one unit and few columns."""

from pliant.plots.curves import MOST, column_groups, log_groups, matching
from view_logs import hopper_log


def test_a_robot_with_many_joints_shows_all_of_them() -> None:
    names = [f"base.{e}" for e in ("x", "y", "z", "qx", "qy", "qz", "qw")] + [f"j{k}" for k in range(12)]
    groups = column_groups("q", names, None)
    assert [g.label for g in groups] == [
        "q: base position", "q: base orientation", "q: joints 1-8", "q: joints 9-12",
    ]  # fmt: skip
    assert [k for g in groups for k in g.entries] == list(range(19))
    assert all(len(g.columns) <= MOST for g in groups)
    feet = [f"{foot}.{axis}" for foot in ("left", "right") for axis in "xyz"]
    assert [g.title for g in column_groups("forces", feet, None)] == ["forces: left [N]", "forces: right [N]"]
    assert [g.label for g in column_groups("forces", feet[:3], None)] == ["forces"]
    assert [g.label for g in column_groups("u", names[:9], None)][:1] == ["u: base position"]


def test_a_log_has_each_column_once() -> None:
    log = hopper_log()
    groups = log_groups(log)
    names = [g.flat_name(c) for g in groups for c in g.columns]
    assert sorted(names) == sorted(n for n in log.to_dict() if n != "t")
    assert len({g.label for g in groups}) == len(groups)
    (energy,) = matching(groups, "energy")
    assert energy.title == "energy [J]" and "kinetic" in energy.columns
    (leg,) = matching(groups, "q.leg")
    assert "leg" in leg.columns
    # turning and sliding joints have no unit in common
    assert {g.unit for g in matching(groups, "q")} == {"m", "", "rad"}
