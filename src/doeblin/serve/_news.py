"""News of a search for the page: rounds, examples, candidates, restarts."""

from __future__ import annotations

import time

from ..linear import Dnf
from ..programs import Asked, Note
from ..programs.solve import all_term
from ..programs.system import Cut
from ..programs.system.terms import c_text
from ._worker import Emit, Message

# More often than this, nobody can see it.
_EVERY_SECONDS = 0.05
_MOST_CHARACTERS = 600


class Teller:
    """Passes news on as messages, and not too many of them."""

    def __init__(self, emit: Emit):
        self._emit = emit
        self._last = 0.0

    def __call__(self, news: Note | Asked) -> None:
        if isinstance(news, Note):
            self._emit(news.kind, {"text": news.text})
            return
        now = time.monotonic()
        if news.accepted or now - self._last >= _EVERY_SECONDS:
            self._last = now
            self._emit("round", _message(news))


def _message(news: Asked) -> Message:
    return {
        "round": news.round,
        "examples": {
            "reachable": news.reachable,
            "failing": news.failing,
            "steps": news.between,
        },
        "restarts": news.restarts,
        "chain_steps": news.steps,
        "seconds": round(news.seconds, 3),
        "accepted": news.accepted,
        "candidate": [
            {"line": cut.place.line, "formula": _shown(dnf, cut)} for cut, dnf in news.candidate
        ],
    }


def _shown(dnf: Dnf, cut: Cut) -> str:
    shown = dict(zip(cut.variables, cut.shown, strict=True))
    text = c_text(all_term([dnf], cut.variables), lambda name: shown.get(name, name))
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + " …"
