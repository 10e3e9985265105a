"""Stages for the laws of joints: which piece of its law each motor and joint is on (`pliant.contact.joint_laws`).

``saturated`` has the pieces of the motors, ``grips`` those of dry friction, backlash and locks, ``held`` those of the
limits. With them the matrix of the step is factorized, with pins where velocities are known; contacts are solved; and
every law looks at the result. Robots of which one is on another piece than was taken go round again.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from pliant.actuation.joint_forces import Drive, drives
from pliant.contact.constraint_rows import bounds_of
from pliant.contact.joint_laws import (
    backlash_before, backlash_impulse, backlash_piece, friction_before, friction_impulse, friction_piece,
    is_other, limit_piece, motor_line, motor_piece, sign_of,
)  # fmt: skip
from pliant.contact.solver import loads_on
from pliant.dynamics.pinned_factor import PinnedFactor
from pliant.robot import Link
from pliant.scalar import Scalar, Scalars, abs, both, either, equal, is_constant, maximum, minimum, negation, select
from pliant.simulation.loop_stages import load_pins
from pliant.simulation.model import StepModel
from pliant.simulation.solver_stages import Record, StepProgram, any_of
from pliant.simulation.state import time_of
from pliant.simulation.step_factor import Matrix, factor_of, factor_of_step

# rounds to find the pieces of all joints
_ROUNDS = 28

# after so many of them, and again after so many more, all laws are solved at once (`pliant.simulation.path_stages`)
_PATIENCE, _MORE = 6, 4

UNSOLVED = {"float64": 1e-7, "float32": 1e-4}
"""Contacts that are further from their solution are reason for another round [m/s]."""

# tolerances of joints next to contacts that are nearly solved
_LOOSE = 100

# a torque this many times larger than it was is taken for saturated if it would be beyond the limit
_NEARLY = 1 + 1e-6

# velocities that go through a limit by less are left to the next step [rad/s or m/s]
_THROUGH = 1e-7


@dataclass
class Terms:
    """What the laws of joints add to a step, on the pieces that they are on; by dof.

    Attributes:
        gains: to the diagonal of the matrix; pushes: to the impulses.
        pins: whether the dof is pinned; jumps: the change of its velocity then, else 0.
    """

    gains: dict[int, Scalar] = field(default_factory=dict)
    pushes: dict[int, Scalar] = field(default_factory=dict)
    pins: dict[int, Scalar] = field(default_factory=dict)
    jumps: dict[int, Scalar] = field(default_factory=dict)

    def add(self, d: int, gain: Scalar, push: Scalar) -> None:
        """Let a law act along a dof."""
        self.gains[d], self.pushes[d] = self.gains.get(d, 0) + gain, self.pushes.get(d, 0) + push

    def impulses(self, change: Scalars) -> list[Scalar]:
        """The impulses of a step with theirs."""
        return [x + self.pushes.get(d, 0) for d, x in enumerate(change)]

    def matrix(self, A: Matrix) -> dict[int, dict[int, Scalar]]:
        """The lower triangle of the matrix of a step with theirs."""
        given = A.items() if isinstance(A, Mapping) else enumerate(A)
        rows = {d: dict(row if isinstance(row, Mapping) else enumerate(row)) for d, row in given}
        for d, gain in self.gains.items():
            rows[d][d] = rows[d][d] + gain
        return rows


def motor_links(m: StepModel) -> list[Link]:
    """The link of each motor's joint."""
    links = {link.name: link for link in m.robot.mechanism.joint_links}
    return [links[motor.joint] for motor in m.robot.motors.values()]


def drive_record(drive: Drive, dt: Scalar) -> Record:
    """A motor's line in the joint's velocity at the end of the step, and its limits."""
    line = {"torque": drive.line.torque, "gain": drive.line.gain(dt)}
    return {**line, "lower": drive.lower, "upper": drive.upper, "is limited": drive.is_limited}


