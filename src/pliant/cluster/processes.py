"""Workers that are processes of this machine."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import Pipe

from pliant.cluster.messages import Answer, Call, receive, script_path, send

# libraries of linear algebra take one thread in each worker, unless the user says otherwise
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class LostError(Exception):
    """A worker has ended before it answered."""


class Process:
    """A worker process at the other end of a pipe."""

    def __init__(self) -> None:
        here, there = Pipe()
        with there:
            paths = [path for path in sys.path if path]
            environment = dict.fromkeys(_THREADS, "1") | os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
            program = [sys.executable, "-c", "from pliant.cluster.worker import main; main()"]
            arguments = [str(there.fileno()), str(os.getpid()), script_path() or ""]
            self._process = subprocess.Popen(
                [*program, *arguments], pass_fds=[there.fileno()], env=environment, stdin=subprocess.DEVNULL
            )
        self._pipe = here
        self.name = str(self._process.pid)
        self._is_ready = False

    def exchange(self, call: Call) -> Answer:
        """Have a call done; raises `LostError` if the worker ends meanwhile."""
        try:
            if not self._is_ready:
                self._is_ready = receive(self._pipe) == "ready"
            send(self._pipe, call)
            return receive(self._pipe)
        except (EOFError, OSError):
            raise LostError(self._ended()) from None

    def _ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(10)
            return f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return "without closing its process"

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def close(self) -> None:
        """Let the process end, or end it."""
        self._pipe.close()
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def process_starter(threads: int) -> Callable[[], Process]:
    """What starts worker processes; ``threads`` of each are the work's own business here."""
    return Process
