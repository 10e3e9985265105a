"""Functions in objects that pickle: by reference, or as the formula that they compute.

A function that a module has under its name pickles by reference. Lambdas and functions made inside others do not; one
that is generic over the scalar is kept as its formula, which is traced once and gives the same kernels, to the bit.
"""

import pickle
from collections.abc import Callable
from typing import Any

from pliant.errors import PliantError
from pliant.scalar.formulas import MOTOR_LAW, SPRING_LAW, Formula, LawFormulas


def pickles(function: Any) -> bool:
    """Whether it pickles by itself."""
    try:
        pickle.dumps(function)
    except Exception:  # whatever a user's object does
        return False
    return True


def kept(function: Any, formula: Callable[[], Any] | None, subject: str, field: str) -> Any:
    """A function that pickles: itself, or its formula.

    Args:
        function: of a user, or None.
        formula: makes its formula; None where there is none.
        subject, field: whose it is, for the error.
    """
    if function is None or pickles(function):
        return function
    reason = "it is not at the top level of a module"
    if formula is not None:
        try:
            return formula()
        except Exception as error:  # whatever a user's function does
            reason += f", and has no formula: {error}"
    problem = f"{field} of {subject} cannot be pickled: {function!r}"
    cure = "define it by `def` at the top level of a module, with its numbers as arguments"
    raise PliantError(f"{problem}; {reason}", subject=subject, field=field, cure=cure)


def kept_law(law: Any, subject: str, memory: int | None = None) -> Any:
    """A law of a spring or of an error of a sensor that pickles; of a motor with so many numbers of memory."""
    if memory is None:
        return kept(law, lambda: Formula.of(law, SPRING_LAW), subject, "law")
    return kept(law, lambda: LawFormulas.of(law, MOTOR_LAW, memory), subject, "law")


def kept_motor_law(law: Any, subject: str) -> Any:
    """A law of a motor without memory that pickles; one with a memory pickles by itself."""
    if hasattr(law, "memory"):
        return law
    return kept(law, lambda: Formula.of(law, MOTOR_LAW), subject, "law")
