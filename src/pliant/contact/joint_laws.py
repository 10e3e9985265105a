"""Laws of joints in a step, a straight piece at a time: limits, dry friction, backlash, locks, limits of motors.

With u the velocity of a dof at the end of a step and p the impulse of a law along it, a law is a graph of straight
pieces that never rises:

- a limit or a lock keeps u within [low, high]: p >= 0 at the lower end, p <= 0 at the upper one, none between;
- dry friction is p = -f dt where u > 0, f dt where u < 0, and anything between at u = 0;
- a motor with gains gives its line in u, cut off at the limits of its torque, and by the lines of its supply;
- a spring with backlash pushes only beyond it: p = -max(0, c+ + r u) where u takes the joint beyond its upper end,
  -min(0, c- + r u) beyond the lower one, with c the impulse of the spring on either side if the joint stayed, and r
  what motion adds to it. Where u just reaches an end, p is anything between that and none.

On a sloping or level piece, p = c - r u: r joins the matrix of the step and c its impulses. On an upright one u is
known, and the dof is pinned (`pliant.dynamics.pinned_factor`). So with every piece known, a step is linear but for its
contacts. Pieces are guessed to be those of the step before; each solution tells which of them are wrong, and the next
one takes others [primal-dual active sets, which are Newton's method for such laws; Hintermueller, Ito and Kunisch
2002]. As a rule the guess is right.

A piece is a number. Of a limit: 1 if it holds at the lower end, -1 at the upper one, 0 if not. Of dry friction: 0 if
the joint sticks, else the sign of u. Of a backlash: 0 if it does not push, 1 and -1 beyond the upper and the lower end,
2 and -2 just at them. Of a motor: 1 or -1 at its upper or lower limit, 2 or -2 where the supply bounds it, else 0.
"""

from typing import Any

from pliant.scalar import Scalar, abs, both, equal, maximum, minimum, negation, select

Record = dict[str, Any]


# ---- dry friction


def friction_before(p: Scalar, bound: Scalar, u: Scalar) -> Scalar:
    """The piece of the step before, by its impulse; where there is none, by the velocity."""
    slides = abs(p) >= bound * (1 - 1e-6)
    return select(equal(p, 0), sign_of(u), select(slides, -sign_of(p), 0))


def friction_piece(piece: Scalar, u: Scalar, p: Scalar, bound: Scalar) -> Scalar:
    """The piece that a solution shows; p is the impulse that kept the joint, if it stuck."""
    starts = select(abs(p) > bound, -sign_of(p), 0)
    return select(equal(piece, 0), starts, select(piece * u < 0, 0, piece))


def friction_impulse(piece: Scalar, p: Scalar, bound: Scalar) -> Scalar:
    """Its impulse; p is the one that kept the joint, if it stuck."""
    return select(equal(piece, 0), minimum(maximum(p, -bound), bound), -piece * bound)


# ---- limits


def limit_piece(piece: Scalar, u: Scalar, p: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """The piece that a solution shows: a limit that would pull lets go; one that is gone through takes hold."""
    kept = select(piece * p > 0, piece, 0)
    taken = select(u < low, 1, select(u > high, -1, 0))
    return select(equal(piece, 0), taken, kept)


# ---- backlash


def backlash_before(p: Scalar) -> Scalar:
    """The piece of the step before, by its impulse."""
    return -sign_of(p)


def backlash_piece(piece: Scalar, u: Scalar, p: Scalar, bounds: Record) -> Scalar:
    """The piece that a solution shows; p is the impulse that kept the joint at an end."""
    up = _side_piece(piece, u, -p, bounds["above"], bounds["rate"], bounds["high"])
    down = _side_piece(-piece, -u, p, -bounds["below"], bounds["rate"], -bounds["low"])
    return select(piece > 0, up, select(piece < 0, -down, select(equal(up, 0), -down, up)))


def _side_piece(piece: Scalar, u: Scalar, push: Scalar, c: Scalar, r: Scalar, end: Scalar) -> Scalar:
    """The piece at the upper end: 0, 1 or 2; ``push`` is what it takes to stay there."""
    most = maximum(c + r * end, 0)
    held = select(push < 0, 0, select(push > most, 1, 2))
    pushes, is_beyond = c + r * u > 0, u > end
    arrives = select(both(is_beyond, pushes), select(most > 0, 2, 1), 0)
    stays = select(pushes, select(u < end, select(most > 0, 2, 0), 1), 0)
    return select(equal(piece, 2), held, select(equal(piece, 1), stays, arrives))


def backlash_impulse(piece: Scalar, u: Scalar, p: Scalar, bounds: Record) -> Scalar:
    """Its impulse; p is the one that kept the joint at an end."""
    line = select(piece > 0, bounds["above"], bounds["below"]) + bounds["rate"] * u
    return select(equal(piece, 0), 0, select(equal(abs(piece), 2), p, -line))


# ---- motors


def motor_piece(piece: Scalar, drive: Record, rate: Scalar) -> Scalar:
    """The piece that a solution shows: 1 or -1 if the torque would be beyond the upper or the lower limit, else 0.

    From one limit to the other it goes by way of its gains: without these, a light joint is thrown far past them.
    """
    torque = drive["torque"] - drive["gain"] * rate
    upper, lower = both(torque > drive["upper"], piece >= 0), both(torque < drive["lower"], piece <= 0)
    own = select(upper, 1, select(lower, -1, 0))
    if drive["supply"] is None:
        return own
    least, most = supply_bounds(drive, rate)
    within = minimum(maximum(torque, drive["lower"]), drive["upper"])
    above, below = both(within > most, piece >= 0), both(within < least, piece <= 0)
    return select(above, 2, select(below, -2, own))


def motor_excess(piece: Scalar, drive: Record, rate: Scalar) -> Scalar:
    """How far a motor's torque is from the limit that it is at, or beyond one that it is not."""
    torque = drive["torque"] - drive["gain"] * rate
    if drive["supply"] is not None:
        line, gain = motor_line(piece, drive)
        least, most = supply_bounds(drive, rate)
        within = minimum(maximum(torque, drive["lower"]), drive["upper"])
        return abs(line - gain * rate - minimum(maximum(within, least), most))
    above, below = torque - drive["upper"], drive["lower"] - torque
    return select(piece > 0, -above, select(piece < 0, -below, maximum(above, below)))


def supply_bounds(drive: Record, rate: Scalar) -> tuple[Scalar, Scalar]:
    """The torques of a motor at the least and at the largest voltage."""
    supply = drive["supply"]
    return supply["least"] - supply["gain"] * rate, supply["most"] - supply["gain"] * rate


def motor_line(piece: Scalar, drive: Record) -> tuple[Scalar, Scalar]:
    """Torque and gain of a motor on a piece: the torque at the end of the step is torque - gain u."""
    if not drive["is limited"]:
        return drive["torque"], drive["gain"]
    torque = select(piece > 0, drive["upper"], select(piece < 0, drive["lower"], drive["torque"]))
    gain = select(equal(piece, 0), drive["gain"], 0)
    if (supply := drive["supply"]) is not None:
        torque = select(piece > 1, supply["most"], select(piece < -1, supply["least"], torque))
        gain = select(abs(piece) > 1, supply["gain"], gain)
    return torque, gain


def sign_of(x: Scalar) -> Scalar:
    """1, -1 or 0."""
    return select(x > 0, 1, select(x < 0, -1, 0))


def is_other(a: Scalar, b: Scalar) -> Scalar:
    """Whether pieces differ."""
    return negation(equal(a, b))
