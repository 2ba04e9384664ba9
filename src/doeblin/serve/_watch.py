"""Watches a search from within the worker process: rounds, examples, candidates, restarts.

The library tells of lemmas by itself. The rest is read off where the learner puts a candidate to
its teacher and where a chain has run, by wrapping those two for the time of one attempt; a worker
makes one attempt at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..programs import _verify
from ..programs.flow import Cut
from ..programs.learner import Learner, _search
from ..programs.output import c_text
from ..programs.proof import Dnf, all_term
from ._worker import Emit, Message

# More often than this, nobody can see it.
_EVERY_SECONDS = 0.05
_MOST_CHARACTERS = 600


@contextmanager
def watching(emit: Emit) -> Iterator[Callable[[str, str], None]]:
    """Within, an attempt tells of its rounds; gives what `on_event` wants."""
    watch = _Watch(emit)
    learner, chain = _verify.Learner, _search.Chain

    class WatchedLearner(learner):
        def __post_init__(self) -> None:
            super().__post_init__()
            watch.learner(self)

    class WatchedChain(chain):
        def run(self, *args: Any, **options: Any) -> bool:
            solved = super().run(*args, **options)
            watch.restarts += self.tours
            return solved

    _verify.Learner, _search.Chain = WatchedLearner, WatchedChain
    try:
        yield lambda kind, text: emit(kind, {"text": text})
    finally:
        _verify.Learner, _search.Chain = learner, chain


class _Watch:
    def __init__(self, emit: Emit):
        self.restarts = 0
        self._emit = emit
        self._last = 0.0

    def learner(self, learner: Learner) -> None:
        accepts = learner.teacher.accepts

        def watched(candidate: list[Dnf]) -> bool:
            accepted = accepts(candidate)
            now = time.monotonic()
            if accepted or now - self._last >= _EVERY_SECONDS:
                self._last = now
                self._emit("round", self._news(learner, candidate, accepted))
            return accepted

        learner.teacher.accepts = watched  # type: ignore[method-assign]

    def _news(self, learner: Learner, candidate: Sequence[Dnf], accepted: bool) -> Message:
        data, progress = learner.data, learner.progress
        return {
            "round": progress.rounds,
            "examples": {
                "reachable": len(data.good),
                "failing": len(data.bad),
                "steps": len(data.free_pairs()),
            },
            "restarts": self.restarts,
            "chain_steps": progress.steps,
            "seconds": round(learner.clock.seconds, 3),
            "accepted": accepted,
            "candidate": [
                {"line": cut.place.line, "formula": _shown(dnf, cut)}
                for dnf, cut in zip(candidate, learner.system.cuts, strict=True)
            ],
        }


def _shown(dnf: Dnf, cut: Cut) -> str:
    shown = dict(zip(cut.variables, cut.shown, strict=True))
    text = c_text(all_term([dnf], cut.variables), lambda name: shown.get(name, name))
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + " …"
