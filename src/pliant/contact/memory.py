"""What contact laws remember: its form, where it is kept, and how it goes on.

    law.memory = (0, (0, 0))                                       # at touch-down: a number and a vector
    law(depth, rate, slip, memory) -> (normal, friction, memory_rate)
    law.settled(depth, rate, slip, memory) -> memory               # optional, after each step

An entry of the memory is a number, or a pair: a vector along the two tangents, as the slip. The memory that a law is
called with and the rates that it returns have the same form. As long as a contact is open, its memory is what it is at
touch-down.

Tangents turn where the ground is curved, and with the bodies that meet. So vectors are kept in the axes of what is
touched, with the normal there, three numbers of the state each. When the law is called they are turned with the normal,
the shortest way, and laid on the tangents of the moment: the spring under a foot turns with the plate that it stands
on, and that under a ball goes with the ball.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.scalar import Expr, Scalar, Scalars
from pliant.scalar.evaluation import nodes_of, tangents
from pliant.spatial import Vector

# so little that it changes no number; what it is added to is an argument of its own in a trace
_NOTHING = 1e-300

# Newton's iterations for the memory at the end of a step, if its rate is not linear in it
_ITERATIONS = 4

# for derivatives on plain numbers
_DIFFERENCE = 1e-7


@dataclass(frozen=True)
class Axes:
    """The axes of a contact: two tangents and the normal; and the rotation of what is touched, None for the ground."""

    x: Vector
    y: Vector
    normal: Vector
    R: Any = None

    def outward(self, vector: Vector) -> Vector:
        """A vector in the axes of what is touched, in those of the contact's own."""
        return vector if self.R is None else self.R.rotate(vector)

    def inward(self, vector: Vector) -> Vector:
        """The other way round."""
        return vector if self.R is None else self.R.rotate_back(vector)

    def along(self, vector: Vector) -> Vector:
        """A vector along the tangents and the normal."""
        return Vector(self.x.dot(vector), self.y.dot(vector), self.normal.dot(vector))


@dataclass(frozen=True)
class Memory:
    """The form of a law's memory.

    Attributes:
        start: numbers and pairs, at touch-down.
    """

    start: tuple[Any, ...] = ()

    @classmethod
    def of(cls, law: Any) -> "Memory":
        """That of a law, whose memory has been checked; empty if it has none."""
        return cls(tuple(tuple(x) if is_pair(x) else x for x in getattr(law, "memory", ())))

    def __bool__(self) -> bool:
        return bool(self.start)

    @property
    def size(self) -> int:
        """Numbers along the axes of a contact."""
        return sum(2 if is_pair(x) else 1 for x in self.start)

    @property
    def stored(self) -> list[float]:
        """The numbers of the state at touch-down; vectors are zero there, and no normal is kept yet."""
        found = [float(y) for x in self.start for y in ((0, 0, 0) if is_pair(x) else (x,))]
        return found + [0.0] * self._kept

    @property
    def labels(self) -> list[str]:
        """Names of the numbers of the state: "0" for a number, "0.x", "0.y", "0.z" for a vector, "normal.x", ..."""
        places = [[f"{k}.{axis}" for axis in "xyz"] if is_pair(x) else [str(k)] for k, x in enumerate(self.start)]
        return [label for place in places for label in place] + [f"normal.{axis}" for axis in "xyz"[: self._kept]]

    def shaped(self, flat: Scalars) -> list[Any]:
        """Numbers along the axes of a contact as the law takes them."""
        left = iter(flat)
        return [(next(left), next(left)) if is_pair(x) else next(left) for x in self.start]

    def flat(self, shaped: Any) -> list[Scalar]:
        """The other way round; TypeError or ValueError if the form is another."""
        found: list[Scalar] = []
        for x, given in zip(self.start, shaped, strict=True):
            if is_pair(x):
                first, second = given
                found += [first, second]
            else:
                found.append(given)
        return found

    def read(self, stored: Scalars, axes: Axes) -> list[Scalar]:
        """Numbers of the state along the axes of a contact."""
        left, found = iter(stored), []
        normal = self._normal(stored, axes)
        for x in self.start:
            if is_pair(x):
                vector = _turned(axes.outward(Vector(next(left), next(left), next(left))), normal, axes.normal)
                found += [axes.x.dot(vector), axes.y.dot(vector)]
            else:
                found.append(next(left))
        return found

    def write(self, flat: Scalars, axes: Axes) -> list[Scalar]:
        """The other way round: numbers of the state."""
        return self._written(flat, axes, axes.normal) + (list(axes.inward(axes.normal)) if self.has_vectors else [])

    def write_back(self, flat: Scalars, axes: Axes, stored: Scalars) -> list[Scalar]:
        """The same for the normal that is kept, which stays."""
        return self._written(flat, axes, self._normal(stored, axes)) + list(stored[len(stored) - self._kept :])

    def write_rate(self, flat: Scalars, axes: Axes, stored: Scalars) -> list[Scalar]:
        """Rates of the numbers of the state, with the normal that is kept."""
        return self._written(flat, axes, self._normal(stored, axes)) + [0] * self._kept

    @property
    def has_vectors(self) -> bool:
        """Whether vectors are among it."""
        return any(map(is_pair, self.start))

    @property
    def _kept(self) -> int:
        return 3 if self.has_vectors else 0

    def _normal(self, stored: Scalars, axes: Axes) -> Vector:
        return axes.outward(Vector(*stored[-3:])) if self.has_vectors else Vector.zero()

    def _written(self, flat: Scalars, axes: Axes, normal: Vector) -> list[Scalar]:
        left, found = iter(flat), []
        for x in self.start:
            if is_pair(x):
                vector = axes.x * next(left) + axes.y * next(left)
                found += list(axes.inward(_turned(vector, axes.normal, normal)))
            else:
                found.append(next(left))
        return found


