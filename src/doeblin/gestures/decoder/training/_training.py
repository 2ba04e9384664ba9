"""Training the decoder by likelihood; resumable, with progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...._errors import InputError
from ...data import Gesture, Layout, Lexicon
from .._decoder import Decoder, WordFactor
from .._found import Candidates
from .._given import gestures_of
from .._model import Model
from .._settings import Settings
from ..restart import Spelling, Trace, merged_keys, pack
from ..spelling import spelt
from ..words import FEATURES
from ._adam import Adam
from ._checkpoint import Checkpoint
from ._copies import commonest, make_copies
from ._doubt import fit_doubt
from ._factors import Judged, fit_words
from ._hands import fit_hands
from ._likelihood import Likelihood
from ._openness import fit_openness
from ._plan import Plan, Progress
from ._sharpness import fit_sharpness

# Gestures on which the open vocabulary is fitted: a few numbers need no more.
_SPELLED, _OPENED = 300, 4000
# One in so many people is kept from the networks, if there are enough, to see how sure they may be.
_JUDGES, _LEAST_USERS, _LEAST_GESTURES = 20, 100, 10_000
# u is trained over at most so many words: its sums over the trie are most of the work.
_WORDS_OF_U = 10_000
# Gestures that a thread decodes at a time.
_CHUNK = 500


def train(
    gestures: Sequence[Gesture],
    lexicon: Lexicon | None = None,
    *,
    layout: Layout | None = None,
    settings: Settings | None = None,
    plan: Plan | None = None,
    factors: Mapping[str, WordFactor] | None = None,
    neural: bool = False,
    neural_restart: bool = False,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_steps: int = 200,
) -> Model:
    """Train a decoder on gestures whose words are known.

    The restart u first: its likelihood is normalised over the trie of `lexicon` (default: the
    10,000 commonest embedded words; of a larger one, as many), so that long words are not
    short-changed. Then the word-level factors of A and the restart probability, by the likelihood
    of π̃. Gestures without a word that the layout can spell are left out. With `neural`, three
    small networks add to the factors of A: one sees the strokes to and from each letter of a word,
    one reads the whole trace, one sees the whole word; they see the gestures moved a little, too,
    and made-up ones on other keyboards. Of a hundred people or more, a twentieth is kept apart to
    say how sure they may be. With `neural_restart`, one is trained jointly with u, in as many
    passes again.

    With `checkpoint`, the state is written there every `checkpoint_steps` steps and training goes
    on from it if the file is there; the result is the same as without interruption. That of u's
    network is in a file with `.network` after its name. They stay: remove them once the model is
    saved.
    """
    layout, plan, lexicon = (
        layout or Layout.qwerty(),
        plan or Plan(),
        lexicon or Lexicon.embedded(10_000),
    )
    model = Model.untrained(layout, settings)
    usable = [gesture for gesture in gestures_of(gestures) if layout.spells(gesture.word)]
    if not usable:
        raise InputError("no gesture has a word that the layout can spell: nothing to learn from")
    told = {"gestures": len(usable), "lexicon": len(lexicon), **asdict(plan)}
    told |= asdict(model.settings)
    kept: dict[str, Checkpoint] = {}
    if checkpoint is not None:
        phases = {"restart": ""} | ({"network": ".network"} if neural_restart else {})
        for phase, suffix in phases.items():
            path = Path(f"{checkpoint}{suffix}")
            kept[phase] = Checkpoint(path, {"phase": phase, **told}, checkpoint_steps)
    common = lexicon.top(_WORDS_OF_U)
    likelihood = Likelihood(usable, common, layout, model.settings, plan.outliers)
    weights = _train_restart(
        likelihood, model.weights, len(usable), plan, progress, kept.get("restart")
    )
    model = replace(model, weights=weights)
    if neural_restart:
        from ._neural import train_network

        weights, network = train_network(
            likelihood, model.weights, len(usable), plan, progress, kept.get("network")
        )
        model = replace(model, weights=weights, network=network)
    model = _train_words(usable, lexicon, model, plan, factors, neural, progress)
    about = {"gestures": len(usable), "lexicon": len(lexicon), "plan": asdict(plan)}
    return replace(model, about=about)


def _train_restart(
    likelihood: Likelihood,
    weights: NDArray[np.float64],
    count: int,
    plan: Plan,
    progress: Callable[[Progress], None] | None,
    checkpoint: Checkpoint | None,
) -> NDArray[np.float64]:
    each = max(1, count // plan.batch)
    steps = plan.passes * each
    adam, start = Adam.at_rest(weights, share=0.001, floor=1e-6), 0
    found = checkpoint.read() if checkpoint is not None else None
    if found is not None:
        start, tensors = found
        weights = tensors["weights"]
        adam = adam._replace(first=tensors["first"], second=tensors["second"])
    total, seen, order = 0.0, 0, np.empty(0, np.int64)
    for step in range(start, steps):
        # The order of a pass follows from the seed and the pass alone, so that resuming is exact.
        if step % each == 0 or step == start:
            order = np.random.default_rng([plan.seed, step // each]).permutation(count)
            total, seen = 0.0, 0
        at = (step % each) * plan.batch
        values, gradients = likelihood(weights, order[at : at + plan.batch])
        gradient = gradients.mean(axis=0) - plan.decay * weights
        adam = adam.after(gradient)
        rate = plan.step * min(1.0, (step + 1) / 50) * (1 - step / steps)
        weights = weights + rate * adam.move(step + 1)
        total, seen = total + values.sum(), seen + len(values)
        if progress is not None:
            progress(Progress(step + 1, steps, total / seen))
        if checkpoint is not None and checkpoint.due(step + 1, steps):
            state = {"weights": weights, "first": adam.first, "second": adam.second}
            checkpoint.write(step + 1, state)
    return weights


def _train_words(
    gestures: Sequence[Gesture],
    lexicon: Lexicon,
    model: Model,
    plan: Plan,
    factors: Mapping[str, WordFactor] | None,
    neural: bool,
    progress: Callable[[Progress], None] | None = None,
) -> Model:
    rng = np.random.default_rng([plan.seed, 10**6])
    # A network has more to learn, and sees them all.
    every = [gestures[k] for k in rng.permutation(len(gestures))]
    some = every[: plan.word_gestures]
    decoder = Decoder(model, lexicon, layout=model.layout, factors=factors)
    # Compiled, and the words laid out, before the threads start.
    decoder.candidates(some[:1])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        chunks = [some[at : at + _CHUNK] for at in range(0, len(some), _CHUNK)]
        parts = list(pool.map(lambda chunk: decoder.candidates(chunk), chunks))
    found = Candidates(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    gold = np.array([lexicon.index.get(gesture.word, -2) for gesture in some])
    hits = found.ids == gold[:, None]
    rows = np.flatnonzero(hits.any(axis=1))
    names = (*FEATURES, *decoder.factors)
    start = np.zeros(len(names))
    start[: len(FEATURES)] = model.word_weights
    if len(rows) < 10 * len(names):
        # Too few words to fit the factors on: A stays the restart's own score.
        return replace(model, word_weights=start, factors=names)

    def judged(rows: NDArray[np.int64]) -> Judged:
        valid, gold = found.ids[rows] >= 0, hits[rows].argmax(axis=1)
        return Judged(found.features[rows], valid, np.exp(found.log_u[rows]), gold)

    fit = fit_words(judged(rows), start)
    model = replace(model, word_weights=fit.weights, epsilon=fit.epsilon, factors=names)
    spelling = fit_spelling(Decoder(model, lexicon.whole, factors=factors), some[:_SPELLED])
    model = replace(model, spelling=spelling)
    judges: list[Gesture] = []
    if neural:
        from ._neural_words import fit_networks

        learned, judges = _split(every, plan.seed)
        copies = make_copies(Decoder(model, lexicon, factors=factors), learned, plan.seed)
        by_word, by_stroke, reader = fit_networks(
            copies, model.layout.plane, fit.weights, fit.epsilon, plan.seed,
            None if progress is None else lambda *told: progress(Progress(*told)),
        )  # fmt: skip
        model = replace(model, word_network=by_word, stroke_network=by_stroke, reader=reader)
    decoder = Decoder(model, lexicon.whole, factors=factors)
    model = replace(model, openness=fit_openness(decoder, (judges or some)[:_OPENED]))
    decoder = Decoder(model, lexicon, factors=factors)
    if judges:
        common = Decoder(model, commonest(lexicon), factors=factors)
        model = replace(model, sharpness=fit_sharpness(decoder, judges, common))
        model = replace(model, doubt=fit_doubt(Decoder(model, lexicon, factors=factors), judges))
        decoder = Decoder(model, lexicon, factors=factors)
    return replace(model, hands=fit_hands(decoder, gestures))


def _split(gestures: Sequence[Gesture], seed: int) -> tuple[Sequence[Gesture], list[Gesture]]:
    """Gestures to train networks on, and those of other people to see how sure they may be."""
    users = sorted({gesture.user for gesture in gestures if gesture.user})
    if len(users) < _LEAST_USERS or len(gestures) < _LEAST_GESTURES:
        return gestures, []
    order = np.random.default_rng([seed, 11]).permutation(len(users))
    apart = {users[k] for k in order[: len(users) // _JUDGES]}
    judges = [gesture for gesture in gestures if gesture.user in apart]
    return [gesture for gesture in gestures if gesture.user not in apart], judges


def fit_spelling(decoder: Decoder, gestures: Sequence[Gesture]) -> Spelling:
    """The power and cost of letters that make the true words likeliest as open spellings."""
    layout = decoder.layout
    best, found = -np.inf, Spelling()
    for power, cost in product((1.0, 1.5, 2.0), (0.0, 1.0, 2.0, 3.0, 4.0)):
        spelling = Spelling(power, cost)
        restart = decoder.restart._replace(letters=decoder.letters.weights(spelling))
        total = 0.0
        for gesture in gestures:
            keys = merged_keys(layout, gesture.word)
            packed = pack([gesture], layout)
            trace = Trace(packed.x, packed.y, packed.t)
            log_mass, log_all = spelt(trace, restart, decoder.extra(packed), keys)
            if np.isfinite(log_mass):
                own = decoder.letters.log_weight(decoder.trie, gesture.word, spelling)
                total += max(log_mass + own - log_all, -50.0)
        if total > best:
            best, found = total, spelling
    return found
