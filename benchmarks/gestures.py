"""Swipe decoding: cost and accuracy beside template matching and the plain trie decoder."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from doeblin.gestures.data import Generator, Gesture, Layout, Lexicon, merged
from doeblin.gestures.decoder import Decoder, Likelihood, Model

WORDS, BATCH, POINTS = 400, 256, 32
LAYOUT = Layout.qwerty()


def run() -> dict[str, Any]:
    """Generated gestures, since real ones cannot be shipped; processor time on one core."""
    model = Model.generated()
    gestures = list(
        Generator(LAYOUT, noise=1.3).sample(Lexicon.embedded(10_000), WORDS, seed=5, power=0.5)
    )
    lexicon = Lexicon.embedded(10_000)
    full = Decoder(model, lexicon)
    plain_weights = np.zeros_like(model.word_weights)
    # u's own score: mass, frequency and doubled letters at the weights of u.
    plain_weights[:3] = 1.0, *model.weights[-2:]
    plain = Decoder(dataclasses.replace(model, word_weights=plain_weights), lexicon)
    whole = dataclasses.replace(model.settings, prune=0.0, prune_deep=0.0)
    exact = Decoder(dataclasses.replace(model, settings=whole), lexicon)
    shark = Templates(lexicon)
    decoders = {
        "doeblin": measured(lambda g: full.decode([g], top=4)[0], gestures),
        "u over the trie, no word-level factors": measured(
            lambda g: plain.decode([g], top=4)[0], gestures
        ),
        "doeblin, unpruned (100 gestures)": measured(
            lambda g: exact.decode([g], top=4)[0], gestures[:100]
        ),
        "templates (SHARK2-style)": measured(lambda g: shark.decode(g), gestures),
    }
    return {
        "decoders": decoders,
        "times_faster_than_templates": decoders["templates (SHARK2-style)"]["ms_per_word"]
        / decoders["doeblin"]["ms_per_word"],
        "by_lexicon_size": [
            _by_lexicon(model, gestures, size) for size in (5000, 10_000, 25_000, 50_000)
        ],
        "by_trace_length": [_by_length(full, factor) for factor in (1, 2, 4)],
        "training": _training(gestures, lexicon, model),
    }


def measured(
    decode: Callable[[Gesture], Sequence[Any]], gestures: Sequence[Gesture]
) -> dict[str, float]:
    """Accuracy and milliseconds a word, one gesture at a time."""
    decode(gestures[0])
    start = time.process_time()
    answers = [decode(gesture) for gesture in gestures]
    spent = time.process_time() - start
    words = [[guess[0] for guess in row] for row in answers]
    return {
        "top1": 100
        * float(np.mean([row[:1] == [g.word] for row, g in zip(words, gestures, strict=True)])),
        "top4": 100
        * float(np.mean([g.word in row for row, g in zip(words, gestures, strict=True)])),
        "ms_per_word": 1000 * spent / len(gestures),
    }


class Templates:
    """SHARK2's idea in numpy: prune by start and end, then compare location and shape."""

    def __init__(self, lexicon: Lexicon):
        self.lexicon = lexicon
        self.places = np.stack(
            [along(LAYOUT.plane[LAYOUT.encode(merged(word))]) for word in lexicon.words]
        )
        self.shapes = shape(self.places)

    def decode(self, gesture: Gesture, top: int = 4) -> list[tuple[str, float]]:
        trace = along(np.stack([gesture.x, gesture.y * LAYOUT.aspect], axis=1))
        radius, near = 1.6, np.empty(0, int)
        while len(near) < 10 and radius < 12:
            ends = np.linalg.norm(self.places[:, [0, -1]] - trace[[0, -1]], axis=2)
            near = np.flatnonzero((ends < radius).all(axis=1))
            radius *= 1.5
        location = np.linalg.norm(self.places[near] - trace, axis=2).mean(axis=1)
        form = np.linalg.norm(self.shapes[near] - shape(trace), axis=2).mean(axis=1)
        scores = -0.5 * (location / 0.3) ** 2 - 0.5 * (form / 0.12) ** 2
        scores += 0.5 * self.lexicon.log_frequencies[near]
        order = np.argsort(-scores)[:top]
        return [(self.lexicon.words[near[k]], float(scores[k])) for k in order]


def along(points: np.ndarray) -> np.ndarray:
    """Points at equal distances along a path."""
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0, at[-1], POINTS)
    return np.stack([np.interp(wanted, at, points[:, k]) for k in (0, 1)], axis=1)


def shape(points: np.ndarray) -> np.ndarray:
    """The shape alone: centred, its larger side scaled to one."""
    centred = points - points.mean(axis=-2, keepdims=True)
    size = np.ptp(centred, axis=-2).max(axis=-1)[..., None, None]
    return centred / np.maximum(size, 0.5)


def _by_lexicon(model: Model, gestures: Sequence[Gesture], size: int) -> dict[str, float]:
    decoder = Decoder(model, Lexicon.embedded(size))
    found = measured(lambda g: decoder.decode([g], top=4)[0], gestures[:200])
    nodes = float(decoder.candidates(gestures[:200]).nodes.mean())
    return {"words": size, "nodes": decoder.trie.num_nodes, "nodes_walked": nodes, **found}


def _by_length(decoder: Decoder, factor: int) -> dict[str, float]:
    """Traces slowed down: more frames, the same words."""
    settings = dataclasses.replace(
        decoder.model.settings, least_frames=16 * factor, most_frames=16 * factor
    )
    slowed = Decoder(dataclasses.replace(decoder.model, settings=settings), decoder.lexicon)
    maker = Generator(LAYOUT).sample(decoder.lexicon, 150, seed=6)
    found = measured(lambda g: slowed.decode([g], top=4)[0], list(maker))
    return {"frames": 16 * factor, "ms_per_word": found["ms_per_word"]}


def _training(gestures: Sequence[Gesture], lexicon: Lexicon, model: Model) -> dict[str, float]:
    likelihood = Likelihood(gestures, lexicon, LAYOUT, model.settings, 0.01)
    likelihood(model.weights, np.arange(2))
    start = time.process_time()
    likelihood(model.weights, np.arange(BATCH))
    spent = time.process_time() - start
    return {"gestures_per_cpu_second": BATCH / spent}
