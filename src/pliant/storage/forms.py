"""The forms of stored data, which msgspec holds files against: what is read has the fields and types that it should.

The form of a dataclass follows from its annotations, so that a field added to `pliant.robot.Motor` is stored, read and
checked without a line here. Nothing in a file names a class or is executed: the form decides what is made.
"""

import math
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import cache
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from pliant.errors import PliantError, RobotError
from pliant.recording.log import Event
from pliant.robot import Body, Finding, Geometry, Joint, Limits, Motor, MotorLaw, Named, Report, Robot
from pliant.robot.joints import KINDS, JointKind
from pliant.robot.sensors import SensorError
from pliant.scalar.formulas import Formula, LawFormulas
from pliant.spatial import AxisRotation, Inertia, Matrix3, MatrixRotation, Symmetric3, Transform, Vector

Text = Annotated[str, Meta(max_length=100_000)]
# integers that are exact by structure stay integers
Number = Annotated[int, Meta(ge=-(2**53), le=2**53)] | float
MAX_BODIES = 20_000
LEFT_OUT = {"file", "stances"}
"""Fields of a robot that mean something on this machine only, or where it begins only."""
# finite numbers beyond it overflow in the first product
_LARGEST = 1e300


def checked(plain: Any, form: Any, what: str) -> Any:
    """Plain data, as of `json.loads`, in a form; or an error that says what they are and where they do not fit."""
    try:
        return msgspec.convert(plain, form)
    except (msgspec.ValidationError, RecursionError) as error:
        raise PliantError(f"{what} in the log is damaged: {error}", subject=what) from None


def made(stored: Any) -> Any:
    """The object that stored data describe: structs become the objects that they stand for, all else stays."""
    if isinstance(stored, _Form):
        return type(stored).makes(**{name: made(getattr(stored, name)) for name in stored.__struct_fields__})
    if isinstance(stored, float) and _LARGEST < abs(stored) < math.inf:
        raise PliantError(f"a number in the log is {stored:g}; it takes up to {_LARGEST:g}")
    return tuple(map(made, stored)) if isinstance(stored, tuple) else stored


class _Form(Struct, forbid_unknown_fields=True):
    """Stored data; ``makes`` is called with the fields to make the object."""

    makes: ClassVar[Callable[..., Any]] = dict


def _form(kind: type, stored: dict[str, Any], **options: Any) -> Any:
    """The form of a class, by the forms of its fields."""
    form: Any = msgspec.defstruct(kind.__name__, list(stored.items()), bases=(_Form,), **options)
    form.makes = kind
    return form


# ---- numbers in space


_Vector = _form(Vector, dict.fromkeys(("x", "y", "z"), Number), array_like=True)
_Symmetric = _form(Symmetric3, dict.fromkeys(("xx", "xy", "xz", "yy", "yz", "zz"), Number), array_like=True)
_AxisRotation = _form(AxisRotation, {"axis": Literal[0, 1, 2], "c": Number, "s": Number})
_Inertia = _form(Inertia, {"mass": Number, "h": _Vector, "J": _Symmetric})


class _Pose(_Form):
    R: _AxisRotation | tuple[(Number,) * 9]  # type: ignore[valid-type]
    p: _Vector  # type: ignore[valid-type]

    @staticmethod
    def makes(R: Any, p: Vector) -> Transform:
        return Transform(R if isinstance(R, AxisRotation) else MatrixRotation(Matrix3(R)), p)


# ---- parts of robots


class _Kind(_Form):
    kind: Literal[tuple(KINDS)]  # type: ignore[valid-type]
    axis: tuple[Number, Number, Number] | UnsetType = UNSET
    pitch: Number | UnsetType = UNSET

    @staticmethod
    def makes(kind: str, **own: Any) -> JointKind:
        return KINDS[kind](**{name: value for name, value in own.items() if value is not UNSET})


class _Formula(_Form):
    """A formula, or the name of a function that has none and why."""

    inputs: tuple[Text, ...] = ()
    nodes: list[list[Any]] = []
    output: int = 0
    name: Text = "formula"
    tables: tuple[tuple[Number, ...], ...] = ()
    lost: Text = ""
    why: str = ""

    @staticmethod
    def makes(tables: Any, lost: str, why: str, **plain: Any) -> "Formula | LostLaw":
        return LostLaw(lost) if lost else Formula.from_plain(plain, tables)


class _Law(_Formula):
    """The same, or the formulas of torque and memory of a motor that remembers, and that memory at first."""

    formulas: tuple[_Formula, ...] = ()
    memory: tuple[Number, ...] = ()

    @staticmethod
    def makes(formulas: Any, memory: Any, **own: Any) -> Any:  # type: ignore[override]
        return MotorLaw(LawFormulas(formulas), memory) if formulas else _Formula.makes(**own)


