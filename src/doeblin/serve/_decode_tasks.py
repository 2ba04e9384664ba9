"""Gestures to words, in the worker process."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from functools import lru_cache

import numpy as np

from .._errors import InputError
from ..gestures import Decoder, Generator, Gesture, Hand, Layout, Lexicon, Model
from ._worker import Emit, Handler, Message, Say


def prepare(say: Say) -> Handler:
    say("getting the decoder ready")
    model, lexicon = Model.shipped(), Lexicon.embedded(10_000)

    @lru_cache(maxsize=4)
    def decoder(layout: str | None) -> Decoder:
        keys = Layout.from_json(json.loads(layout)) if layout is not None else None
        # A person swipes once a second: numpy is fast enough, and nobody waits for a compiler.
        return Decoder(model, lexicon, layout=keys, compiled=False)

    plain = decoder(None)
    plain.decode([Generator(plain.layout).gesture("warm", np.random.default_rng(0))])

    def handle(payload: Message, emit: Emit, cancel: threading.Event) -> Message:
        layout = payload.get("layout")
        chosen = decoder(json.dumps(layout, sort_keys=True) if layout is not None else None)
        gesture = _gesture(payload["points"], chosen.layout)
        if payload.get("hand") is not None:
            chosen = chosen.with_hand(Hand.from_json(payload["hand"]))
        if payload["task"] == "adapt":
            adapted = chosen.adapt([replace(gesture, word=payload["word"].lower())])
            return {"hand": adapted.hand.to_json(), "learned": adapted is not chosen}
        if payload["task"] == "tours":
            return _tours(chosen, gesture, payload["steps"], payload["seed"])
        guesses = chosen.decode([gesture], top=payload["k"])[0]
        return {"candidates": [{"word": g.word, "probability": g.probability} for g in guesses]}

    return handle


def _gesture(points: list[Message], layout: Layout) -> Gesture:
    gesture = Gesture.checked(*([point[axis] for point in points] for axis in "xyt"))
    far = np.abs([gesture.x - layout.width / 2, gesture.y - layout.height / 2]).max()
    if far > 10 * max(layout.width, layout.height):
        raise InputError(
            "the trace is far off the keyboard; coordinates are in key widths and key heights "
            f"from its top left corner, so up to {layout.width:g} and {layout.height:g}"
        )
    return gesture


def _tours(decoder: Decoder, gesture: Gesture, steps: int, seed: int) -> Message:
    """A stretch of the decoder's strong Doeblin chain, from a restart on, step by step.

    A step restarts from u with probability ε and else redraws the word from the full model: the
    chain of `Decoder.run`, without waiting for JAX to compile it.
    """
    candidates = decoder.candidates([gesture])
    found = candidates.ids[0] >= 0
    if not found.any():
        raise InputError("no word of the lexicon fits this trace")
    epsilon, rng = decoder.model.epsilon, np.random.default_rng(seed)
    restarts = rng.random(steps) < epsilon
    restarts[0] = True
    u = np.exp(candidates.log_u[0, found])
    full = np.exp(decoder.log_full(candidates)[0, found])
    states = np.where(
        restarts,
        rng.choice(len(u), steps, p=u / u.sum()),
        rng.choice(len(full), steps, p=full / full.sum()),
    )
    law = decoder.posterior(candidates)[0, found]
    words = [decoder.lexicon.words[word] for word in candidates.ids[0, found]]
    seen = sorted(set(states.tolist()), key=lambda state: -law[state])
    return {
        "epsilon": epsilon,
        "words": [{"word": words[k], "probability": float(law[k])} for k in seen],
        "steps": [
            {"word": words[k], "restart": bool(fresh)}
            for k, fresh in zip(states.tolist(), restarts, strict=True)
        ],
    }
