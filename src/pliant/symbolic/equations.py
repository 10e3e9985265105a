"""The equations of motion of a robot, as formulas."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pliant.checks import check_known
from pliant.dynamics import coriolis_matrix, frame_jacobian, kinetic_energy, potential_energy
from pliant.errors import PliantError, bad_value
from pliant.progress import working
from pliant.robot import Robot
from pliant.signatures import explained
from pliant.symbolic.code import c_source, matlab_source, python_source
from pliant.symbolic.coordinates import Coordinates, check_parameters, check_sympy, coordinates_of, sympy
from pliant.symbolic.layout import latex_of, markdown_of, text_of, written
from pliant.symbolic.methods import METHODS, Terms, christoffel, several_coordinates, traced_terms
from pliant.symbolic.robots import WHAT, symbolic_robot, with_single_joints
from pliant.symbolic.tidying import Tidy, is_longer, symbols_of

# robots in numbers are traced from so many dofs on; with fewer, SymPy alone is quick, and keeps fractions
_MANY = 6
# formulas of more parts than this are not derived, and not rendered by themselves in a notebook
_LONG = 3000


@explained
@dataclass(frozen=True, eq=False, repr=False)
class Equations:
    """The equations of motion M(q) vd + b(q, v) + g(q) = Q(q, v, u), made by `equations`.

    Matrices and columns are SymPy's, and immutable. Quantities that the equations themselves do not need (C, tau, the
    energies, Jacobians) are made on demand.

    Attributes:
        robot: whose they are, with its symbols.
        method: by which they were found.
        coordinates: the symbols of motion, and their owners.
        M: mass matrix, nv x nv; rotor inertia is on its diagonal.
        b: Coriolis and centrifugal forces, nv: C v.
        g: gravity forces, nv.
        Q: the right side, nv: torques of motors, minus springs, damping and friction at the joints.
        parameters: the robot's symbols that occur, each with its number, or with itself if it never had one; so
            ``M.subs(eq.parameters)`` puts in the numbers that there are.
    """

    robot: Robot
    method: str
    coordinates: Coordinates
    M: Any
    b: Any
    g: Any
    Q: Any
    parameters: dict[Any, Any]
    _tidy: Tidy = field(compare=False)

    @property
    def q(self) -> Any:
        """The coordinates, nq [rad or m]."""
        return _column(self.coordinates.q)

    @property
    def v(self) -> Any:
        """The velocities, nv [rad/s or m/s]."""
        return _column(self.coordinates.v)

    @property
    def vd(self) -> Any:
        """The accelerations, nv [rad/s^2 or m/s^2]."""
        return _column(self.coordinates.vd)

    @property
    def u(self) -> Any:
        """The controls of the motors, nu."""
        return _column(self.coordinates.u)

    @property
    def symbols(self) -> dict[str, Any]:
        """Every symbol of motion and every parameter, by name: ``M.subs(eq.symbols["m_rod"], 2)``."""
        return {s.name: s for s in (*self.coordinates.motion, *self.parameters)}

    @cached_property
    def tau(self) -> Any:
        """The left side, M vd + b + g, nv."""
        left = self.M * self.vd + self.b + self.g
        return sympy.ImmutableMatrix([self._tidy(e, is_shared=False) for e in left])

    @cached_property
    def C(self) -> Any:  # noqa: N802 - the name of the maths
        """The Coriolis matrix, nv x nv: C v = b, and Mdot - 2 C is skew.

        By Christoffel symbols, from derivatives of M; by `coriolis_matrix` if the velocities are not the rates of
        the coordinates, or if M is too long to derive.
        """
        q, v = list(self.coordinates.q), list(self.coordinates.v)
        if not several_coordinates(self.robot) and not is_longer(self.M, _LONG):
            return self._tidy.matrix(christoffel(self.M, q, v))
        return self._tidy.matrix(coriolis_matrix.algorithm(self.robot, q, v))

    @cached_property
    def kinetic(self) -> Any:
        """The kinetic energy T = 1/2 v^T M v [J]."""
        return self._tidy(kinetic_energy.algorithm(self.robot, self.coordinates.q, self.coordinates.v))

    @cached_property
    def potential(self) -> Any:
        """The energy U(q) of gravity [J], with g = dU/dq; springs are part of Q."""
        return self._tidy(potential_energy.algorithm(self.robot, self.coordinates.q))

    def J(self, frame: str, *, reference: str = "local_world_aligned") -> Any:  # noqa: N802 - likewise
        """The Jacobian of a frame, 6 x nv: J v is its velocity, linear rows first; see `frame_jacobian`.

        A force and moment f at the frame add J^T f to the right side.
        """
        return self._tidy.matrix(frame_jacobian.algorithm(self.robot, self.coordinates.q, frame, reference=reference))

    # ---- to read

    def text(self, width: int = 100) -> str:
        """The equations as plain text, in lines of at most ``width`` characters where they can be broken."""
        return text_of(self, width)

    def latex(self, width: int = 90) -> str:
        """The equations as LaTeX: one aligned environment, in lines of about ``width`` printed characters."""
        return latex_of(self, width)

    def markdown(self, width: int = 90) -> str:
        """The equations as Markdown with LaTeX in it, and tables of the symbols."""
        return markdown_of(self, width)

    def written(self, formula: Any, width: int = 100) -> str:
        """A formula in these symbols, such as ``M[0, 0]``, tidied and as the text writes it, in lines of ``width``."""
        return written(self, self._tidy(formula), width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        shown = ", ".join(s.name for s in self.parameters) or "none"
        return f"<Equations of {self.robot.name!r} by {self.method}: {len(self.b)} dofs, parameters: {shown}>"

    def _repr_latex_(self) -> str | None:
        return f"$\\displaystyle {self.latex()}$" if self._is_short else None

    def _repr_markdown_(self) -> str | None:
        return self.markdown() if self._is_short else None

    @cached_property
    def _is_short(self) -> bool:
        return not is_longer([*self.M, *self.b, *self.g, *self.Q], _LONG)

    # ---- to run

    def python(self, name: str | None = None) -> str:
        """Source of a Python function (q, v, u, *, parameters) -> M, b, g, Q, that needs nothing but ``math``."""
        return python_source(self, name)

    def c(self, name: str | None = None) -> str:
        """Source of a C99 function that fills M, b, g and Q from q, v, u and the parameters p."""
        return c_source(self, name)

    def matlab(self, name: str | None = None) -> str:
        """Source of a function [M, b, g, Q] = name(q, v, u, p) for Matlab and Octave."""
        return matlab_source(self, name)


@explained
def equations(
    robot: Robot,
    method: str = "newton-euler",
    *,
    parameters: str | Iterable[str] | Mapping[str, Any] | None = None,
    names: Mapping[str, str] | str | None = None,
    rotations: str | None = None,
    simplify: bool | None = None,
) -> Equations:
    """The equations of motion of a robot as formulas: M(q) vd + b(q, v) + g(q) = Q(q, v, u).

    The algorithms of `pliant.dynamics` run on SymPy symbols. Their results are multiplied out, so that terms cancel,
    and put back together to be read.

        print(pliant.equations(pliant.load("two_link_arm")))
        pliant.equations(robot, parameters="masses", names={"knee": "x"}).latex()

    The equations leave out limits of joints and motors, closures and contacts.

    Args:
        method: "newton-euler", "projected" or "lagrange"; they agree.
        parameters: which of the robot's numbers become symbols, as for `symbolic_robot`: "all", a kind of numbers
            ("masses"), several, or a mapping of its names to others, ``{"m_rod": "m"}``. None keeps the numbers.
        names: of coordinates, ``{"knee": "x1"}`` by joint, or "joints" for q_JOINT; else q1, q2 and so on.
        rotations: "euler" makes free, spherical and planar joints chains of single joints, with roll, pitch and yaw.
        simplify: True for all formulas, however long it takes; None for those where it is quick; False for none,
            which is the quickest. Work that takes longer shows its progress on the terminal.
    """
    check_sympy()
    from pliant.symbolic.forces import applied_forces

    check_known("method", method, METHODS)
    if not isinstance(robot, Robot):
        problem = f"equations takes a Robot first, not {type(robot).__name__}"
        raise PliantError(problem, subject="equations", field="robot", cure="see pliant.load")
    if robot.nv == 0:
        subject = f"robot {robot.name!r}"
        problem, cure = f"{subject} has no joint that moves, and so no equations", "load it with base='free'?"
        raise PliantError(problem, subject=subject, field="joints", cure=cure)
    values: dict[Any, float] = {}
    if parameters is not None:
        robot, values = _with_parameters(robot, parameters)
    if rotations is not None:
        robot = with_single_joints(robot, rotations)
    coordinates = coordinates_of(robot, names)
    known = check_parameters(robot, coordinates)
    q, v, u, t = coordinates.q, coordinates.v, coordinates.u, coordinates.t
    tidy = Tidy(coordinates.motion, simplify, positions=q)
    hint = "simplify=False (--raw) is quicker" if simplify is not False else ""
    with working(f"equations of {robot.name}", hint=hint) as at:
        at(f"formulas by {method}")
        is_traced = simplify is False or (simplify is None and not known and robot.nv >= _MANY)
        terms: Terms = traced_terms(method, robot, q, v) if is_traced else METHODS[method](robot, q, v)
        parts = []
        for letter, rows in zip("Mbg", terms, strict=True):
            at(f"tidying {letter}" if simplify is not False else f"gathering {letter}")
            parts.append(tidy.matrix(rows))
        at("forces of motors and springs, Q")
        parts.append(tidy.matrix(applied_forces(robot, q, v, u, t)))
        at("the symbols that occur")
        occurring = symbols_of(e for part in parts for e in part)
    M, b, g, Q = parts
    return Equations(
        robot, method, coordinates, M, b, g, Q, {s: values.get(s, s) for s in known if s in occurring}, tidy
    )  # fmt: skip


def _with_parameters(robot: Robot, parameters: str | Iterable[str] | Mapping[str, Any]) -> tuple[Robot, dict]:
    if isinstance(parameters, str):
        return symbolic_robot(robot, *(WHAT if parameters == "all" else (parameters,)))
    try:
        asked = list(parameters)
    except TypeError:
        takes = (
            "'all', a kind of numbers such as 'masses', a list of kinds and names, or a mapping such as {'m_rod': 'm'}"
        )
        raise PliantError(bad_value("parameters", parameters, takes)) from None
    if not asked:
        return robot, {}
    return symbolic_robot(robot, *asked, names=parameters if isinstance(parameters, Mapping) else None)


def _column(symbols: tuple[Any, ...]) -> Any:
    return sympy.ImmutableMatrix(len(symbols), 1, symbols)