def held_velocity(side: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """Of a joint that a limit holds: 1 for the lower one."""
    return select(side > 0, low, high)


def law_terms(
    m: StepModel, drives: Sequence[Record], bounds: Sequence[Record], v: Scalars, saturated: Scalars, grips: Scalars,
    held: Scalars, low: Scalars, high: Scalars,
) -> Terms:  # fmt: skip
    """What the laws add to a step on these pieces; v is the velocity at its start."""
    terms = Terms()
    for drive, link, piece in zip(drives, motor_links(m), saturated, strict=True):
        torque, gain = motor_line(piece, drive)
        rate, ratio = link.rate(v)[0], link.ratio
        terms.add(link.dofs[0], m.dt * ratio * ratio * gain, m.dt * ratio * (torque - gain * rate))
    pinned: dict[int, tuple[Scalar, Scalar]] = {}  # whether, and with which velocity

    def pin(d: int, flag: Scalar, velocity: Scalar) -> None:
        if d in pinned:  # the first one counts
            before, own = pinned[d]
            pinned[d] = (either(before, flag), select(before, own, velocity))
        else:
            pinned[d] = (flag, velocity)

    for row, side, a, b in zip(m.stop_rows, held, low, high, strict=True):
        pin(row.dof, is_other(side, 0), held_velocity(side, a, b))
    steady = [(row, b, g) for row, b, g in zip(m.steady_rows, bounds, grips, strict=False) if not m.is_in_loop(row)]
    for row, _, grip in steady:
        if row.kind == "lock":
            pin(row.dof, True, 0)
        elif row.kind == "friction":
            pin(row.dof, equal(grip, 0), 0)
    for row, b, grip in steady:
        if row.kind == "backlash":
            pin(row.dof, equal(abs(grip), 2), select(grip > 0, b["high"], b["low"]))
            c = select(grip > 0, b["above"], b["below"]) + b["rate"] * v[row.dof]
            pushes = equal(abs(grip), 1)
            terms.add(row.dof, select(pushes, b["rate"], 0), select(pushes, -c, 0))
    for d, (flag, velocity) in pinned.items():
        terms.pins[d] = flag
        terms.jumps[d] = velocity - v[d] if is_constant(flag) else select(flag, velocity - v[d], 0)
    for row, b, grip in steady:
        if row.kind == "friction":
            terms.add(row.dof, 0, select(terms.pins[row.dof], 0, -grip * b["friction"]))
    return terms


# ---- rounds


def expect_pieces(step: StepProgram) -> None:
    """Pieces of the step before, by its torques and impulses."""

    def expected(m: StepModel, q, v, u, clock, torques, steady, stops):
        given = drives(m.robot, q, v, u, time_of(clock, m.dt))
        bounds = [bounds_of(m.robot, row, q, v, m.dt) for row in m.joint_rows]
        grips: list[Scalar] = []
        for row, b, p in zip(m.steady_rows, bounds, steady, strict=False):
            if row.kind == "friction":
                grips.append(friction_before(p, b["friction"], v[row.dof]))
            else:
                grips.append(backlash_before(p) if row.kind == "backlash" else 0)
        return {
            "bounds": bounds,
            "saturated": [d.saturation(torque * _NEARLY) for d, torque in zip(given, torques, strict=True)],
            "grips": grips,
            "held": [sign_of(p) for p in stops],
        }

    if step.model.has_bounds:
        step.add(expected)


@contextmanager
def until_joints_agree(step: StepProgram) -> Iterator[None]:
    """Rounds until every motor and joint is on the piece of its law that was taken."""
    if not step.model.has_bounds:
        yield
        return
    start = {"rounds": [0], "patience": [_PATIENCE], "tries": [0], "circles": [0], "sweeping": [1]}
    step.add(lambda m: start)
    with step.stages.loop(_ROUNDS, until="agreed"):
        yield


def take_pieces(step: StepProgram) -> None:
    """A = L^T D L with the laws of joints, and w as if nothing touched."""

    def taken(
        m: StepModel, motion, q, v, change, forces, saturated, grips, held, stop_low, stop_high, bounds=(), lags=(0,)
    ):  # fmt: skip
        pieces = (saturated, grips, held, stop_low, stop_high)
        terms = law_terms(m, motion["drives"], bounds, v, *pieces)
        factor = factor_of_step(m, q, terms.matrix(motion["A"]), terms.pins)
        left, steps = factor.eliminated(terms.impulses(change), terms.jumps)
        start = factor.coordinates(v)
        w = [a + b for a, b in zip(start, steps, strict=True)]
        approach, gained = [], []
        if m.is_elastic:
            _, gained = factor.eliminated(terms.impulses(forces))
            known = negation(equal(lags[0], 0))
            approach = [select(known, a + b, c) for a, b, c in zip(start, gained, w, strict=True)]
        return {
            "approach": approach, "gained": gained,
            "ldl": factor.record(), "start": start, "left": [left[d] for d in m.pinned_dofs], "w": w,
            "free": w if m.can_fail else [], "changed": [0], "pins": [any_of(list(terms.pins.values()))],
            "pushes": terms.impulses([0] * len(w)), "jumps": [terms.jumps.get(d, 0) for d in range(len(w))],
        }  # fmt: skip

    step.add(taken)


def check_joints(step: StepProgram) -> None:
    """v = L^-1 w; the impulses of all laws; another round if a motor or joint is on another piece than was taken."""
    model = step.model
    if not model.has_bounds:
        step.add(lambda m, ldl, w: {"v next": factor_of(m, ldl).velocity(w)})
        return

    def velocities(m: StepModel, ldl, w):
        return {"v next": factor_of(m, ldl).velocity(w), "pushed": [0] * len(m.pinned_dofs)}

    def reactions(m: StepModel, ldl, v, v_next, left, pushed):
        factor, x = factor_of(m, ldl), [a - b for a, b in zip(v_next, v, strict=True)]
        assert isinstance(factor, PinnedFactor)
        loads = zip(m.pinned_dofs, left, pushed, strict=True)
        return {"reaction": [factor.reaction(d, x, a + b) for d, a, b in loads]}

    step.add(velocities)
    if model.pinned_dofs:
        with step.only_if("pins"):
            for k in range(len(model.groups)):

                def loaded(m: StepModel, rows, impulse, pushed, k=k):
                    loads = loads_on(m.groups[k], rows, impulse)
                    return {"pushed": [p + loads.get(d, 0) for d, p in zip(m.pinned_dofs, pushed, strict=True)]}

                with step.only_if(f"near {k}"):
                    step.add(loaded, k)
            load_pins(step)
            step.add(reactions)
    step.add(_looked)
    with step.only_if("changed"):
        step.add(_chosen)


@dataclass
class Look:
    """What a law finds of the piece that it was taken to be on.

    Attributes:
        piece: that one; new: the one that the solution shows, if it is another.
        excess: by how much it is another, a velocity or an impulse; slack: what is none of that.
        inertia: of the dof, if the excess is an impulse, else 1.
    """

    piece: Scalar
    new: Scalar
    excess: Scalar
    slack: Scalar
    inertia: Scalar = 1

    @property
    def is_wrong(self) -> Scalar:
        """Whether it is on another piece."""
        return self.excess > self.slack


@dataclass
class Looks:
    """Those of all laws, in the order of motors, limits and steady rows, None for one that does not change pieces."""

    motors: list[Look | None] = field(default_factory=list)
    limits: list[Look | None] = field(default_factory=list)
    grips: list[Look | None] = field(default_factory=list)
    stops: list[Scalar] = field(default_factory=list)  # impulses of the limits
    steady: list[Scalar] = field(default_factory=list)  # and of the steady rows

    def all(self) -> list[Look]:
        """The ones that there are."""
        return [look for look in (*self.motors, *self.limits, *self.grips) if look is not None]


def _looks(
    m: StepModel, motion: Record, ldl: Record, v: Scalars, saturated: Scalars, grips: Scalars, held: Scalars,
    low: Scalars, high: Scalars, reaction: Scalars, bounds: Sequence[Record], scale: Scalar,
) -> Looks:  # fmt: skip
    """What the laws find of a solution v."""
    tolerance = m.contact.tolerance_in(m.precision) * scale
    kept, D, found = dict(zip(m.pinned_dofs, reaction, strict=True)), ldl["D"], Looks()
    for drive, link, piece in zip(motion["drives"], motor_links(m), saturated, strict=True):
        found.motors.append(None)
        if drive["is limited"]:
            rate, inertia = link.rate(v)[0], D[link.dofs[0]] * (1 / m.dt)
            torque = drive["torque"] - drive["gain"] * rate
            above, below = torque - drive["upper"], drive["lower"] - torque
            # how far it is from the limit that it is at, or beyond one that it is not
            excess = select(piece > 0, -above, select(piece < 0, -below, maximum(above, below)))
            found.motors[-1] = Look(piece, motor_piece(piece, drive, rate), excess, tolerance * inertia, inertia)
    through = maximum(_THROUGH * scale, tolerance)
    friction = {row.dof: b["friction"] for row, b in zip(m.steady_rows, bounds, strict=False) if row.kind == "friction"}
    stopped: dict[int, tuple[Scalar, Scalar]] = {}  # whether a limit holds a joint, and its friction then
    for row, side, a, b in zip(m.stop_rows, held, low, high, strict=True):
        d, u, c, is_free = row.dof, v[row.dof], held_velocity(side, a, b), equal(side, 0)
        rub: Scalar = 0
        if d in friction:
            rub = select(equal(c, 0), friction_impulse(0, kept[d], friction[d]), -sign_of(c) * friction[d])
            stopped[d] = negation(is_free), rub
        p = select(is_free, 0, kept[d] - rub)
        inertia = select(is_free, 1, D[d])
        excess = select(is_free, maximum(a - u, u - b), -side * p)
        found.limits.append(Look(side, limit_piece(side, u, p, a, b), excess, through * inertia, inertia))
        found.stops.append(p)
    for row, b, piece in zip(m.steady_rows, bounds, grips, strict=False):
        d, u = row.dof, v[row.dof]
        found.grips.append(None)
        if row.kind == "lock":
            found.steady.append(0 if m.is_in_loop(row) else kept[d])
        elif row.kind == "backlash":
            new = backlash_piece(piece, u, kept[d], b)
            off = select(is_other(piece, new), _off_backlash(piece, u, kept[d], b, D[d]), 0)
            found.grips[-1] = Look(piece, new, off, tolerance)
            found.steady.append(backlash_impulse(piece, u, kept[d], b))
        else:
            p, sticks = friction_impulse(piece, kept[d], b["friction"]), equal(piece, 0)
            excess = select(sticks, abs(kept[d]) - b["friction"], -piece * u)
            inertia = select(sticks, D[d], 1)
            if d in stopped:  # one that a limit holds has no say
                is_held, rub = stopped[d]
                excess, p = select(is_held, 0, excess), select(is_held, rub, p)
            new = friction_piece(piece, u, kept[d], b["friction"])
            found.grips[-1] = Look(piece, new, excess, tolerance * inertia, inertia)
            found.steady.append(p)
    return found


def _looked(
    m: StepModel, motion, ldl, v_next, saturated, grips, held, stop_low, stop_high, reaction, bounds, scale, converged,
    residual, sweeping,
):  # fmt: skip
    """The impulses of all laws, and whether one is on another piece than was taken."""
    pieces = (saturated, grips, held, stop_low, stop_high)
    is_taken = both(m.has_path, equal(sweeping[0], 0))
    size = scale[0] * select(both(is_taken, equal(converged[0], 0)), _LOOSE, 1)
    looks = _looks(m, motion, ldl, v_next, *pieces, reaction, bounds, size)
    again = any_of([look.is_wrong for look in looks.all()])
    if m.has_path:
        unsolved = both(equal(converged[0], 0), residual[0] > UNSOLVED[m.precision] * scale[0])
        again = either(again, both(unsolved, negation(is_taken)))
    return {
        "agreed": [equal(again, 0)], "changed": [again], "circles": [0], "sweeping": [1], "stops": looks.stops,
        "steady": looks.steady,
    }  # fmt: skip


def _chosen(
    m: StepModel, motion, ldl, v_next, saturated, grips, held, stop_low, stop_high, reaction, bounds, scale, rounds,
    patience, converged,
):  # fmt: skip
    """The pieces to go on with, and whether it is time to solve all laws at once."""
    pieces = (saturated, grips, held, stop_low, stop_high)
    looks = _looks(m, motion, ldl, v_next, *pieces, reaction, bounds, scale[0])
    goes_on = rounds[0] < _ROUNDS - 1  # there is no other round to take it in after the last one
    misfit: Scalar = 0

    def next_of(look: Look | None) -> Scalar:
        nonlocal misfit
        if look is None:
            return 0
        misfit = maximum(misfit, select(look.is_wrong, look.excess / look.inertia, 0))
        return select(both(look.is_wrong, goes_on), look.new, look.piece)

    # contacts that fail on their own need no patience
    left = select(both(equal(converged[0], 0), equal(rounds[0], 0)), 0, patience[0] - 1)
    circles = both(left <= 0, goes_on)
    return {
        "saturated": [next_of(look) for look in looks.motors], "held": [next_of(look) for look in looks.limits],
        "grips": [next_of(look) for look in looks.grips], "rounds": [rounds[0] + 1], "misfit": [misfit],
        "circles": [circles], "patience": [select(circles, _MORE, left)],
    }  # fmt: skip


def _off_backlash(piece: Scalar, u: Scalar, p: Scalar, b: Record, D: Scalar) -> Scalar:
    """How far a backlash is off its piece, more or less, as a velocity."""
    beyond = maximum(maximum(u - b["high"], b["low"] - u), 0)
    inside = select(piece > 0, b["high"] - u, u - b["low"])
    above, below = maximum(b["above"] + b["rate"] * b["high"], 0), minimum(b["below"] + b["rate"] * b["low"], 0)
    excess = select(piece > 0, maximum(p, -above - p), maximum(-p, p + below)) / D
    line = select(piece > 0, -(b["above"] + b["rate"] * u), b["below"] + b["rate"] * u) / D
    return select(equal(piece, 0), beyond, select(equal(abs(piece), 2), excess, maximum(inside, line)))


def motor_torques(m: StepModel, motion: Record, saturated: Scalars, v: Scalars) -> list[Scalar]:
    """Torques of the motors at the end of a step, of joints with one dof, whose velocity is the same in all axes."""
    found = []
    for drive, link, piece in zip(motion["drives"], motor_links(m), saturated, strict=True):
        torque, gain = motor_line(piece, drive)
        found.append(torque - gain * link.rate(v)[0])
    return found
