"""What training leaves behind: weights and settings, in a file that runs no code."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from importlib import resources
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from ..._errors import InputError, Place
from ..data import Layout
from ._hand import Hands
from ._tensors import GREATEST, Tensors, check, read_tensors
from .reading import Reader
from .restart import (
    NUM_INPUTS,
    NUM_WEIGHTS,
    Network,
    Restart,
    Spelling,
    Tree,
    Trie,
    initial_weights,
)
from .spelling import NUM_LETTERS
from .words import FEATURES, NUM_STROKE_INPUTS

_PACKAGED = ("shipped", "generated")
_FORMAT = "doeblin-gestures-1"
_WHOLE = ("least_frames", "most_frames", "keep")
# u's weights are summed and exponentiated: the sums of such are numbers still.
_MOST_POTENTIAL = 100.0
_NETWORKS = ("network", "word_network", "stroke_network")


@dataclass(frozen=True)
class Settings:
    """How traces become frames and how far the trie is walked. Part of the model.

    Frames: `rate` a second, but at least `least_frames` and at most `most_frames`. Nodes of the
    trie are dropped below `prune` of the most promising node of their level, and below `prune_deep`
    of the most promising one of all; 0 and 0 walk the whole trie. `keep` words reach the full
    model.
    """

    rate: float = 15.0
    least_frames: int = 16
    most_frames: int = 40
    prune: float = 1e-6
    prune_deep: float = 1e-9
    keep: int = 20

    def __post_init__(self):
        for name, value in vars(self).items():
            kind, said = (Integral, "a whole number") if name in _WHOLE else (Real, "a number")
            if isinstance(value, bool) or not isinstance(value, kind):
                raise InputError(f"{name} = {value!r} must be {said}")
        if not 1 <= self.rate <= 200:
            raise InputError(f"rate = {self.rate} must be between 1 and 200 frames a second")
        if not 2 <= self.least_frames <= self.most_frames <= 1000:
            raise InputError(
                f"frames: 2 ≤ least ({self.least_frames}) ≤ most ({self.most_frames}) ≤ 1000"
            )
        if not (0 <= self.prune < 1 and 0 <= self.prune_deep < 1):
            raise InputError(f"prune = {self.prune} and {self.prune_deep} must be in [0, 1)")
        if not 1 <= self.keep <= 1000:
            raise InputError(f"keep = {self.keep} must be between 1 and 1000")

    def restart(
        self, layout: Layout, weights: NDArray[np.float64], letters: NDArray[np.float64]
    ) -> Restart:
        """u for compiled code."""
        frames = (float(self.rate), self.least_frames, self.most_frames)
        return Restart(layout.plane, weights, letters, *frames)

    def tree(self, trie: Trie) -> Tree:
        """A trie for compiled code."""
        return Tree(
            trie.letter, trie.first_child, trie.first_word, trie.words, trie.levels, trie.best,
            trie.lexicon.log_frequencies, trie.doubles, float(self.prune), float(self.prune_deep),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Model:
    """Weights of the restart u and of the word-level factors of A.

    `word_weights` has one weight for each of `factors` (the built-in ones, then users' own).
    `epsilon` is the restart probability of the chain. Words that are not in the lexicon have the
    probability of their letters, times exp(`openness`), for a frequency; `spelling` says how
    letters count in the search for them.
    `network` adds neural potentials to u. A's score of a word gets the first of the sums over its
    letters of what `stroke_network` says of each, what the `reader` says of the word, and what
    `word_network` says of those sums, the reader's score, the factors, the word's letters, and the
    mean of all that over the candidates. `sharpness`
    multiplies these scores: what networks learned by heart makes them too sure of people whom they
    have not seen. `hands` says how people differ, for `Decoder.adapt`.
    """

    weights: NDArray[np.float64]
    word_weights: NDArray[np.float64]
    layout: Layout
    settings: Settings = field(default_factory=Settings)
    epsilon: float = 0.1
    openness: float = -6.0
    spelling: Spelling = field(default_factory=Spelling)
    factors: tuple[str, ...] = FEATURES
    network: Network | None = None
    word_network: Network | None = None
    stroke_network: Network | None = None
    about: dict[str, Any] = field(default_factory=dict)
    sharpness: float = 1.0
    hands: Hands | None = None
    reader: Reader | None = None

    def __post_init__(self):
        if self.weights.shape != (NUM_WEIGHTS,):
            raise InputError(f"a model has {NUM_WEIGHTS} finite weights, got {self.weights.shape}")
        if self.word_weights.shape != (len(self.factors),):
            raise InputError(
                f"{len(self.factors)} factors need as many weights, got {self.word_weights.shape}"
            )
        check("weights", self.weights, _MOST_POTENTIAL)
        check("word_weights", self.word_weights)
        if self.factors[: len(FEATURES)] != FEATURES:
            raise InputError("the model's factors are not those of this version; train it again")
        if self.network is not None:
            self.network.checked(NUM_INPUTS, 2)
        strokes = 0
        if self.stroke_network is not None:
            strokes = self.stroke_network.num_outputs
            self.stroke_network.checked(NUM_STROKE_INPUTS, strokes)
        if self.word_network is not None:
            seen = len(self.factors) + strokes + (self.reader is not None)
            self.word_network.checked(2 * (seen + NUM_LETTERS) if self.contextual else seen, 1)
        if not 0 < self.epsilon < 1:
            raise InputError(f"epsilon = {self.epsilon} must be between 0 and 1")
        for name, value in (("openness", self.openness), *self.spelling._asdict().items()):
            if not abs(value) <= GREATEST:
                raise InputError(f"{name} = {value} must be a number up to {GREATEST:g}")
        if not 0.01 <= self.sharpness <= 100:
            raise InputError(f"sharpness = {self.sharpness} must be between 0.01 and 100")

    @property
    def contextual(self) -> bool:
        """Whether the network of words sees words' letters and the other candidates too.

        Its number of inputs says so: in older files it sees one candidate alone.
        """
        if self.word_network is None:
            return False
        seen = len(self.factors) + NUM_LETTERS + (self.reader is not None)
        seen += 0 if self.stroke_network is None else self.stroke_network.num_outputs
        return self.word_network.num_inputs == 2 * seen

    @classmethod
    def untrained(cls, layout: Layout, settings: Settings | None = None) -> Model:
        """The starting point of training: u by plain geometry, A the same as u."""
        weights = initial_weights()
        word_weights = np.zeros(len(FEATURES))
        word_weights[0] = 1.0
        word_weights[1] = 0.5
        return cls(weights, word_weights, layout, settings or Settings())

    @classmethod
    def shipped(cls) -> Model:
        """The model that comes with doeblin, trained on real swipes of 908 people.

        Its card (docs/model-card.md) says where it comes from, how good it is, and for whom.
        """
        return cls._packaged("shipped")

    @classmethod
    def generated(cls) -> Model:
        """A smaller model that comes with doeblin, trained on generated gestures only."""
        return cls._packaged("generated")

    @classmethod
    def named(cls, name: str | Path) -> Model:
        """One of those that come with doeblin, `shipped` or `generated`, or that of a file."""
        if str(name) in _PACKAGED:
            return cls._packaged(str(name))
        if not Path(name).is_file():
            raise InputError(
                "there is no such file; a model is a file, `shipped` or `generated`",
                place=Place(str(name)),
            )
        return cls.load(name)

    @classmethod
    def _packaged(cls, name: str) -> Model:
        file = resources.files("doeblin.gestures.decoder").joinpath(f"{name}.safetensors")
        with resources.as_file(file) as path:
            return cls.load(path)

    def _networks(self) -> list[tuple[str, Network]]:
        named = ((name, getattr(self, name)) for name in _NETWORKS)
        return [(name, network) for name, network in named if network is not None]

    def _tensors(self) -> dict[str, NDArray[np.float32]]:
        tensors = {
            "weights": self.weights.astype(np.float32),
            "word_weights": self.word_weights.astype(np.float32),
        }
        for name, network in self._networks():
            tensors |= network.tensors(name)
        if self.reader is not None:
            tensors |= self.reader.tensors("reader")
        if self.hands is not None:
            tensors |= {f"hands.{k}": v.astype(np.float32) for k, v in vars(self.hands).items()}
        return tensors

    def save(self, path: str | Path) -> None:
        """Write the model as safetensors, with everything else as JSON in its header."""
        header = {
            "format": _FORMAT,
            "layout": self.layout.to_json(),
            "settings": asdict(self.settings),
            "epsilon": self.epsilon,
            "log_openness": self.openness,
            "spelling": list(self.spelling),
            "factors": list(self.factors),
            "rectified": [name for name, network in self._networks() if network.rectified],
            "about": self.about,
            "sharpness": self.sharpness,
        }
        told = {"doeblin": json.dumps(header, ensure_ascii=False)}
        try:
            save_file(self._tensors(), str(path), told)
        except OSError as error:
            raise InputError(f"cannot write the model: {error}", place=Place(str(path))) from None

    @classmethod
    def load(cls, path: str | Path) -> Model:
        """Read a model; loading runs no code, whatever the file holds."""
        place = Place(str(path))
        found, header = read_tensors(path)
        try:
            form = header.get("format") if isinstance(header, dict) else None
            if form != _FORMAT:
                raise InputError(f"not a gesture model (format {form!r})")
            tensors = Tensors(found)
            # Files from before there were rectified networks do not name any.
            rectified = header.get("rectified", ())
            network, word_network, stroke_network = (
                Network.from_tensors(tensors, name, name in rectified) for name in _NETWORKS
            )
            model = cls(
                tensors["weights"].astype(float),
                tensors["word_weights"].astype(float),
                Layout.from_json(header["layout"]),
                Settings(**header["settings"]),
                float(header["epsilon"]),
                # Files from before 0.2 meant something else by it.
                float(header.get("log_openness", -6.0)),
                Spelling(*(float(value) for value in header["spelling"])),
                tuple(header["factors"]),
                network,
                word_network,
                stroke_network,
                dict(header["about"]),
                # Files from before 0.2 have neither.
                float(header.get("sharpness", 1.0)),
                _hands(tensors),
                Reader.from_tensors(tensors, "reader"),
            )
            tensors.check_all_known(model._tensors())
            return model
        except InputError as error:
            raise InputError(error.message, place=place) from None
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"a damaged model: {error!r}", place=place) from None


def _hands(tensors: Tensors) -> Hands | None:
    if not tensors.some("hands."):
        return None
    return Hands(*(tensors[f"hands.{part.name}"].astype(float) for part in fields(Hands)))
