"""Exit statuses: one table for all commands."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """What a command's exit status says."""

    DONE = 0
    UNSAFE = 1
    UNKNOWN = 2
    INPUT_ERROR = 3
    DIFFERS = 4
    INTERNAL_ERROR = 70
    OUTPUT_ERROR = 74
    INTERRUPTED = 130
    CLOSED_PIPE = 141
    TERMINATED = 143


MEANING = {
    Status.DONE: "done; SAFE, confirmed, a formula that fits",
    Status.UNSAFE: "UNSAFE, and nothing else",
    Status.UNKNOWN: "no full answer: UNKNOWN, not confirmed, a formula that errs",
    Status.INPUT_ERROR: "bad input or usage",
    Status.DIFFERS: "bench: a verdict differs from the expected one",
    Status.INTERNAL_ERROR: "a fault of doeblin itself (--debug shows where)",
    Status.OUTPUT_ERROR: "the output could not be written",
    Status.INTERRUPTED: "interrupted (Ctrl-C)",
    Status.CLOSED_PIPE: "nobody reads the output any more",
    Status.TERMINATED: "terminated (SIGTERM)",
}
TABLE = "\b\nExit status:\n" + "\n".join(f"  {s.value:>3}  {text}" for s, text in MEANING.items())


class Terminated(KeyboardInterrupt):
    """SIGTERM: everything is left as after Ctrl-C, only the status is another."""