def _turned(vector: Vector, start: Vector, end: Vector) -> Vector:
    """A vector across a normal, turned with it the shortest way; one that begins (start 0) is laid across the end."""
    if start is end:
        return vector
    return vector - (start + end) * (vector.dot(end) / (1 + start.dot(end)))


def is_pair(x: Any) -> bool:
    """Whether an entry of a memory is a vector."""
    return isinstance(x, list | tuple)


# ---- derivatives and linear systems of a few unknowns, on traced scalars and on numbers


def own_nodes(values: Scalars) -> list[Scalar]:
    """The same values as nodes of their own: none is part of another, so that derivatives are partial."""
    return [x + _NOTHING * (k + 1) if isinstance(x, Expr) else x for k, x in enumerate(values)]


def partials(function: Callable[[list[Scalar]], Sequence[Scalar]], at: Scalars) -> tuple[list[Scalar], list[list]]:
    """The results of a function, and a row of derivatives for each: by a trace, or by differences of plain numbers."""
    given = own_nodes(at)
    results = list(function(given))
    traced = [x for x in (*results, *given) if isinstance(x, Expr)]
    if traced:
        outputs = [traced[0].graph.lift(x) for x in results]
        columns = [tangents(outputs, {x: 1}) if isinstance(x, Expr) else [0] * len(results) for x in given]
    else:
        columns = []
        for k, x in enumerate(given):
            h = _DIFFERENCE * max(1, abs(x))
            ahead = function([*given[:k], x + h, *given[k + 1 :]])
            columns.append([(b - a) / h for a, b in zip(results, ahead, strict=True)])
    return results, [list(row) for row in zip(*columns, strict=True)]


def solved(A: Sequence[Scalars], b: Scalars) -> list[Scalar]:
    """x of A x = b, by elimination in the order of the rows: A is near one or has a positive symmetric part."""
    n, rows = len(b), [[*row, y] for row, y in zip(A, b, strict=True)]
    for c in range(n):
        scale = 1 / rows[c][c]
        rows[c] = [x * scale for x in rows[c]]
        for r in range(c + 1, n):
            rows[r] = [x - rows[r][c] * y for x, y in zip(rows[r], rows[c], strict=True)]
    x: list[Scalar] = [0] * n
    for r in reversed(range(n)):
        x[r] = rows[r][n] - sum((rows[r][k] * x[k] for k in range(r + 1, n)), 0)
    return x


def ahead(rate: Callable[[list[Scalar]], Sequence[Scalar]], memory: Scalars, dt: Scalar) -> list[Scalar]:
    """m of m = memory + dt rate(m): the memory at the end of a step, by Newton's method.

    It is exact at once where the rate is linear in the memory.
    """
    now = list(memory)
    for _ in range(_ITERATIONS):
        given: list[list[Scalar]] = []

        def kept(m: list[Scalar], given=given) -> Sequence[Scalar]:
            given.append(m)
            return rate(m)

        rates, slopes = partials(kept, now)
        if all(not isinstance(x, Expr) and x == 0 for row in slopes for x in row):
            return [m + dt * r for m, r in zip(memory, rates, strict=True)]
        A = [[(1 if r == c else 0) - dt * x for c, x in enumerate(row)] for r, row in enumerate(slopes)]
        missing = [m + dt * r - x for m, r, x in zip(memory, rates, now, strict=True)]
        now = [x + y for x, y in zip(now, solved(A, missing), strict=True)]
        inputs = {x.index for x in given[0] if isinstance(x, Expr)}
        depends = nodes_of([x for row in slopes for x in row if isinstance(x, Expr)])
        if inputs and not any(node.index in inputs for node in depends):
            return now
    return now
