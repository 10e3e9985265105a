"""From the value of an observation to what a policy sees: noise, clip, scale, delay and history."""

from collections.abc import Sequence

from pliant.chance import Chance
from pliant.environment.terms import Observation
from pliant.scalar import Scalar, Scalars, maximum, minimum, select


def processed(term: Observation, numbers: Sequence[Scalar], chance: Chance | None) -> list[Scalar]:
    """Numbers with noise if there is chance, within their bounds, scaled."""
    found = list(numbers)
    if term.noise is not None and chance is not None:
        found = [x + term.noise.draw(chance) for x in found]
    if term.clip is not None:
        found = [maximum(-term.clip, minimum(x, term.clip)) for x in found]
    return [term.scale * x for x in found] if term.scale != 1 else found


def past_size(term: Observation, n: int) -> int:
    """Numbers to remember for an observation of n numbers."""
    longest = term.delay[1]
    return (1 + n * longest if longest else 0) + n * (term.history - 1)


def remembered(
    term: Observation, numbers: list[Scalar], past: Scalars, chance: Chance | None = None, *, is_first: bool = False
) -> tuple[list[Scalar], list[Scalar]]:
    """What is shown of an observation that comes late or has a history, and what is kept.

    Args:
        past: the delay in periods, the last values, the newest first; then the values shown before, the oldest first.
        chance: of the delay of an episode; without it the delay is the least.
        is_first: whether an episode begins: all that was before is what is now.
    """
    n, (least, longest), kept = len(numbers), term.delay, list(past)
    line, shown = (kept[: 1 + n * longest], kept[1 + n * longest :]) if longest else ([], kept)
    found = numbers
    if longest and is_first:
        more = 0 if chance is None or longest == least else chance.whole(longest - least + 1)
        line = [least + more, *(numbers * longest)]
    elif longest:
        delay, before = line[0], [numbers, *(line[1 + n * k : 1 + n * (k + 1)] for k in range(longest))]
        found = before[longest]
        for late in reversed(range(least, longest)):
            found = [select(delay <= late, a, b) for a, b in zip(before[late], found, strict=True)]
        line = [delay, *numbers, *line[1 : 1 + n * (longest - 1)]]
    if term.history > 1:
        found = [*(found * (term.history - 1) if is_first else shown), *found]
        shown = found[n:]
    return found, [*line, *shown]
