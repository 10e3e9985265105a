"""The process in which MuJoCo compiles files: run as a program, it reads requests and writes models as plain arrays.

A request is the length of a JSON text (8 bytes), the text, and the bytes of the files that it lists; an answer is a
JSON text in the same way and the bytes of the arrays that it lists. Each request is worked on by a child of its own,
which may open no file, and has limits of time and memory, where the system has them (docs/decisions/0034).

Nothing of Pliant is imported here, and nothing is unpickled on either side.
"""

import json
import os
import signal
import sys
from importlib import import_module
from typing import Any, BinaryIO

# arrays of the compiled model that the reader uses
FIELDS = (
    "names", "paths", "qpos0", "qpos_spring",
    "body_parentid", "body_rootid", "body_mocapid", "body_jntnum", "body_jntadr", "body_dofnum", "body_pos",
    "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia", "body_gravcomp", "body_plugin",
    "body_geomnum", "body_geomadr",
    "jnt_type", "jnt_qposadr", "jnt_dofadr", "jnt_bodyid", "jnt_limited", "jnt_actfrclimited", "jnt_actgravcomp",
    "jnt_solref", "jnt_solimp", "jnt_pos", "jnt_axis", "jnt_stiffness", "jnt_stiffnesspoly", "jnt_springyield",
    "jnt_range", "jnt_actfrcrange", "jnt_margin", "jnt_actuatorid",
    "dof_armature", "dof_damping", "dof_dampingpoly", "dof_frictionloss",
    "geom_type", "geom_contype", "geom_conaffinity", "geom_condim", "geom_bodyid", "geom_dataid", "geom_matid",
    "geom_group", "geom_priority", "geom_size", "geom_pos", "geom_quat", "geom_friction", "geom_margin", "geom_rgba",
    "geom_plugin", "geom_fluid",
    "site_bodyid", "site_type", "site_pos", "site_quat", "site_size", "cam_bodyid", "cam_pos", "cam_quat", "cam_mode",
    "mat_rgba", "mesh_vertadr", "mesh_vertnum", "mesh_faceadr", "mesh_facenum", "mesh_vert", "mesh_face",
    "mesh_scale", "mesh_pos", "mesh_quat", "mesh_pathadr",
    "eq_type", "eq_obj1id", "eq_obj2id", "eq_objtype", "eq_active0", "eq_data",
    "tendon_adr", "tendon_num", "tendon_limited", "tendon_stiffness", "tendon_stiffnesspoly", "tendon_damping",
    "tendon_dampingpoly", "tendon_frictionloss", "tendon_armature", "tendon_length0", "tendon_lengthspring",
    "tendon_actfrclimited",
    "wrap_type", "wrap_objid", "wrap_prm",
    "actuator_trntype", "actuator_dyntype", "actuator_gaintype", "actuator_biastype", "actuator_trnid",
    "actuator_dynprm", "actuator_gainprm", "actuator_biasprm", "actuator_actlimited", "actuator_actrange",
    "actuator_actearly", "actuator_delay", "actuator_forcelimited", "actuator_forcerange", "actuator_ctrllimited",
    "actuator_ctrlrange", "actuator_gear", "actuator_plugin", "actuator_ctrladr", "actuator_ctrlnum", "actuator_outadr",
    "actuator_actadr", "actuator_damping", "actuator_dampingpoly", "actuator_armature", "actuator_group",
    "sensor_type", "sensor_objtype", "sensor_objid", "sensor_reftype", "sensor_refid", "sensor_noise", "sensor_cutoff",
    "sensor_delay", "sensor_interval",
    "key_time", "key_qpos", "key_qvel", "key_ctrl", "exclude_signature", "pair_geom1", "pair_geom2",
)  # fmt: skip
SIZES = (
    "nq", "nv", "nu", "nactuator", "na", "nbody", "njnt", "ngeom", "nsite", "ncam", "nlight", "nmesh", "nhfield",
    "ntex", "nmat", "neq", "ntendon", "nsensor", "nkey", "nmocap", "nplugin", "nflex", "nskin", "npair", "nexclude",
)  # fmt: skip
OPTIONS = (
    "timestep", "gravity", "wind", "density", "viscosity", "integrator", "cone", "disableflags", "enableflags",
    "disableactuator",
)  # fmt: skip
NAMED = (
    "body", "jnt", "geom", "site", "cam", "mesh", "eq", "tendon", "actuator", "sensor", "key", "hfield", "flex", "skin",
)  # fmt: skip


