"""A worker process: one job at a time from standard input, answers to standard output.

Messages are lines of JSON. The process ends when its input does, so it never outlives the server;
it may be killed at any moment.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import queue
import resource
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from .._compiling import when_compiling
from .._errors import InputError, MissingExtraError, UnsupportedError

Message = dict[str, Any]
Emit = Callable[[str, Message], None]
Handler = Callable[[Message, Emit, threading.Event], Message]
Say = Callable[[str], None]

_MODULES = {"chains": "_chain_tasks", "decode": "_decode_tasks", "verify": "_verify_tasks"}
# Programs that nest deeply recurse deeply.
_STACK_BYTES = 512 * 1024 * 1024


class _Channel:
    """Standard output, kept for messages: what libraries print goes to standard error."""

    def __init__(self) -> None:
        self._file = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def send(self, **message: Any) -> None:
        data = json.dumps(message).encode() + b"\n"
        with self._lock:
            self._file.write(data)
            self._file.flush()


def main(kind: str, memory_mb: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when to stop
    channel = _Channel()
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
    jobs: queue.SimpleQueue[Message] = queue.SimpleQueue()
    cancels: dict[str, threading.Event] = {}
    threading.stack_size(min(_STACK_BYTES, memory_mb << 18))
    threading.Thread(target=_work, args=(kind, channel, jobs, cancels), daemon=True).start()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "cancel" in message:
            cancel = cancels.get(message["cancel"])
            if cancel is not None:
                cancel.set()
        else:
            cancels.clear()  # the server sends the next job only after the last one's answer
            cancels[message["job"]] = threading.Event()
            jobs.put(message)
    os._exit(0)


def _work(
    kind: str,
    channel: _Channel,
    jobs: queue.SimpleQueue[Message],
    cancels: dict[str, threading.Event],
) -> None:
    def say(doing: str) -> None:
        channel.send(doing=doing)

    def compiling(about: float) -> None:
        say(f"compiling once on this machine, about {about:.0f} s")

    say("starting")
    when_compiling(compiling)
    try:
        handle: Handler = importlib.import_module(f"{__package__}.{_MODULES[kind]}").prepare(say)
    except ModuleNotFoundError as error:
        channel.send(unavailable=str(MissingExtraError.explaining(error) or error))
        os._exit(1)
    except MissingExtraError as error:
        channel.send(unavailable=str(error))
        os._exit(1)
    # A solver's memory hangs on cycles of objects: each job's garbage goes before the next comes.
    gc.collect()
    gc.freeze()  # what is loaded for good need not be looked at again
    channel.send(ready=True)
    while True:
        gc.collect()
        message = jobs.get()
        job = message["job"]

        def emit(event: str, data: Message, job: str = job) -> None:
            channel.send(job=job, event=event, data=data)

        try:
            result = handle(message["payload"], emit, cancels[job])
        except (InputError, UnsupportedError) as error:
            channel.send(job=job, refused=_refusal(error))
        except MemoryError:
            channel.send(job=job, failed="out of memory")
        except Exception as error:  # told to the client; the worker lives on
            channel.send(job=job, failed=f"{type(error).__name__}: {error}"[:500])
        else:
            channel.send(job=job, result=result)


def _refusal(error: Exception) -> Message:
    place = getattr(error, "place", None)
    found: Message = {"message": getattr(error, "message", None) or str(error)}
    if place is not None and place.line is not None:
        found |= {"line": place.line, "column": place.column}
    return found


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
