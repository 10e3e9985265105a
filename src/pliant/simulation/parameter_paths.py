"""Paths of parameters: which numbers of a model they name, and how to put in others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pliant.errors import SimulationError, unknown_name
from pliant.robot import Robot
from pliant.scalar import is_constant
from pliant.simulation.model import StepModel
from pliant.spatial import Inertia, Symmetric3, Vector

__all__ = ["Entry", "entries_of"]

Scalar = Any

_TREES = ("bodies", "joints", "motors", "springs")
_JOINT_NUMBERS = ("damping", "armature", "friction", "stiffness", "hardening", "backlash", "rest", "restitution")
_CONTACT_NUMBERS = ("friction", "restitution")
_BODY_NUMBERS = {"mass": 1, "com": 3, "inertia": 6}


@dataclass(frozen=True)
class Entry:
    """One number, or a few, of the model: how to read it and how to put in others."""

    path: str
    default: tuple[float, ...]
    put: Callable[[StepModel, Sequence[Scalar]], StepModel]


def entries_of(model: StepModel, path: str) -> list[Entry]:
    """The numbers that a path names; a star names those of all bodies, joints, motors or springs that have them."""
    parts = path.split(".")
    if parts == ["gravity"]:
        put = lambda m, x: m.with_values(robot=replace(m.robot, gravity=Vector(*x)))  # noqa: E731
        return [Entry(path, _numbers(path, tuple(model.robot.gravity)), put)]
    if path in _CONTACT_NUMBERS and hasattr(model.contact, path):
        return [_contact_entry(model, path)]
    if path in (f.name for f in fields(model.contact)):
        kind = type(model.contact).__name__
        raise SimulationError(
            f"{path!r} cannot vary: it is the same for all robots of a simulation; give it to {kind}({path}=...)"
        )
    if len(parts) == 2 and parts[0] == "law" and hasattr(model.contact, "law"):
        return [_law_entry(model, path, parts[1])]
    # names of bodies and joints may have dots themselves
    tree, what = parts[0], parts[-1]
    if tree not in _TREES or len(parts) < 3:
        valid = ["gravity", "friction", "restitution", "law.NAME", *(f"{t}.NAME.WHAT" for t in _TREES)]
        raise SimulationError(f"no parameter has the path {path!r}; valid: {', '.join(valid)}")
    name = ".".join(parts[1:-1])
    named = getattr(model.robot, tree)
    if name != "*":
        if tree == "bodies" and _is_massless(named[name]):
            raise SimulationError(f"{path!r} cannot vary: body {name!r} has no mass, so give it one first")
        return [_tree_entry(model.robot, path, tree, named[name].name, what)]
    return [_tree_entry(model.robot, path, tree, n, what) for n in named if _has_numbers(named[n], tree)]


def _has_numbers(item: Any, tree: str) -> bool:
    if tree == "bodies":
        return not _is_massless(item)
    return tree != "joints" or item.kind.nv > 0


def _is_massless(body: Any) -> bool:
    return is_constant(body.inertia.mass) and body.inertia.mass == 0


def _contact_entry(model: StepModel, what: str) -> Entry:
    def put(m: StepModel, x: Sequence[Scalar]) -> StepModel:
        return m.with_values(contact=replace(m.contact, **{what: x[0]}))

    return Entry(what, _numbers(what, (getattr(model.contact, what),)), put)


def _law_entry(model: StepModel, path: str, what: str) -> Entry:
    law = model.contact.law
    names = [f.name for f in fields(law)] if hasattr(law, "__dataclass_fields__") else []
    if what not in names:
        raise SimulationError(unknown_name("attribute", what, names, f"the contact law {law!r}"))

    def put(m: StepModel, x: Sequence[Scalar]) -> StepModel:
        return m.with_values(contact=replace(m.contact, law=replace(m.contact.law, **{what: x[0]})))

    return Entry(path, _numbers(path, (getattr(law, what),)), put)


def _tree_entry(robot: Robot, path: str, tree: str, name: str, what: str) -> Entry:
    item = getattr(robot, tree)[name]
    own = path.replace("*", name)
    if tree == "bodies":
        if what not in _BODY_NUMBERS:
            raise SimulationError(unknown_name("number", what, _BODY_NUMBERS, f"body {name!r}"))
        return Entry(own, _numbers(own, _body_numbers(item.inertia, what)), lambda m, x: _with_body(m, name, what, x))
    valid = _JOINT_NUMBERS if tree == "joints" else [f.name for f in fields(item) if _is_number(getattr(item, f.name))]
    if what not in valid:
        raise SimulationError(unknown_name("number", what, valid, f"{tree[:-1]} {name!r}"))
    value = getattr(item, what)
    several = isinstance(value, tuple)

    def put(m: StepModel, x: Sequence[Scalar]) -> StepModel:
        collection = getattr(m.robot, tree)
        changed = replace(collection[name], **{what: tuple(x) if several else x[0]})
        return m.with_values(robot=replace(m.robot, **{tree: collection.replaced(changed)}))

    return Entry(own, _numbers(own, value if several else (value,)), put)


def _is_number(x: Any) -> bool:
    return not isinstance(x, str | bool | tuple) and x is not None and not callable(x)


def _body_numbers(inertia: Inertia, what: str) -> tuple[Scalar, ...]:
    if what == "mass":
        return (inertia.mass,)
    if what == "com":
        return tuple(inertia.com())
    return tuple(inertia.about_com())


def _with_body(model: StepModel, name: str, what: str, x: Sequence[Scalar]) -> StepModel:
    body = model.robot.bodies[name]
    old = body.inertia
    mass, com, tensor = old.mass, old.com(), old.about_com()
    if what == "mass":
        tensor = Symmetric3(*(entry * (x[0] / mass) for entry in tensor))
        mass = x[0]
    elif what == "com":
        com = Vector(*x)
    else:
        tensor = Symmetric3(*x)
    bodies = model.robot.bodies.replaced(replace(body, inertia=Inertia.from_com(mass, com, tensor)))
    return model.with_values(robot=replace(model.robot, bodies=bodies))


def _numbers(path: str, values: Sequence[Scalar]) -> tuple[float, ...]:
    if not all(is_constant(x) for x in values):
        raise SimulationError(f"parameter {path!r} is not a number in this robot, so it has no default")
    bad = [x for x in values if not np.isfinite(x)]
    if bad:
        raise SimulationError(f"parameter {path!r} is {bad[0]}; give the robot a finite value to vary")
    return tuple(float(x) for x in values)
