"""Methods of robots whose implementation is in a layer above.

Each has its signature and its documentation here, and imports the function that does it when it is called.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pliant.signatures import explained

if TYPE_CHECKING:
    from pliant.formats.dh import DHTable
    from pliant.formats.exported import Exported
    from pliant.formats.pinocchio_export import PinocchioExport
    from pliant.render.camera import Camera
    from pliant.robot.robot import Robot
    from pliant.symbolic.robots import SymbolicRobot
    from pliant.viewer.server import Viewer


class RobotExports:
    """Converts, draws and shows a robot; a base of `Robot`."""

    @property
    def _robot(self) -> "Robot":
        return cast("Robot", self)

    def _repr_html_(self) -> str:
        """What a notebook shows: a picture, and tables."""
        from pliant.notebook.summaries import robot_html

        return robot_html(self._robot)

    @explained
    def to_dh(self, *, convention: str = "modified", tool: str | None = None, tolerance: float = 1e-13) -> "DHTable":
        """The Denavit-Hartenberg table of a chain of revolute and prismatic joints; `pliant.from_dh` reads it.

        A row for each joint that moves, along common normals of their axes, see `pliant.formats.dh_export`; coordinates
        are the robot's own. Whatever is fixed to a body is part of it. The table's base and tool take the rest of
        the geometry. Axes that are nearly but not quite parallel (within a thousandth) get a fixed row between them.
        Numbers that place the joints are floats; masses and inertias may be symbols.

        A table has masses, limits, damping, friction, armature and motors. The table's ``report`` lists other
        properties of the robot, which are left out.

        Args:
            convention: "modified" or "standard".
            tool: a frame, body or joint that moves with the last joint; by default the frame "tool", or the last
                body that does.
            tolerance: angles this close to right angles, and axes this close to parallel, are taken as such [rad]:
                1e-5 cleans up a file with rounded angles, at the price of turning its axes that much.

        Raises:
            RobotError: for branches, other joints and mimicking joints; names the joint.
        """
        from pliant.formats.dh_export import to_dh

        return to_dh(self._robot, convention=convention, tool=tool, tolerance=tolerance)

    @explained
    def to_mjcf(self) -> "Exported":
        """It as an MJCF file, for MuJoCo: `robot.to_mjcf().save("robot.xml")`.

        The mass matrix, bias forces, poses of bodies and frames, springs, damping and motors of what MuJoCo loads are
        the same. Frames are sites, closures and mimicking joints equality constraints, coupled motors act by tendons,
        and ``stances`` are keyframes. Collision shapes touch a floor with contype 1, and not each other. Meshes are
        named by their paths here. ``findings`` lists what MJCF cannot hold, or holds in another form.
        """
        from pliant.formats.mjcf_export import to_mjcf

        return to_mjcf(self._robot)

    @explained
    def to_urdf(self) -> "Exported":
        """It as a URDF file: `robot.to_urdf().save("robot.urdf")`.

        What `pliant.load` reads again has the same masses, joints, limits, damping, friction, shapes and frames, to the
        bit but for the roundings of a turn. Frames are links without mass. A joint without a motor has the effort limit
        0. The file does not say how the base moves. ``findings`` lists what URDF cannot hold, or holds in another form:
        closures, springs, rotors, gravity, ball joints.
        """
        from pliant.formats.urdf_export import to_urdf

        return to_urdf(self._robot)

    @explained
    def to_pinocchio(self) -> "PinocchioExport":
        """It as a ``pinocchio.Model``, which has the same q and v: `robot.to_pinocchio().model`.

        Joints, inertias, frames, limits, damping, friction, armature (with that of rotors) and gravity are the robot's;
        continuous joints are revolute ones without limits, and a planar joint is turned so that it moves in x and y.
        ``findings`` lists what a model does not hold: closures, springs, motors' losses, contacts. Needs Pinocchio
        (``pip install pin``).
        """
        from pliant.formats.pinocchio_export import to_pinocchio

        return to_pinocchio(self._robot)

    @explained
    def symbolic(self, *what: str, names: Mapping[str, Any] | None = None) -> "SymbolicRobot":
        """A copy with chosen numbers replaced by symbols that are named after bodies and joints, and their values.

        | what | symbols |
        |---|---|
        | "masses" | m_BODY |
        | "centers" | c_BODY of centres of mass, with _x _y _z if several entries are not zero |
        | "inertias" | I_BODY_xx and so on, about the centre of mass |
        | "lengths" | l_JOINT of the joint's place in its parent, l_FRAME of other frames; rests l_SPRING of springs |
        | "gravity" | g |
        | "armatures" | J_JOINT, J_MOTOR as felt at the joint |
        | "damping" | d_JOINT, d_MOTOR, d_SPRING |
        | "stiffness" | k_JOINT, k_SPRING; h_JOINT of hardening, r_JOINT of rests, w_JOINT of the width of a backlash |
        | "friction" | f_JOINT, f_MOTOR |

        Zeros stay zero. Lengths and gravity are positive symbols: their signs stay where they were.

        Args:
            what: kinds of numbers, as in the table, or names of symbols; by default everything.
            names: other names or formulas for some of the symbols, ``{"m_rod": "m", "I_rod_yy": m * l**2 / 12}``.
        """
        from pliant.symbolic.robots import symbolic_robot

        return symbolic_robot(self._robot, *what, names=names)

    @explained
    def to_image(
        self,
        path: str | os.PathLike[str],
        q: Any = None,
        *,
        size: tuple[int, int] = (1280, 720),
        camera: "Camera | str | dict[str, Any] | None" = None,
        ground: Any = None,
        packages: Any = (),
    ) -> Path:
        """Write a picture of it.

        Args:
            path: ends with .png, .jpg or .webp.
            q: configuration, (nq,); by default neutral, and then a robot with a free base stands on the floor.
            ground: that it stands on; None for a floor.
            size, camera, packages: as for `Log.to_video`.

        Returns:
            The path.
        """
        from pliant.render.video import robot_image

        return robot_image(self._robot, path, q, size=size, camera=camera, ground=ground, packages=packages)

    @explained
    def view(
        self,
        q: Any = None,
        *,
        ground: Any = None,
        show: str | Iterable[str] | None = (),
        port: int = 8080,
        host: str = "127.0.0.1",
        block: bool | None = None,
        browser: bool = False,
        detail: int = 80_000,
        packages: str | Path | Iterable[str | Path] = (),
    ) -> "Viewer":
        """Show it in the browser, with a slider for each joint.

        Its visual shapes are drawn, else its collision shapes, else its tree.

        Args:
            q: configuration at first, (nq,); neutral if None.
            ground: `pliant.flat()` and others; None for none.
            show: marks to switch on: "frames", "inertias", "mass", "contacts", "names".
            port: to listen on; the next free one if it is in use, and any if 0.
            host: "127.0.0.1" accepts this machine only, "0.0.0.0" others, too.
            block: whether to wait until the viewer is closed; None: in a script, not in a shell or notebook.
            browser: whether to open a browser window.
            detail: the most triangles to draw.
            packages: more folders to search for meshes.

        Returns:
            The viewer: its ``url``, ``close()`` and ``wait()``; a context manager.
        """
        from pliant.viewer.viewer import view_robot

        return view_robot(
            self._robot, q, ground=ground, show=show, port=port, host=host, block=block, browser=browser,
            detail=detail, packages=packages,
        )  # fmt: skip

    @explained
    def stance(self, state: str | None = None) -> np.ndarray:
        """The configuration in which it stands, within its joint limits and with a free base at the origin.

            q = robot.on_ground(robot.stance())

        It is a state of the SRDF file beside the robot's file (or in the folder ``srdf`` beside that of the file), as
        the shipped robots and those of example-robot-data have one, or a keyframe of its MJCF file, which says where a
        free base is, too. Raises `RobotError` if there is none.

        Args:
            state: name of the state or keyframe; by default the first of half_sitting, standing, reference and home.

        Returns:
            q, nq [rad or m].
        """
        from pliant.catalogue.starts import stance

        return stance(self._robot, state)

    @explained
    def on_ground(self, q: Any, ground: Any = None, *, height: float = 0.0) -> np.ndarray:
        """Configurations with the free base moved up or down, so that the lowest contact just touches the ground.

        A robot without contact shapes counts with those that a simulation gives it.

        Args:
            q: (nq,) or (batch, nq).
            ground: by default flat, at z = 0.
            height: of the lowest contact above the ground [m].

        Returns:
            Copies of q.
        """
        from pliant.catalogue.starts import on_ground

        return on_ground(self._robot, q, ground, height=height)
