"""What training leaves behind: weights and settings, in a file that runs no code."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, astuple, dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from ..._errors import InputError, Place
from ..._files import read_bytes, write
from ..._json import shown
from ..data import Layout
from ._doubt import Doubt
from ._hand import Hands
from ._header import FORMAT, digest_of, read_header
from ._settings import Settings
from ._tensors import GREATEST, REMEDY, Tensors, check, read_tensors
from .reading import Reader
from .restart import NUM_INPUTS, NUM_WEIGHTS, Network, Spelling, initial_weights
from .spelling import NUM_LETTERS
from .words import FEATURES, NUM_STROKE_INPUTS

_PACKAGED = ("shipped", "generated")
# u's weights are summed and exponentiated: the sums of such are numbers still.
_MOST_POTENTIAL = 100.0
_NETWORKS = ("network", "word_network", "stroke_network")


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
    have not seen. `hands` says how people differ, for `Decoder.adapt`, and `doubt` how likely an
    open vocabulary lacks the word.
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
    doubt: Doubt | None = None

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
        if not 0 <= self.spelling.power <= 100:
            raise InputError(f"power = {self.spelling.power} must be between 0 and 100")
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
        if not os.path.exists(name):
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
        """Write the model as safetensors, with everything else as JSON in its header. What cannot
        be written leaves an older file as it was, and raises an OutputError."""
        header = {
            "format": FORMAT,
            "layout": self.layout.to_json(),
            "settings": asdict(self.settings),
            "epsilon": self.epsilon,
            "log_openness": self.openness,
            "spelling": list(self.spelling),
            "factors": list(self.factors),
            "rectified": [name for name, network in self._networks() if network.rectified],
            "about": self.about,
            "sharpness": self.sharpness,
            "doubt": self.doubt and list(astuple(self.doubt)),
        }
        tensors = self._tensors()
        header["digest"] = digest_of(header, tensors)
        content = save(tensors, {"doeblin": json.dumps(header, ensure_ascii=False)})
        write(path, lambda file: file.write(content))

    @classmethod
    def load(cls, path: str | Path) -> Model:
        """Read a model; loading runs no code, whatever the file holds."""
        place = Place(str(path))
        if not os.path.exists(path):
            raise InputError("there is no such file", place=place)
        data = read_bytes(path)
        try:
            found, told = read_tensors(data)
            tensors, header = Tensors(found), read_header(told)
            rectified = header["rectified"]
            _check_rectified(rectified, tensors)
            network, word_network, stroke_network = (
                Network.from_tensors(tensors, name, name in rectified) for name in _NETWORKS
            )
            model = cls(
                tensors["weights"].astype(float),
                tensors["word_weights"].astype(float),
                Layout.from_json(header["layout"]),
                Settings(**header["settings"]),
                float(header["epsilon"]),
                float(header["log_openness"]),
                Spelling(*map(float, header["spelling"])),
                tuple(header["factors"]),
                network,
                word_network,
                stroke_network,
                header["about"],
                float(header["sharpness"]),
                _hands(tensors),
                Reader.from_tensors(tensors, "reader"),
                header["doubt"] and Doubt(*map(float, header["doubt"])),
            )
            tensors.check_all_known(model._tensors())
            if header["digest"] != digest_of(header, tensors):
                raise InputError(f"its header and tensors do not belong together: {REMEDY}")
            return model
        except InputError as error:
            raise InputError(error.message, place=place) from None


def _check_rectified(names: list[str], tensors: Tensors) -> None:
    """An error unless each is a network of the file, once."""
    there = [name for name in _NETWORKS if tensors.some(f"{name}.")]
    if [name for name in there if name in names] != names:
        raise InputError(
            f"the field 'rectified' of its header is {shown(names)}; it must name networks of the "
            f"file, which has {shown(there)}: {REMEDY}"
        )


def _hands(tensors: Tensors) -> Hands | None:
    if not tensors.some("hands."):
        return None
    return Hands(*(tensors[f"hands.{part.name}"].astype(float) for part in fields(Hands)))
