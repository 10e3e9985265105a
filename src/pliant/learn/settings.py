"""The numbers of a learner, with the defaults that trained quadrupeds, bipeds and hoppers in half a minute."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

from pliant.chance import check_seed
from pliant.checks import check, check_at_least, check_one_of, is_real, is_whole
from pliant.errors import LearningError, unknown_name
from pliant.signatures import explained

ACTIVATIONS = ("tanh", "relu", "elu")
"""Functions between the layers that can be trained."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Numbers that shape the training; the same ones give the same bits.

    Attributes:
        hidden: units of the layers between observations and actions; () for a linear policy.
        activation: after each of them: "tanh", "relu" or "elu".
        seed: of all random numbers.
        observation_clip: normalised observations are cut off beyond it.
        observation_memory: samples after which the normalisation of observations forgets old ones.
    """

    hidden: tuple[int, ...] = (32, 32)
    activation: str = "tanh"
    seed: int = 0
    observation_clip: float = 8.0
    observation_memory: float = 5e6

    def __post_init__(self):
        object.__setattr__(self, "hidden", _sizes("hidden", self.hidden))
        check_one_of("activation", self.activation, ACTIVATIONS, subject=self.title, error=LearningError)
        check_seed(self.seed)
        self._positive("observation_clip", "observation_memory")

    @property
    def title(self) -> str:
        """Of what they are the settings."""
        return type(self).__name__.removesuffix("Settings").lower()

    def with_options(self, **options: Any) -> Self:
        """The settings with some of them changed; raises for one that does not exist."""
        known = [field.name for field in dataclasses.fields(self)]
        for name in options:
            if name not in known:
                raise LearningError(unknown_name("option", name, known, self.title))
        return dataclasses.replace(self, **options)

    def as_plain(self) -> dict[str, Any]:
        """Plain data, as of JSON."""
        return {name: list(x) if isinstance(x, tuple) else x for name, x in dataclasses.asdict(self).items()}

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """Settings from plain data; raises if they are not."""
        check("settings", plain, "names and values", isinstance(plain, dict), subject=cls.__name__, error=LearningError)
        return cls().with_options(**{n: tuple(x) if isinstance(x, list) else x for n, x in plain.items()})

    def _positive(self, *names: str) -> None:
        for name in names:
            check_at_least(name, getattr(self, name), 0, strict=True, subject=self.title, error=LearningError)

    def _not_negative(self, *names: str) -> None:
        for name in names:
            check_at_least(name, getattr(self, name), 0, subject=self.title, error=LearningError)

    def _share(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            is_right = is_real(value) and 0 <= value <= 1
            check(name, value, "a number from 0 to 1", is_right, subject=self.title, error=LearningError)

    def _whole(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            is_right = is_whole(value) and value > 0
            check(name, value, "a whole number above 0", is_right, subject=self.title, error=LearningError)

    def _range(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            is_right = isinstance(value, tuple | list) and len(value) == 2 and all(map(is_real, value))
            is_right = is_right and 0 < value[0] <= value[1]
            check(name, value, "two numbers above 0, the smaller first", is_right, subject=self.title,
                  error=LearningError)  # fmt: skip
            object.__setattr__(self, name, tuple(map(float, value)))


@explained
@dataclass(frozen=True, kw_only=True)
class PpoSettings(Settings):
    """The numbers of proximal policy optimisation [Schulman et al. 2017].

    Attributes:
        critic_hidden: layers of the critic; None for those of the actor.
        horizon: control periods of each robot between two updates.
        epochs: how often an update sees each sample.
        minibatches: steps of the optimiser an epoch.
        discount: of the reward a period later (gamma).
        gae: weight of later errors of the critic in the advantage (lambda).
        clip: how far the ratio of probabilities may leave 1 and still earn.
        entropy: weight of the reward for noise.
        std: of the noise on actions at the start.
        rate: of Adam at the start.
        rate_range: least and largest rate.
        kl_range: change of the policy in an update: below it the rate grows, above it shrinks.
        gradient_norm: longer gradients are shortened to it.
        value_weight: of the critic's error beside the actor's.
        last_scale: of the starting weights of the last layers.
        normalise_returns: whether rewards are divided by the running deviation of returns.
        symmetry: whether every second sample is seen in the mirror of the environment.
        averaging: updates over which the weights of the policy that is judged and kept are averaged; 0 for none.
            Robots act and learn with the weights of the moment.
    """

    critic_hidden: tuple[int, ...] | None = None
    horizon: int = 24
    epochs: int = 2
    minibatches: int = 4
    discount: float = 0.99
    gae: float = 0.95
    clip: float = 0.2
    entropy: float = 0.002
    std: float = 0.6
    rate: float = 1e-3
    rate_range: tuple[float, float] = (1e-4, 5e-3)
    kl_range: tuple[float, float] = (0.016, 0.04)
    gradient_norm: float = 1.0
    value_weight: float = 1.0
    last_scale: float = 0.01
    normalise_returns: bool = False
    symmetry: bool = False
    averaging: float = 0.0

    def __post_init__(self):
        super().__post_init__()
        if self.critic_hidden is not None:
            object.__setattr__(self, "critic_hidden", _sizes("critic_hidden", self.critic_hidden))
        self._whole("horizon", "epochs", "minibatches")
        self._share("discount", "gae")
        self._positive("clip", "std", "rate", "gradient_norm")
        self._not_negative("entropy", "value_weight", "last_scale", "averaging")
        self._range("rate_range", "kl_range")
        for name in ("normalise_returns", "symmetry"):
            value = getattr(self, name)
            check(name, value, "True or False", isinstance(value, bool), subject=self.title, error=LearningError)


@explained
@dataclass(frozen=True, kw_only=True)
class EvolveSettings(Settings):
    """The numbers of evolution; see `pliant.learn.evolve`.

    Attributes:
        horizon: control periods of a rollout.
        group: robots that try the same parameters, from different starts.
        std: of the parameters at the start.
        std_rate: how fast it follows what is better.
        rate: length of a step of the mean.
        momentum: share of the velocity of the mean that is kept.
    """

    hidden: tuple[int, ...] = ()
    horizon: int = 200
    group: int = 1
    std: float = 0.2
    std_rate: float = 0.2
    rate: float = 0.15
    momentum: float = 0.9

    def __post_init__(self):
        super().__post_init__()
        self._whole("horizon", "group")
        self._positive("std", "rate")
        self._not_negative("std_rate")
        self._share("momentum")


def _sizes(name: str, value: Any) -> tuple[int, ...]:
    given = (value,) if is_whole(value) else value
    is_right = isinstance(given, tuple | list) and all(is_whole(n) and 0 < n <= 4096 for n in given)
    check(name, value, "numbers of units, as in (32, 32)", is_right and len(given) <= 16, subject="network",
          error=LearningError)  # fmt: skip
    return tuple(int(n) for n in given)
