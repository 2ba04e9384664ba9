"""The decoder: from traces to words with probabilities."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._errors import InputError
from ..._numbers import whole
from ..data import Gesture, Layout, Lexicon
from ._choice import use_plain
from ._draws import draw_words
from ._found import Candidates, Found
from ._given import count_of, gestures_of
from ._hand import OBSERVED, Hand, observed, trust
from ._model import Model
from ._networks import Networks
from ._scores import log_normalised, with_context
from .restart import (
    Extra,
    Floats,
    Letters,
    Packed,
    Tree,
    Trie,
    no_extra,
    pack,
    plain_network_rows,
)
from .spelling import Trigrams, letter_inputs, lexicon_letters, spellings
from .words import FEATURES, NUM_FEATURES, NUM_SHIFTS, Words

if TYPE_CHECKING:
    from ._chain import ChainRun

WordFactor = Callable[[Gesture, Sequence[str]], ArrayLike]
"""A factor of the full model: log-scores of words for a gesture."""


class Guess(NamedTuple):
    """A word and its posterior probability."""

    word: str
    probability: float
    in_lexicon: bool = True


class Decoder:
    """Decodes gestures over a lexicon.

    The restart u is a conditional random field over the trace, normalised exactly over the
    lexicon's trie (up to pruning, see `Settings`). The full model A adds word-level factors to it:
    those of the model, and the user's own `factors`, functions of a gesture and some words that
    return log-scores. A factor whose name the model was trained with gets its learned weight, any
    other counts as it is. Words are weighed by the strong Doeblin chain's stationary law

        π̃ = ε·u + (1-ε)·full,

    since a Gibbs step that redraws the whole word from the full model forgets where it was.

    The first `MOST_PLAIN` gestures of a process are decoded in numpy, which is there at once; then
    the compiled engine is loaded, which is several times as fast. `compiled` asks for one of them
    from the start. Their results are the same up to rounding, which decides where alignments are
    equally good: after a tap, or a finger held still, probabilities may differ by some hundredths.
    """

    def __init__(
        self,
        model: Model,
        lexicon: Lexicon | None = None,
        *,
        layout: Layout | None = None,
        factors: Mapping[str, WordFactor] | None = None,
        hand: Hand | None = None,
        compiled: bool | None = None,
    ):
        self.model = model
        self.compiled = compiled
        self.hand = hand or Hand()
        self.lexicon = lexicon or Lexicon.embedded(10_000)
        self.layout = layout or model.layout
        self.trie = Trie.build(self.lexicon, self.layout)
        self.letters = Letters.count(self.trie)
        letter_weights = self.letters.weights(model.spelling)
        self.restart = model.settings.restart(self.layout, model.weights, letter_weights)
        self.factors = dict(factors or {})
        clash = [name for name in self.factors if name in FEATURES]
        if clash:
            raise InputError(f"{clash[0]!r} names a built-in factor; choose another name")
        missing = [name for name in model.factors[NUM_FEATURES:] if name not in self.factors]
        if missing:
            raise InputError(
                f"the model was trained with the factors {missing}; give them as `factors=`"
            )

    @cached_property
    def words(self) -> Words:
        """The lexicon's words for compiled code."""
        return Words.of(self.layout, self.lexicon.words)

    @cached_property
    def tree(self) -> Tree:
        """The lexicon's trie for compiled code, with the frequencies of this person's words."""
        tree = self.model.settings.tree(self.trie)
        gains = self.hand.gains(self.lexicon)
        if not gains:
            return tree
        frequency = tree.log_frequency.copy()
        for word, gain in gains.items():
            frequency[word] += gain
        best = self.trie.best_with({word: float(frequency[word]) for word in gains})
        return tree._replace(log_frequency=frequency, best=best)

    @cached_property
    def lexicon_letters(self) -> tuple[Trigrams, Floats]:
        """Trigrams of the lexicon, and log q of each of its words by its letters."""
        return lexicon_letters(self)

    @cached_property
    def opened(self) -> Decoder:
        """This decoder over all words of the list that its lexicon was cut from."""
        whole = self.lexicon.whole
        if len(whole) == len(self.lexicon):
            return self
        return Decoder(
            self.model, whole, layout=self.layout, factors=self.factors, hand=self.hand,
            compiled=self.compiled,
        )  # fmt: skip

    def with_hand(self, hand: Hand) -> Decoder:
        """This decoder for another person; nothing is built anew."""
        other = copy.copy(self)
        other.hand = hand
        other.__dict__.pop("tree", None)
        wider = other.__dict__.pop("opened", self)
        if wider is not self:
            other.__dict__["opened"] = wider.with_hand(hand)
        return other

    def adapt(self, confirmed: Sequence[Gesture]) -> Decoder:
        """A decoder that has learned from gestures whose words the person confirmed.

        It learns how the person's hand differs from others' (see `Hand`) and which words they use.
        This decoder stays as it was; `hand` of the new one can be saved. Words that are not in the
        lexicon teach nothing, words that hardly fit their trace next to nothing about the hand.
        How many words come at a time makes no difference, nor does their order, up to 500 of them;
        after that, older ones fade, and the 500 commonest stay counted, the last ones if in doubt.
        """
        confirmed = gestures_of(confirmed)
        for number, gesture in enumerate(confirmed):
            if not gesture.word:
                raise InputError(
                    f"gesture {number} has no word: only confirmed ones can be learned"
                )
        known = [gesture for gesture in confirmed if gesture.word in self.lexicon]
        if not known:
            return self
        words = [gesture.word for gesture in known]
        weights, values = np.zeros(len(known)), np.zeros((len(known), len(OBSERVED)))
        hands = self.model.hands
        if hands is not None:
            plain = self.with_hand(Hand())
            found = plain.candidates(known)
            meant = found.ids == np.array([[self.lexicon.index[word]] for word in words])
            weights = trust((plain.posterior(found) * meant).sum(axis=1))
            seen = hands.standard(observed(found.features, found.shifts))
            values = np.where(meant[..., None], seen, 0.0).sum(axis=1)
        return self.with_hand(self.hand.after(weights.tolist(), values.tolist(), words))

    def candidates(
        self,
        gestures: Sequence[Gesture],
        *,
        features: bool = True,
        align: bool = False,
        open_vocabulary: bool = False,
        letters: bool = False,
    ) -> Candidates:
        """The best words of each gesture under u, with their word-level features.

        With `align`, also the frames in which each word's letters are hit. With `open_vocabulary`,
        a few words that the lexicon does not have come after those that it has. With `letters`,
        what a network of words may see of them is there even if the model's does not look at it.
        """
        gestures = gestures_of(gestures)
        settings, count = self.model.settings, len(gestures)
        plain = use_plain(count, self.compiled)
        align = align or (features and self.model.stroke_network is not None)
        longest = int(np.diff(self.words.starts).max()) if align else 0
        found = Found(
            ids=np.full((count, settings.keep), -1, np.int64),
            scores=np.full((count, settings.keep), -np.inf),
            totals=np.empty((count, 2)),
            counts=np.zeros((count, 2), np.int64),
            features=np.zeros((count, settings.keep, NUM_FEATURES + NUM_SHIFTS if features else 0)),
            hits=np.full((count, settings.keep, longest), -1, np.int64),
        )
        packed = pack(gestures, self.layout)
        if plain:
            from ._plain import candidates
        else:
            from ._engine import candidates
        extra = self.extra(packed, plain=plain)
        candidates(packed, self.restart, extra, self.tree, self.words, found)
        ids, hits, scores, seen = found.ids, found.hits, found.scores, found.features
        spelled = np.empty(0, np.str_)
        words, places = None, np.empty(0, np.int64)
        asked = self.model if features else None
        networks = Networks(asked, self.restart, packed, plain=plain)
        strokes, reading = networks.say(self.words, ids, hits)
        if open_vocabulary:
            texts, words, more, places = spellings(self, packed, plain=plain)
            said = networks.say(words, more.ids, more.hits)
            strokes = np.concatenate([strokes, said[0]], axis=1)
            reading = np.concatenate([reading, said[1]], axis=1)
            others = np.where(more.ids >= 0, more.ids + len(self.lexicon), -1)
            ids = np.concatenate([ids, others], axis=1)
            scores = np.concatenate([scores, more.scores], axis=1)
            seen = np.concatenate([seen, more.features[..., : seen.shape[-1]]], axis=1)
            hits = _beside(hits, more.hits)
            spelled = np.array(texts, np.str_)
        values, shifts = np.split(seen, [NUM_FEATURES], axis=2)
        if features and self.factors:
            values = self._with_own(gestures, ids, spelled, values)
        looks = np.zeros((*ids.shape, 0))
        if letters or (features and self.model.contextual):
            looks = letter_inputs(self, ids, words, places)
        return Candidates(
            ids, log_normalised(scores), values, found.totals[:, 0], found.counts[:, 1], hits,
            strokes, reading, shifts, spelled, looks,
        )  # fmt: skip

    def word(self, number: int, spelled: NDArray[np.str_]) -> str:
        """The word of a candidate's id."""
        size = len(self.lexicon)
        return self.lexicon.words[number] if number < size else str(spelled[number - size])

    def extra(self, packed: Packed, *, plain: bool = False) -> Extra:
        """What the model's network, if any, adds to u."""
        network = self.model.network
        if network is None:
            return no_extra(len(packed.starts) - 1)
        if plain:
            rows = plain_network_rows(packed, self.restart)
        else:
            from .restart import network_rows

            rows = network_rows(packed, self.restart)
        return Extra(network(rows.inputs), *rows[1:])

    def _with_own(
        self, gestures: Sequence[Gesture], ids: NDArray, spelled: NDArray, values: Floats
    ) -> Floats:
        own = np.zeros((*ids.shape, len(self.factors)))
        for row, gesture in enumerate(gestures):
            found = ids[row] >= 0
            words = [self.word(number, spelled) for number in ids[row, found]]
            for column, (name, factor) in enumerate(self.factors.items()):
                given = factor(gesture, words)
                try:
                    scores = np.asarray(given, dtype=float)
                except (TypeError, ValueError):
                    scores = np.empty(0)
                if scores.shape != (len(words),) or not np.isfinite(scores).all():
                    raise InputError(
                        f"factor {name!r} must return a finite number for each of {len(words)} "
                        f"words, got {given!r}"
                    )
                own[row, found, column] = scores
        return np.concatenate([values, own], axis=2)

    @cached_property
    def _word_weights(self) -> Floats:
        trained = dict(zip(self.model.factors, self.model.word_weights, strict=True))
        return np.array([trained.get(name, 1.0) for name in (*FEATURES, *self.factors)])

    @cached_property
    def _trained_columns(self) -> list[int]:
        """Where the factors that the model was trained with are among all of them."""
        names = (*FEATURES, *self.factors)
        return [names.index(name) for name in self.model.factors]

    def log_full(self, candidates: Candidates, *, open_vocabulary: bool = False) -> Floats:
        """log of the full model, normalised over the candidates and, with `open_vocabulary`, what
        it still lacks (see `Doubt`)."""
        scores = candidates.features @ self._word_weights
        scores = scores + candidates.strokes[..., :1].sum(axis=-1) + candidates.reading.sum(axis=-1)
        network = self.model.word_network
        if network is not None:
            letters = candidates.letters if self.model.contextual else candidates.letters[..., :0]
            trained = candidates.features[..., self._trained_columns]
            seen = trained, letters, candidates.strokes, candidates.reading
            inputs = np.concatenate(seen, axis=-1)
            if self.model.contextual:
                inputs = with_context(inputs, np.where(candidates.ids >= 0, scores, -np.inf))
            scores = scores + network(inputs)[..., 0]
        scores = self.model.sharpness * scores
        if self.model.hands is not None and self.hand.weight > 0:
            given = candidates.features, candidates.shifts
            scores = scores + self.model.hands.scores(self.hand, *given)
        log_full = log_normalised(np.where(candidates.ids >= 0, scores, -np.inf))
        doubt = self.model.doubt if open_vocabulary else None
        return log_full if doubt is None else doubt.after(log_full)

    def posterior(self, candidates: Candidates, *, open_vocabulary: bool = False) -> Floats:
        """π̃ of the candidates."""
        epsilon, log_full = (
            self.model.epsilon,
            self.log_full(candidates, open_vocabulary=open_vocabulary),
        )
        u, full = np.exp(candidates.log_u), np.exp(log_full)
        return epsilon * u + (1 - epsilon) * full

    def decode(
        self,
        gestures: Sequence[Gesture],
        *,
        top: int = 4,
        draws: int | None = None,
        open_vocabulary: bool = False,
        seed: int = 0,
    ) -> list[list[Guess]]:
        """The `top` words of each gesture, with posterior probabilities.

        With `draws`, probabilities are frequencies of that many exact draws from the Doeblin chain,
        10 million at most; without, they are π̃ itself. With `open_vocabulary`, words may come that
        are not in the lexicon: those of the list that it was cut from, and spelled ones that no
        list has. All probabilities account for it.
        """
        top = whole("top", top, least=1)
        draws = draws if draws is None else count_of("draws", draws)
        gestures = gestures_of(gestures)
        if not gestures:
            return []
        asked = self.opened if open_vocabulary else self
        candidates = asked.candidates(gestures, open_vocabulary=open_vocabulary)
        if draws is None:
            chances = asked.posterior(candidates, open_vocabulary=open_vocabulary)
        else:
            log_full = asked.log_full(candidates, open_vocabulary=open_vocabulary)
            chances = draw_words(candidates.log_u, log_full, self.model.epsilon, draws, seed)
        return [
            asked._guesses(candidates, row, chances[row], top=top, known=len(self.lexicon))
            for row in range(len(gestures))
        ]

    def _guesses(
        self, candidates: Candidates, row: int, chances: Floats, *, top: int, known: int
    ) -> list[Guess]:
        ids = candidates.ids[row]
        order = np.argsort(-chances, kind="stable")[:top]
        return [
            Guess(self.word(ids[k], candidates.spelled), float(chances[k]), bool(ids[k] < known))
            for k in order
            if ids[k] >= 0 and chances[k] > 0
        ]

    def run(self, gesture: Gesture, *, steps: int, seed: int = 0) -> ChainRun:
        """Run the chain on one gesture and keep every step: words visited, restarts and tours."""
        from ._chain import run_chain

        return run_chain(self, gesture, steps, seed)

    def spell(self, gesture: Gesture, *, top: int = 4) -> list[Guess]:
        """Words out of the lexicon, with the probabilities that they have beside those in it."""
        top = whole("top", top, least=1)
        asked, known = self.opened, len(self.lexicon)
        found = asked.candidates([gesture], open_vocabulary=True)
        chances = np.where(
            found.ids[0] >= known, asked.posterior(found, open_vocabulary=True)[0], 0.0
        )
        return asked._guesses(found, 0, chances, top=top, known=known)


def _beside(hits: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    """Both side by side, the shorter ones padded."""
    longest = max(hits.shape[2], more.shape[2])
    padded = [
        np.pad(one, ((0, 0), (0, 0), (0, longest - one.shape[2])), constant_values=-1)
        for one in (hits, more)
    ]
    return np.concatenate(padded, axis=1)
