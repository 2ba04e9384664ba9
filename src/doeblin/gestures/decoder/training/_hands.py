"""How people differ: means, shares of variance, and what knowing a hand is worth."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data import Gesture
from .._decoder import Decoder
from .._given import gestures_of
from .._hand import OBSERVED, Hand, Hands, observed, trust
from ._adam import Adam

Floats = NDArray[np.float64]
# People who have fewer words than this tell too little; with fewer people there is nothing to fit.
LEAST_WORDS, LEAST_PEOPLE = 30, 20
# As many first words are given, and the rest is to be foreseen.
_GIVEN = 20
_CHUNK = 64
_STEPS, _RATE, _DECAY = 200, 0.02, 2e-3


class Person(NamedTuple):
    """What was found for the words of one person, in order."""

    words: list[str]
    values: Floats
    """Observed of all candidates."""
    scores: Floats
    u: Floats
    chances: Floats
    meant: NDArray[np.bool_]


def fit_hands(decoder: Decoder, gestures: Sequence[Gesture]) -> Hands | None:
    """How the people who made the gestures differ; nothing if there are too few.

    Means and shares of variance are those of one-way random effects. The weights maximise the
    likelihood of each person's words after the first ones, of which the hand is known.
    """
    swiped = well_known(decoder, gestures_of(gestures))
    if len(swiped) < LEAST_PEOPLE:
        return None
    decoder.candidates(swiped[0][:1])  # Compiled, and the words laid out, before the threads start.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        people = list(pool.map(lambda some: _seen(decoder, some), swiped))
    hands = _population(people)
    parts = []
    for person in people:
        standard = np.where(person.meant[..., None], hands.standard(person.values), 0.0).sum(axis=1)
        counts = trust((person.chances * person.meant).sum(axis=1))
        first = slice(None, _GIVEN)
        hand = Hand().after(counts[first].tolist(), standard[first].tolist(), person.words[first])
        rest = np.flatnonzero(person.meant.any(axis=1))
        rest = rest[rest >= _GIVEN]
        terms = hands.terms(*hands.posterior(hand), person.values[rest])
        valid = np.isfinite(person.scores[rest])
        parts.append(
            (
                np.where(valid[..., None], terms, 0.0), person.scores[rest], person.u[rest],
                person.meant[rest],
            )
        )  # fmt: skip
    terms, scores, u, meant = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    weights = _weights(terms, scores, u, meant, decoder.model.epsilon)
    return Hands(hands.mean, hands.spread, hands.share, weights)


def well_known(decoder: Decoder, gestures: Sequence[Gesture]) -> list[list[Gesture]]:
    """The gestures of each person who made enough of words of the lexicon."""
    users: dict[str, list[Gesture]] = defaultdict(list)
    for gesture in gestures:
        if gesture.user and gesture.word in decoder.lexicon:
            users[gesture.user].append(gesture)
    return [some for some in users.values() if len(some) >= LEAST_WORDS]


def _seen(decoder: Decoder, gestures: Sequence[Gesture]) -> Person:
    parts = []
    for at in range(0, len(gestures), _CHUNK):
        some = gestures[at : at + _CHUNK]
        found = decoder.candidates(some)
        gold = np.array([[decoder.lexicon.index[gesture.word]] for gesture in some])
        full, u = decoder.log_full(found), np.exp(found.log_u)
        values = observed(found.features, found.shifts)
        parts.append((values, full, u, decoder.posterior(found), found.ids == gold))
    arrays = [np.concatenate(some) for some in zip(*parts, strict=True)]
    return Person([gesture.word for gesture in gestures], *arrays)


def _population(people: Sequence[Person]) -> Hands:
    """Means, spreads and shares; words that hardly fit their traces are left out."""
    own = []
    for person in people:
        sure = trust((person.chances * person.meant).sum(axis=1)) > 0.5
        own.append(np.where(person.meant[..., None], person.values, 0.0).sum(axis=1)[sure])
    own = [values for values in own if len(values) > 1]
    every = np.concatenate(own)
    mean, spread = every.mean(axis=0), np.maximum(every.std(axis=0), 1e-9)
    own = [np.clip(values, mean - 3 * spread, mean + 3 * spread) for values in own]
    within = np.mean([values.var(axis=0, ddof=1) for values in own], axis=0)
    noise = within * np.mean([1 / len(values) for values in own])
    between = np.var([values.mean(axis=0) for values in own], axis=0, ddof=1) - noise
    between = np.maximum(between, 1e-4 * within + 1e-12)
    total = within + between
    return Hands(mean, np.sqrt(total), between / total, np.zeros(len(OBSERVED)))


def _weights(terms: Floats, scores: Floats, u: Floats, meant: NDArray, epsilon: float) -> Floats:
    """Adam on the mean log-likelihood under π̃ = ε·u + (1-ε)·full."""
    hit_u = (u * meant).sum(axis=1)
    gold = np.einsum("nkm,nk->nm", terms, meant)
    weights = np.zeros(terms.shape[-1])
    adam = Adam.at_rest(weights, share=0.01, floor=1e-8)
    for step in range(1, _STEPS + 1):
        raised = scores + terms @ weights
        full = np.exp(raised - raised.max(axis=1, keepdims=True))
        full /= full.sum(axis=1, keepdims=True)
        hit = (full * meant).sum(axis=1)
        pull = (1 - epsilon) * hit / np.maximum(epsilon * hit_u + (1 - epsilon) * hit, 1e-300)
        slope = pull[:, None] * (gold - np.einsum("nk,nkm->nm", full, terms))
        adam = adam.after(slope.mean(axis=0) - _DECAY * weights)
        weights = weights + _RATE * (1 - step / (_STEPS + 1)) * adam.move(step)
    return weights