class LostLaw:
    """Stands for a function that could not be stored: the robot can be drawn, and raises when it is simulated."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, *arguments: Any) -> Any:
        problem = f"its law {self.name!r} is a Python function, which no log can hold"
        raise RobotError(problem, subject="robot", field="law", cure="give the robot its law again to simulate it")

    def __repr__(self) -> str:
        return f"<lost law {self.name!r}>"


# ---- forms of dataclasses

_ONE_OR_MANY = Number | tuple[Number, ...]
_KNOWN: dict[Any, Any] = {
    Any: Number, float: Number, str: Text, Vector: _Vector, Transform: _Pose, Inertia: _Inertia, JointKind: _Kind,
}  # fmt: skip
# fields whose annotation does not tell how they are stored
_FIELDS: dict[tuple[type, str], Any] = {
    (Geometry, "mesh"): int | None,
    (Joint, "law"): tuple[_Law | None, ...],
    (Motor, "law"): _Law | None,
    (SensorError, "law"): _Law | None,
    **{(Limits, f.name): _ONE_OR_MANY for f in fields(Limits)},
}


@cache
def form_of(kind: type, **other: Any) -> type[_Form]:
    """The form of a dataclass, from the types of its fields, or ``other`` forms of those whose type does not tell."""
    hints = get_type_hints(kind)
    own = {f.name: other.get(f.name) or _FIELDS.get((kind, f.name)) or _stored(hints[f.name]) for f in fields(kind)}
    form: Any = msgspec.defstruct(kind.__name__, _with_defaults(kind, own), bases=(_Form,), kw_only=True)
    form.makes = kind
    return form


def _with_defaults(kind: type, forms: dict[str, Any]) -> list[Any]:
    """Fields and their forms; those with a default may be missing, as in files of versions that did not have them."""
    defaults = {f.name: f.default for f in fields(kind) if f.default is not MISSING}
    return [(name, form, defaults[name]) if name in defaults else (name, form) for name, form in forms.items()]


def _stored(hint: Any) -> Any:
    """The form of an annotation."""
    if hint in _KNOWN:
        return _KNOWN[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return Union[tuple(map(_stored, arguments))]  # noqa: UP007
    if origin is tuple:
        return tuple[tuple(a if a is ... else _stored(a) for a in arguments)]  # type: ignore[misc]
    if origin is Named:
        return tuple[form_of(*arguments), ...]  # type: ignore[misc]
    if hint is Report:
        return tuple[form_of(Finding), ...]  # type: ignore[misc]
    return form_of(hint) if hasattr(hint, "__dataclass_fields__") else hint


@cache
def robot_form() -> type[Struct]:
    """The form of all of a robot."""
    hints = get_type_hints(Robot)
    own: list[Any] = [(f.name, _stored(hints[f.name])) for f in fields(Robot) if f.name not in {*LEFT_OUT, "sensors"}]
    own.append(("sensors", _stored(hints["sensors"]), ()))  # logs of version 0.1 have none
    many_bodies = Annotated[tuple[form_of(Body), ...], Meta(max_length=MAX_BODIES)]  # type: ignore[misc]
    return msgspec.defstruct("Robot", [*own, ("bodies", many_bodies), ("digest", Text | None)], kw_only=True)


# ---- logs


class AboutChannel(Struct):
    """A channel and its dataset."""

    name: Text
    dataset: Text


class AboutLog(Struct):
    """What a log is of; ``until`` is when the run was going to end [s]."""

    batch: Annotated[int, Meta(gt=0, lt=2**31)] | None
    channels: Annotated[tuple[AboutChannel, ...], Meta(max_length=10_000)]
    columns: dict[str, tuple[str, ...]]
    metadata: dict[str, Any]
    until: float | None
    is_event_driven: bool


class AboutSource(Struct):
    """What a `Source` has besides robot and ground."""

    contacts: tuple[Text, ...]
    settings: dict[str, Any]
    versions: dict[str, str]
    created: Text


class AboutFormula(Struct):
    """A `Formula` and the number of its tables."""

    inputs: tuple[Text, ...]
    nodes: list[list[Any]]
    output: int
    name: Text
    tables: Annotated[int, Meta(ge=0, le=10_000)]


class AboutFaces(Struct):
    """Stairs, by their numbers, or a height map, by spacing and origin; how many steps, or heights each way."""

    kind: Literal["stairs", "height_map"]
    numbers: tuple[Number, ...]
    counts: tuple[int, ...]


class AboutGround(Struct):
    """A ground; without a formula it is known by its heights."""

    name: Text
    friction: Number | None
    restitution: Number | None
    formula: AboutFormula | None
    faces: AboutFaces | None = None


class Note(Struct):
    """What an event-driven run adds with each part: its events, modes that are new, and where its steps end [s]."""

    events: tuple[form_of(Event, impulse=dict[Text, _ONE_OR_MANY]), ...]  # type: ignore[valid-type]
    modes: tuple[Text, ...]
    end: float | None
