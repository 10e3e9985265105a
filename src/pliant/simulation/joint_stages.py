"""Stages for the laws of joints: which piece of its law each motor and joint is on (`pliant.contact.joint_laws`).

``saturated`` has the pieces of the motors, ``grips`` those of dry friction, backlash and locks, ``held`` those of the
limits. With them the matrix of the step is factorized, with pins where velocities are known; contacts are solved; and
every law looks at the result. Robots of which one is on another piece than was taken go round again.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from pliant.actuation.joint_forces import Drive, bristles, drives
from pliant.actuation.shafts import Shaft, shaft_of
from pliant.contact.constraint_rows import bounds_of
from pliant.contact.joint_laws import (
    backlash_before, backlash_impulse, backlash_piece, friction_before, friction_impulse, friction_piece, is_other,
    limit_piece, motor_excess, motor_line, motor_piece, sign_of,
)  # fmt: skip
from pliant.contact.solver import loads_on
from pliant.dynamics.pinned_factor import PinnedFactor
from pliant.scalar import Scalar, Scalars, abs, both, either, equal, is_constant, maximum, minimum, negation, select
from pliant.simulation.loop_stages import load_pins
from pliant.simulation.model import StepModel
from pliant.simulation.state import time_of
from pliant.simulation.step_factor import Matrix, factor_of, factor_of_step
from pliant.simulation.step_program import Record, StepProgram, any_of

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

# joints with friction by speed that are slower are taken to stick [rad/s or m/s]
_STUCK = {"float64": 1e-9, "float32": 1e-5}


@dataclass
class Terms:
    """What the laws of joints add to a step, on the pieces that they are on; by dof.

    Attributes:
        gains: to the diagonal of the matrix; pushes: to the impulses.
        pins: whether the dof is pinned; jumps: the change of its velocity then, else 0.
        cross: to entries (d, e) below the diagonal, of motors that drive several joints.
    """

    gains: dict[int, Scalar] = field(default_factory=dict)
    pushes: dict[int, Scalar] = field(default_factory=dict)
    pins: dict[int, Scalar] = field(default_factory=dict)
    jumps: dict[int, Scalar] = field(default_factory=dict)
    cross: dict[tuple[int, int], Scalar] = field(default_factory=dict)

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
        for (d, e), gain in self.cross.items():
            rows[d][e] = rows[d][e] + gain
        return rows


def motor_shafts(m: StepModel) -> list[Shaft]:
    """The shaft of each motor, and of those again whose friction bends: of each of `drives_of`."""
    return [shaft_of(m.robot, motor) for motor in (*m.robot.motors.values(), *m.bristled_motors)]


def drives_of(m: StepModel, q: Scalars, v: Scalars, u: Scalars, clock: Scalars, motor_memory: Scalars) -> list[Drive]:
    """The motors at the start of a step, and then the friction of those of which it bends."""
    states = m.motor_memory.states(motor_memory)
    given = drives(m.robot, q, v, u, time_of(clock, m.dt), states=states, dt=m.dt)
    return [*given, *bristles(m.robot, v, states)]


def drive_record(drive: Drive, dt: Scalar, *, is_friction: bool = False) -> Record:
    """The line of a motor, or of its friction, in the joint's velocity at the end of the step, and its limits."""
    record = {"torque": drive.line.torque, "gain": drive.line.gain(dt), "lower": drive.lower, "upper": drive.upper}
    supply = drive.supply and {
        "least": drive.supply[0].torque, "most": drive.supply[1].torque, "gain": drive.supply[0].damping
    }  # fmt: skip
    # viscous friction of several joints has no place on the diagonal
    drag = drive.motor.viscous_friction if drive.shaft.is_coupled and not is_friction else 0
    return {**record, "is limited": drive.is_limited, "supply": supply, "drag": drag}


def held_velocity(side: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """Of a joint that a limit holds: 1 for the lower one."""
    return select(side > 0, low, high)


def law_terms(
    m: StepModel, drives: Sequence[Record], bounds: Sequence[Record], v: Scalars, saturated: Scalars, grips: Scalars,
    held: Scalars, low: Scalars, high: Scalars,
) -> Terms:  # fmt: skip
    """What the laws add to a step on these pieces; v is the velocity at its start."""
    terms = Terms()
    for drive, shaft, piece in zip(drives, motor_shafts(m), saturated, strict=True):
        torque, gain = motor_line(piece, drive)
        gain, rate = gain + drive["drag"], shaft.rate(v)
        for d, ratio in shaft.columns.items():
            terms.add(d, m.dt * ratio * ratio * gain, m.dt * ratio * (torque - gain * rate))
            for e, other in shaft.columns.items():
                if e < d:
                    terms.cross[d, e] = terms.cross.get((d, e), 0) + m.dt * ratio * other * gain
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

    def expected(m: StepModel, q, v, u, clock, torques, steady, stops, motor_memory):
        given = drives_of(m, q, v, u, clock, motor_memory)
        rates = [drive.shaft.rate(v) for drive in given]
        # friction bends or slides as it would if its joint went on so
        bent = [d.line.torque - d.line.gain(m.dt) * x for d, x in zip(given, rates, strict=True)][len(torques) :]
        guesses = [*(torque * _NEARLY for torque in torques), *bent]
        bounds = [bounds_of(m.robot, row, q, v, m.dt) for row in m.joint_rows]
        grips: list[Scalar] = []
        for row, b, p in zip(m.steady_rows, bounds, steady, strict=False):
            if row.joint in m.slippery_joints:  # their bounds change from step to step, so impulses do not tell
                grips.append(select(abs(v[row.dof]) > _STUCK[m.precision], sign_of(v[row.dof]), 0))
            elif row.kind == "friction":
                grips.append(friction_before(p, b["friction"], v[row.dof]))
            else:
                grips.append(backlash_before(p) if row.kind == "backlash" else 0)
        return {
            "bounds": bounds,
            "saturated": [d.saturation(*guess) for d, *guess in zip(given, guesses, rates, strict=True)],
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
    for drive, shaft, piece in zip(motion["drives"], motor_shafts(m), saturated, strict=True):
        found.motors.append(None)
        if drive["is limited"]:
            rate, inertia = shaft.rate(v), D[next(iter(shaft.columns))] * (1 / m.dt)
            new, excess = motor_piece(piece, drive, rate), motor_excess(piece, drive, rate)
            found.motors[-1] = Look(piece, new, excess, tolerance * inertia, inertia)
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
    """Torques of `drives_of` at the end of a step, of joints with one dof, whose velocity is the same in all axes."""
    found = []
    for drive, shaft, piece in zip(motion["drives"], motor_shafts(m), saturated, strict=True):
        torque, gain = motor_line(piece, drive)
        found.append(torque - gain * shaft.rate(v))
    return found
