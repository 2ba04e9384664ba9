"""How much the server takes on."""

from __future__ import annotations

from dataclasses import dataclass

from .._errors import InputError

BODY_BYTES = 256 * 1024
PROGRAM_CHARACTERS = 64 * 1024
POINTS = 5_000
STATES = 12
STAGES = 8
TOUR_STEPS = 400
# Of what a browser keeps of its person: words counted, and letters of a word.
HAND_WORDS = 500
WORD_LETTERS = 60
LONGEST_VERIFY = 60.0
# Of connections: seconds for a request to come in, and how many may wait for theirs at a time.
READ_SECONDS = 10.0
MOST_UNREAD = 256


@dataclass(frozen=True)
class Limits:
    """Time, memory and queues.

    `jobs` programs are verified at a time, each for at most `verify_seconds`; gestures have as many
    workers, sums of finite chains have one. A queue that is full turns requests away with a hint
    when to come back.
    """

    jobs: int = 2
    verify_seconds: float = 20.0
    quick_seconds: float = 10.0
    patience_seconds: float = 60.0
    """How long a request waits for a worker before it is turned away."""
    verify_queue: int = 32
    quick_queue: int = 256
    memory_mb: int = 3072
    kept_results: int = 64

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise InputError(f"jobs = {self.jobs} must be at least 1")
        if not 0 < self.verify_seconds <= LONGEST_VERIFY:
            raise InputError(
                f"the time limit of {self.verify_seconds:g} s is outside (0, {LONGEST_VERIFY:g}]"
            )
