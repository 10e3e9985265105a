"""Which joints of an SDF model carry its links, and which close loops.

SDF has a graph of links; a robot has a tree of bodies. A link is carried by the first joint that names it as its
child, but rather by one that no closure can stand for (a slide, a universal joint), or that has a spring. What is still
apart then is joined by joints the other way round, parent on child. All joints that are left close loops.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Edge(NamedTuple):
    """A joint as an edge of the graph.

    Attributes:
        rank: joints of lower rank go into the tree first.
    """

    name: str
    parent: str
    child: str
    rank: int


class Carried(NamedTuple):
    """A joint of the tree: the link that it carries, on which, and whether that is the file's way round."""

    edge: Edge
    parent: str
    child: str
    is_turned: bool


class Tree(NamedTuple):
    """The largest tree of a graph.

    Attributes:
        root: its first link, or the world.
        carried: joints from the root outward, depth first, siblings in the order of the file.
        closing: joints between links of the tree that are not part of it.
        left_out: links of other trees.
    """

    root: str
    carried: tuple[Carried, ...]
    closing: tuple[Edge, ...]
    left_out: tuple[str, ...]


def largest_tree(links: Sequence[str], edges: Sequence[Edge], world: str, first: str) -> Tree:
    """The tree with the most links.

    Args:
        links: in the order of the file, without the world.
        edges: joints, in the order of the file.
        world: the name that stands for it, which may be a parent or child.
        first: the link that is the root if no joint carries it.
    """
    groups = _Groups([*links, world])
    is_chosen: set[int] = set()
    carried: set[str] = set()
    by_rank = sorted(range(len(edges)), key=lambda k: edges[k].rank)
    for k in by_rank:
        edge = edges[k]
        if edge.child not in carried and edge.child != world and groups.joined(edge.parent, edge.child):
            carried.add(edge.child)
            is_chosen.add(k)
    for k in by_rank:
        if k not in is_chosen and groups.joined(edges[k].parent, edges[k].child):
            is_chosen.add(k)

    sizes: dict[str, int] = {}
    for link in links:
        group = groups.of(link)
        sizes[group] = sizes.get(group, 0) + 1
    largest = max(sizes, key=lambda group: sizes[group])
    members = [link for link in links if groups.of(link) == largest]
    free = [link for link in members if link not in carried]
    root = world if groups.of(world) == largest else first if first in free else free[0]

    order = _outward(root, [edges[k] for k in sorted(is_chosen)])
    inside = {root, *members}
    rest = (edge for k, edge in enumerate(edges) if k not in is_chosen)
    closing = tuple(edge for edge in rest if edge.parent in inside and edge.child in inside)
    left_out = tuple(link for link in links if link not in inside)
    return Tree(root, tuple(order), closing, left_out)


def _outward(root: str, edges: Iterable[Edge]) -> list[Carried]:
    """The edges of a tree from its root outward."""
    beside: dict[str, list[Edge]] = {}
    for edge in edges:
        beside.setdefault(edge.parent, []).append(edge)
        beside.setdefault(edge.child, []).append(edge)
    found: list[Carried] = []
    stack = [Carried(edge, root, _other(edge, root), edge.child == root) for edge in reversed(beside.get(root, []))]
    while stack:
        carried = stack.pop()
        found.append(carried)
        here = carried.child
        onward = [edge for edge in beside.get(here, []) if edge is not carried.edge]
        stack += [Carried(edge, here, _other(edge, here), edge.child == here) for edge in reversed(onward)]
    return found


def _other(edge: Edge, link: str) -> str:
    return edge.child if edge.parent == link else edge.parent


class _Groups:
    """Disjoint sets of links that joints join."""

    def __init__(self, links: Iterable[str]):
        self._above = {link: link for link in links}

    def of(self, link: str) -> str:
        """The name of the group of a link."""
        while self._above[link] != link:
            self._above[link] = link = self._above[self._above[link]]
        return link

    def joined(self, a: str, b: str) -> bool:
        """Join the groups of two links; False if they are one already."""
        a, b = self.of(a), self.of(b)
        self._above[b] = a
        return a != b
