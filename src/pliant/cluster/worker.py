"""The program of a worker process: it takes calls from a pipe, and ends with the program that started it."""

import contextlib
import faulthandler
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from pliant.cluster.messages import Answer, Call, raised, receive, send

IS_WORKER = "PLIANT_WORKER"
"""Set in the environment of workers: they start no workers of their own for a script that is imported."""

# looks at the parent [s]
_EVERY = 0.5


def done(call: Call, held: dict[str, Any]) -> Answer:
    """Do a call; a worker whose time is over writes where it was, and ends."""
    with contextlib.ExitStack() as stack:
        if call.limit is not None:
            # by a thread of C, which needs neither the interpreter's lock nor a parent that lives
            file = stack.enter_context(open(call.trace or os.devnull, "w"))
            faulthandler.dump_traceback_later(call.limit, exit=True, file=file)
            stack.callback(faulthandler.cancel_dump_traceback_later)
        held["attempt"] = call.attempt
        try:
            return Answer("done", call.function(held, *call.arguments))
        except BaseException as error:  # also SystemExit of a user's function
            return raised(error)


def _ends_with(parent: int) -> None:
    """End this process when its parent has ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_EVERY)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    """Take calls until the pipe is closed; arguments: its number, the parent's, and the script or ""."""
    pipe, parent, script = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    os.environ[IS_WORKER] = "1"
    # Ctrl-C is for the program, which ends its workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _ends_with(parent)
    held: dict[str, Any] = {}
    with Connection(pipe) as connection:
        send(connection, "ready")
        while True:
            try:
                call = receive(connection, script)
            except (EOFError, OSError):
                return
            except Exception as error:  # what the call names cannot be imported here
                answer = raised(error)
            else:
                answer = done(call, held)
            try:
                send(connection, answer)
            except (EOFError, OSError):
                return
            except Exception as error:  # the answer does not pickle
                send(connection, raised(error))
