"""What adapting to people is worth: first words given, the others decoded before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._errors import InputError
from ..data import Gesture
from ._decoder import Decoder
from ._given import gestures_of

# Who has fewer words left to be judged by is left out.
_LEAST_LEFT = 10
_CHUNK = 64
_FLOOR = 1e-5


def evaluate_adaptation(
    decoder: Decoder, gestures: Sequence[Gesture], *, given: int = 20
) -> dict[str, Any]:
    """Gains on the rest of people's words when the `given` first ones are confirmed; for JSON.

    All words count that are in the lexicon. Gains are paired: each person's own mean after less
    that before; their mean over people has the standard error of that mean. `log_likelihood` is in
    nats a word, of the true word's probability (but at least 0.00001).
    """
    if given < 1:
        raise InputError(f"given = {given} must be at least 1")
    users: dict[str, list[Gesture]] = defaultdict(list)
    for gesture in gestures_of(gestures):
        if gesture.word and gesture.user:
            users[gesture.user].append(gesture)
    rows: list[np.ndarray] = []
    judged = 0
    for some in users.values():
        rest = [gesture for gesture in some[given:] if gesture.word in decoder.lexicon]
        if len(rest) >= _LEAST_LEFT:
            judged += len(rest)
            adapted = decoder.adapt(some[:given])
            rows.append(np.array([_means(one, rest) for one in (decoder, adapted)]))
    if len(rows) < 2:
        raise InputError(
            f"fewer than two users have {given} words and {_LEAST_LEFT} more of the lexicon; "
            "gestures need the field user"
        )
    table = np.array(rows)
    report: dict[str, Any] = {"given": given, "users": len(rows), "words": judged}
    for column, name in enumerate(("top1", "top4", "log_likelihood")):
        gain = table[:, 1, column] - table[:, 0, column]
        report[name] = {
            "before": float(table[:, 0, column].mean()),
            "after": float(table[:, 1, column].mean()),
            "gain": float(gain.mean()),
            "standard_error": float(gain.std(ddof=1) / np.sqrt(len(gain))),
            "users_better": int((gain > 0).sum()),
            "users_worse": int((gain < 0).sum()),
        }
    return report


def _means(decoder: Decoder, gestures: Sequence[Gesture]) -> list[float]:
    """Percentages of the first guess and the first four, and the mean log-likelihood."""
    parts = []
    for at in range(0, len(gestures), _CHUNK):
        some = gestures[at : at + _CHUNK]
        found = decoder.candidates(some)
        chances = decoder.posterior(found)
        meant = found.ids == np.array([[decoder.lexicon.index[one.word]] for one in some])
        order = np.argsort(-chances, axis=1, kind="stable")
        ranked = np.take_along_axis(meant, order, axis=1)
        log = np.log(np.maximum((chances * meant).sum(axis=1), _FLOOR))
        parts.append(np.stack([100.0 * ranked[:, 0], 100.0 * ranked[:, :4].any(axis=1), log]))
    return np.concatenate(parts, axis=1).mean(axis=1).tolist()
