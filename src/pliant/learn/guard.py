"""Numbers that cease to be finite: found where they appear, named, and left in a snapshot that shows them again."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import LearningError
from pliant.files.arrays import read_arrays, write_arrays
from pliant.learn.policy import Policy
from pliant.signatures import explained

_KIND = "pliant learning snapshot 1"


@explained
@dataclass(frozen=True, eq=False)
class Snapshot:
    """The last moments of a training that failed.

        snapshot = error.snapshot            # or Snapshot.load(path)
        outcome = snapshot.replay(env)       # the step that failed, or the last one before

    Attributes:
        problem: what was not finite.
        state: of the environment at the start of these moments.
        actions: since then, (steps, batch, n).
        policy: that acted, unless its own numbers are not finite.
        digest: of the environment.
    """

    problem: str
    state: Mapping[str, np.ndarray]
    actions: np.ndarray
    policy: Policy | None
    digest: str

    def replay(self, env: Any) -> Any:
        """Take the environment back and act again; returns what its last step did, None if there was none."""
        if env.digest != self.digest:
            raise LearningError("the snapshot is of another task", subject="snapshot", field="environment",
                                cure="make the environment that it was taken of")  # fmt: skip
        env.state = dict(self.state)
        outcome = None
        for actions in self.actions:
            outcome = env.step(actions)
        return outcome

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file."""
        about: dict[str, Any] = {"problem": self.problem, "digest": self.digest, "policy": None}
        arrays = {"actions": self.actions} | {f"state/{name}": x for name, x in self.state.items()}
        if self.policy is not None:
            about["policy"], own = self.policy.as_plain()
            arrays |= {f"policy/{name}": x for name, x in own.items()}
        write_arrays(path, _KIND, about, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Snapshot":
        """A snapshot from a file."""
        about, arrays = read_arrays(path, _KIND, error=LearningError)
        try:
            policy = about["policy"] and Policy.from_plain(about["policy"], part(arrays, "policy"))
            return cls(about["problem"], part(arrays, "state"), arrays["actions"], policy, about["digest"])
        except KeyError as error:
            raise LearningError(f"{os.fspath(path)} is damaged: {error}", subject="snapshot", field="path") from None


def part(arrays: Mapping[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """The arrays below a name, such as those of "state/..."."""
    return {key.removeprefix(f"{name}/"): x for key, x in arrays.items() if key.startswith(f"{name}/")}


def first_bad(what: str, array: np.ndarray, names: Sequence[str] = ()) -> str:
    """A clause about the first entry of an array (batch, n) or (batch,) that is not finite, "" if all are."""
    bad = np.argwhere(~np.isfinite(array))
    if not len(bad):
        return ""
    robot, *entry = bad[0].tolist()
    column = f" {names[entry[0]]!r}" if entry and names else ""
    others = len({int(k) for k in bad[:, 0]}) - 1
    more = f", and of {others} more" if others else ""
    return f"{what}{column} of robot {robot} is {array[tuple(bad[0])]}{more}"