def main(stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Answer requests until there are no more."""
    # before files can no longer be opened
    mujoco: Any = import_module("mujoco")
    import_module("numpy")
    _ = mujoco.MjModel.from_xml_string("<mujoco/>")
    while (request := read_message(stdin)) is not None:
        stdout.write(_answer(mujoco, *request))
        stdout.flush()


def _answer(mujoco: Any, about: dict[str, Any], files: list[bytes]) -> bytes:
    """The answer to a request, from a child where the system can fork."""
    if not hasattr(os, "fork"):
        return _compiled(mujoco, about, files)
    inward, outward = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(inward)
            _limit(about)
            with os.fdopen(outward, "wb", closefd=False) as pipe:
                pipe.write(_compiled(mujoco, about, files))
            code = 0
        finally:
            os._exit(code)
    os.close(outward)
    with os.fdopen(inward, "rb") as pipe:
        found = pipe.read()
    _, status = os.waitpid(child, 0)
    if status == 0:
        return found
    ended = os.waitstatus_to_exitcode(status)
    return message({"ended": signal.Signals(-ended).name if ended < 0 else str(ended)}, [])


def _limit(about: dict[str, Any]) -> None:
    """Take from this process what compiling does not need: files, and more than its share of time and memory."""
    import resource

    seconds = int(about["seconds"])
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)
    # threads add up
    _set_limit(resource, "RLIMIT_CPU", 4 * seconds)
    _set_limit(resource, "RLIMIT_AS", int(about["memory"]))
    for what in ("RLIMIT_CORE", "RLIMIT_FSIZE"):
        _set_limit(resource, what, 0)
    # what is open stays so; nothing more can be opened, no file and no connection
    _set_limit(resource, "RLIMIT_NOFILE", 0)


def _set_limit(resource: Any, what: str, most: int) -> None:
    kind = getattr(resource, what, None)
    if kind is not None:
        try:
            resource.setrlimit(kind, (most, most))
        except (OSError, ValueError):
            # above what the user may have already, or not a limit of this system
            if what == "RLIMIT_NOFILE":
                raise


def _compiled(mujoco: Any, about: dict[str, Any], files: list[bytes]) -> bytes:
    """The message of a compiled model, or of the compiler's error."""
    import numpy as np

    try:
        vfs = mujoco.MjVfs()
        for (path, _), content in zip(about["files"], files, strict=True):
            vfs[path] = content
        model = mujoco.MjModel.from_xml_path(about["main"], vfs=vfs)
    except MemoryError:
        return message({"error": "it needs too much memory"}, [])
    except Exception as error:  # the bindings raise several kinds
        return message({"error": f"{error}"}, [])
    arrays = {name: getattr(model, name) for name in FIELDS if hasattr(model, name)}
    arrays |= {f"name_{what}adr": getattr(model, f"name_{what}adr") for what in NAMED}
    arrays = {
        name: np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.ascontiguousarray(value)
        for name, value in arrays.items()
    }
    listed = [(name, array.dtype.str, list(array.shape)) for name, array in arrays.items()]
    options = {name: np.asarray(getattr(model.opt, name)).tolist() for name in OPTIONS}
    sizes = {name: int(getattr(model, name)) for name in SIZES}
    head = {"arrays": listed, "options": options, "sizes": sizes, "version": mujoco.__version__}
    return message(head, [array.tobytes() for array in arrays.values()])


# ---- messages


def message(about: dict[str, Any], parts: list[bytes]) -> bytes:
    """A JSON text with its length, and the bytes that it lists."""
    text = json.dumps(about).encode()
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def read_message(stream: BinaryIO) -> tuple[dict[str, Any], list[bytes]] | None:
    """A request: its JSON and the bytes of its files; None at the end."""
    size = stream.read(8)
    if len(size) < 8:
        return None
    about = json.loads(stream.read(int.from_bytes(size, "little")))
    return about, [stream.read(length) for _, length in about["files"]]


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
