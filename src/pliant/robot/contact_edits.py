"""Copies of a robot that touch with more, or less."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pliant.robot import contacts
from pliant.robot.collisions import MERGE, collision_contacts
from pliant.robot.contacts import ContactShape
from pliant.robot.named import Named
from pliant.robot.report import Report

if TYPE_CHECKING:
    from pliant.robot.robot import Robot

__all__ = ["ContactEdits"]

Scalar = Any


class ContactEdits:
    """The methods of `Robot` that change what of it can touch."""

    def with_contact(
        self,
        frame: str,
        *,
        radius: Scalar = 0,
        points: Sequence[Sequence[Scalar]] | None = None,
        box: Sequence[Scalar] | None = None,
        length: Scalar | None = None,
        name: str | None = None,
        friction: Scalar | None = None,
        restitution: Scalar | None = None,
    ) -> "Robot":
        """A copy that touches with a shape more, at a frame.

        Without options it is a point; with ``radius`` a sphere; with ``radius`` and ``length`` a capsule along the
        frame's z; with ``box`` the corners of a box.

        Args:
            frame: name of a frame, body or joint.
            radius: [m], 0 for points.
            points: [(x, y, z), ...] in the frame [m], in place of its origin.
            box: full sizes (x, y, z) [m].
            length: of a capsule's segment, between the centers of its ends [m].
            name: of the shape, by default the frame's.
            friction, restitution: its own; None for those of the ground and the contact model.
        """
        shape = contacts.shape_at(
            self._touching, frame, radius=radius, points=points, box=box, length=length, name=name,
            friction=friction, restitution=restitution,
        )  # fmt: skip
        return self._with_shapes([shape])

    def with_contacts(self, *frames: str, **options: Any) -> "Robot":
        """A copy that touches with the same shape at several frames; options as in `with_contact`, but for ``name``.

        Args:
            frames: their names; if none is given, every body that carries no other: feet, hands, heads.
        """
        robot = self._touching
        if not frames:
            carrying = {joint.parent for joint in robot.joints.values()}
            frames = tuple(body for body in robot.bodies if body not in carrying)
        return self._with_shapes([contacts.shape_at(robot, frame, **options) for frame in frames])

    def without_contacts(self, *names: str) -> "Robot":
        """A copy without these contact shapes and their pairs; without any if no name is given."""
        robot = self._touching
        leaving = {robot.contacts[name].name for name in names or robot.contacts}
        kept = [shape for shape in robot.contacts.values() if shape.name not in leaving]
        pairs = tuple(pair for pair in robot.contact_pairs if not leaving & set(pair))
        return replace(robot, contacts=self._named(kept), contact_pairs=pairs)

    def with_contact_pair(self, a: str, b: str) -> "Robot":
        """A copy in which two spheres or capsules, on bodies that move against each other, touch each other too."""
        robot = self._touching
        contacts.check_pair(robot, a, b)
        return replace(robot, contact_pairs=(*robot.contact_pairs, (a, b)))

    def with_collision_contacts(
        self,
        bodies: str | Iterable[str] | None = None,
        *,
        points: int = 8,
        merge: float = MERGE,
        limit: int | None = 12,
        packages: str | Path | Iterable[str | Path] = (),
    ) -> "Robot":
        """A copy that touches with the collision shapes of its bodies.

        Spheres, capsules and boxes are exact on flat ground. A cylinder becomes points on its two rims, a mesh
        those few of its vertices that keep its outline best. What is approximated, by how many points and how
        far off, and what cannot be used, is in ``report``. Left out are bodies that the world holds, points
        strictly inside of another shape of the same rigid part, and all but one of those that coincide.

        Args:
            bodies: which ones, all if None.
            points: most points for a mesh or a cylinder, at least 4; a cylinder gets at least 6.
            merge: points on one rigid part that are at most so far apart are one [m].
            limit: most points on one rigid part, a body with those fixed to it; None for all. Those are kept that
                keep the outline of the part best.
            packages: more folders to find mesh files in, beside those given on loading.
        """
        shapes, findings = collision_contacts(self._touching, bodies, points, merge, limit, packages)
        robot = self._with_shapes(shapes)
        return replace(robot, report=Report([*robot.report, *findings]))

    @property
    def _touching(self) -> "Robot":
        return cast("Robot", self)

    def _with_shapes(self, shapes: Iterable[ContactShape]) -> "Robot":
        robot = self._touching
        shapes = list(shapes)
        for shape in shapes:
            contacts.check_shape(shape)
        together = [*robot.contacts.values(), *shapes]
        named = self._named(together)
        contacts.check_point_names(together)
        return replace(robot, contacts=named)

    def _named(self, shapes: Iterable[ContactShape]) -> Named[ContactShape]:
        return Named("contact", shapes, self._touching.bodies.owner)
