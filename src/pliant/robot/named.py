"""An immutable ordered collection of named things."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar

from pliant.errors import RobotError, unknown_name

__all__ = ["Named"]


class _HasName(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=_HasName)


class Named(Mapping[str, T], Generic[T]):
    """Things by name or by index, in order; a name that is not there is an error that lists near ones."""

    __slots__ = ("_by_name", "_items", "kind", "owner")

    def __init__(self, kind: str, items: Iterable[T], owner: str = ""):
        """A collection of things of a ``kind`` ("joint"), in order, that belong to ``owner`` (for errors)."""
        self.kind = kind
        self.owner = owner
        self._items = tuple(items)
        self._by_name = {item.name: item for item in self._items}
        if len(self._by_name) < len(self._items):
            twice = next(i.name for i in self._items if self._by_name[i.name] is not i)
            raise RobotError(f"two {kind}s are named {twice!r}; names must be unique")

    def __getitem__(self, key: str | int) -> T:
        if isinstance(key, str):
            found = self._by_name.get(key)
            if found is None:
                raise RobotError(unknown_name(self.kind, key, self._by_name, self.owner))
            return found
        try:
            return self._items[key]
        except TypeError:
            raise RobotError(unknown_name(self.kind, key, self._by_name, self.owner)) from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._items)

    def index(self, name: str) -> int:
        """The place of the thing of that name."""
        return self._items.index(self[name])

    def replaced(self, item: T) -> "Named[T]":
        """A copy in which ``item`` takes the place of the one of its name."""
        old = self[item.name]
        return Named(self.kind, (item if i is old else i for i in self._items), self.owner)

    def extended(self, *items: T) -> "Named[T]":
        """A copy with ``items`` at the end."""
        return Named(self.kind, (*self._items, *items), self.owner)

    def __repr__(self) -> str:
        plural = {"body": "bodies", "flexibility": "flexibilities"}.get(self.kind, f"{self.kind}s")
        return f"{len(self)} {plural}: {', '.join(self._by_name)}"
