"""A trained policy: what observations lead to what actions, and all that is needed to use it elsewhere."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import LearningError
from pliant.files.arrays import read_arrays, write_arrays
from pliant.learn.acting import Acting
from pliant.networks import Network
from pliant.scalar import Scalar, Scalars, maximum, minimum
from pliant.signatures import explained

_KIND = "pliant policy 1"
# weights of a file that are read at most [bytes]
_MOST = 2**28


@explained
@dataclass(frozen=True, eq=False)
class Policy:
    """A network with its normalisation, its names and its origin; nothing of it changes.

        policy(observations)          # mean actions: (n,) or (batch, n) in, float32 out
        policy.network(x)             # the same on scalars of any kind: traced, it is part of a compiled step
        policy.save("walk.policy");   Policy.load("walk.policy")
        policy.to_onnx("walk.onnx");  policy.c();  policy.python()

    Attributes:
        layers: weights (outputs, inputs) and offsets of each layer, float32.
        activation: between them.
        mean, scale: observations are shifted by one and multiplied by the other,
        clip: then cut off beyond it.
        std: of the noise it was trained with, an entry an action.
        observation_names, action_names: of the entries, in their order.
        environment: the task it was trained on, as its ``describe()`` says; ``digest`` tells tasks apart.
        settings: with which it was trained.
    """

    layers: tuple[tuple[np.ndarray, np.ndarray], ...]
    activation: str
    mean: np.ndarray
    scale: np.ndarray
    clip: float
    std: np.ndarray
    observation_names: tuple[str, ...]
    action_names: tuple[str, ...]
    digest: str = ""
    environment: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        made = Network.checked(self.layers, self.activation, subject="policy", error=LearningError)
        put = object.__setattr__
        put(self, "layers", tuple((_frozen(w), _frozen(b)) for w, b in made.layers))
        for name in ("observation_names", "action_names"):
            names = getattr(self, name)
            if isinstance(names, str) or not all(isinstance(n, str) for n in names):
                raise _wrong(name, f"has the {name} {names!r}", "give a name for each entry")
            put(self, name, tuple(names))
        sizes = (("mean", self.observation_size), ("scale", self.observation_size), ("std", self.action_size))
        for name, size in sizes:
            array = np.asarray(getattr(self, name), dtype=np.float32)
            if array.shape != (size,) or not np.isfinite(array).all():
                problem = f"has a {name} of shape {array.shape}" if array.shape != (size,) else f"has a {name} of NaN"
                raise _wrong(name, problem, f"it takes {size} finite numbers")
            put(self, name, _frozen(array))
        for name, size in (("observation_names", self.observation_size), ("action_names", self.action_size)):
            if len(getattr(self, name)) != size:
                raise _wrong(name, f"has {len(getattr(self, name))} {name}", f"its network has {size}")

    @property
    def observation_size(self) -> int:
        """Entries of an observation."""
        return self.layers[0][0].shape[1]

    @property
    def action_size(self) -> int:
        """Entries of an action."""
        return len(self.layers[-1][1])

    def __call__(self, observations: Any) -> np.ndarray:
        """Mean actions, float32: (n,) for one robot, (batch, n) for several; a dict of groups is asked for "actor"."""
        if isinstance(observations, Mapping):
            if "actor" not in observations:
                raise _wrong("observations", "acts on the group 'actor', which is not there", "give that group")
            observations = observations["actor"]
        x = np.asarray(observations, dtype=np.float32)
        if x.ndim not in (1, 2) or x.shape[-1] != self.observation_size:
            n = self.observation_size
            raise _wrong("observations", f"got observations of shape {x.shape}", f"it takes ({n},) or (batch, {n})")
        return self._acts(x[None])[0] if x.ndim == 1 else self._acts(x)

    @cached_property
    def _acts(self) -> Acting:
        return Acting(self.layers, self.activation, self.mean, self.scale, self.clip)

    def network(self, x: Scalars) -> list[Scalar]:
        """Mean actions at an observation, on scalars of any kind."""
        rows = zip(x, self.mean.tolist(), self.scale.tolist(), strict=True)
        return self._network([maximum(minimum((v - m) * s, self.clip), -self.clip) for v, m, s in rows])

    @cached_property
    def _network(self) -> Network:
        return Network(self.layers, self.activation)

    def check(self, env: Any) -> None:
        """Raise unless an environment has the observations and actions that the policy was trained with."""
        given = (
            ("observations", self.observation_names, tuple(env.observation_names["actor"])),
            ("actions", self.action_names, tuple(env.action_names)),
        )
        for what, own, others in given:
            if own != others:
                raise _wrong("environment", f"was trained with other {what}: {_difference(own, others)}",
                             "use it in the environment that it was trained in, or train another")  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, which holds numbers and text alone."""
        write_arrays(path, _KIND, *self.as_plain())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Policy":
        """A policy from a file; raises if it is damaged. Nothing in the file is executed."""
        about, arrays = read_arrays(path, _KIND, error=LearningError, most=_MOST)
        try:
            return cls.from_plain(about, arrays)
        except LearningError as error:
            raise error.at(os.fspath(path)) from None

    def python(self, name: str = "policy") -> str:
        """Source of a module in plain Python with one function of that name, from a list of numbers to another."""
        from pliant.learn.exports import python_source

        return python_source(self, name)

    def c(self, name: str = "policy") -> str:
        """Source of a file in C99: ``void name(const float *observations, float *actions)``, on constants alone."""
        from pliant.learn.exports import c_source

        return c_source(self, name)

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write it as ONNX: "observations" (batch, n) to "actions" (batch, m), with the normalisation inside."""
        from pliant.learn.exports import write_onnx

        write_onnx(self, path)

    def as_plain(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Plain data, as of JSON, and arrays by name."""
        about = {name: getattr(self, name) for name in _PLAIN}
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        for k, (weights, offsets) in enumerate(self.layers):
            arrays |= {f"layer{k}/weights": weights, f"layer{k}/offsets": offsets}
        return about | {"layers": len(self.layers)}, arrays

    @classmethod
    def from_plain(cls, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> "Policy":
        """A policy from plain data and arrays; raises if they do not fit together."""
        try:
            layers = [(arrays[f"layer{k}/weights"], arrays[f"layer{k}/offsets"]) for k in range(int(about["layers"]))]
            plain = {name: about[name] for name in _PLAIN}
            rest = {name: arrays[name] for name in _ARRAYS}
            clip = float(plain.pop("clip"))
        except (KeyError, TypeError, ValueError) as error:
            raise _wrong("path", f"is damaged: {error}", "take another copy of its file") from None
        kinds = {"activation": str, "digest": str, "environment": dict, "settings": dict,
                 "observation_names": list | tuple, "action_names": list | tuple}  # fmt: skip
        for name, kind in kinds.items():
            if not isinstance(plain[name], kind):
                raise _wrong(name, f"is damaged: {name} is {plain[name]!r}", "take another copy of its file")
        if not 0 < clip < np.inf:
            raise _wrong("clip", f"is damaged: clip is {clip}", "take another copy of its file")
        parts: dict[str, Any] = {**plain, **rest}
        return cls(layers=tuple(layers), clip=clip, **parts)

    def __reduce__(self) -> Any:
        return Policy.from_plain, self.as_plain()

    def _repr_html_(self) -> str:
        """What a notebook shows: the network, its observations and its actions."""
        from pliant.notebook.summaries import policy_html

        return policy_html(self)

    def __repr__(self) -> str:
        sizes = "-".join(map(str, Network(self.layers).sizes))
        return f"Policy({sizes} {self.activation}, trained on {self.digest[:12] or 'nothing'})"


_PLAIN = ("activation", "clip", "observation_names", "action_names", "digest", "environment", "settings")
_ARRAYS = ("mean", "scale", "std")


def _frozen(array: np.ndarray) -> np.ndarray:
    made = np.array(array, dtype=np.float32)
    made.flags.writeable = False
    return made


def _wrong(name: str, problem: str, cure: str) -> LearningError:
    return LearningError(f"the policy {problem}", subject="policy", field=name, cure=cure)


def _difference(own: Sequence[str], others: Sequence[str]) -> str:
    if len(own) != len(others):
        return f"{len(own)} of them, here are {len(others)}"
    k = next(k for k, pair in enumerate(zip(own, others, strict=True)) if pair[0] != pair[1])
    return f"number {k} is {own[k]!r}, here it is {others[k]!r}"
