"""Graphs and models from what others have: arrays of features and edges, files of the UAI."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import InputError, Place
from .._files import read_bytes
from ._graph import Factors, Graph
from ._model import Model
from ._potentials import AbstractPotential, Tables


def from_arrays(
    features: Any,
    edges: Any,
    edge_features: Any = None,
    *,
    num_values: int,
    tree: Any = None,
    width: int = 1,
) -> Graph:
    """A graph of kinds `"node"` and `"edge"`: a row of features for each site, a pair of sites for
    each edge, and perhaps features of the edges. `tree` and `width` are those of `Graph.of`.

    >>> graph = from_arrays(np.zeros((3, 5)), [[0, 1], [1, 2]], num_values=4)
    >>> graph.kinds["node"].features.shape, graph.num_values.tolist()
    ((3, 5), [4, 4, 4])
    """
    features = np.asarray(features)
    if features.ndim != 2 or not len(features):
        raise InputError(
            f"features have shape {features.shape}; they need a row for each site, at least one"
        )
    sites = np.arange(len(features))[:, None]
    pairs = np.asarray(edges, dtype=np.int32).reshape(-1, 2) if len(edges) == 0 else edges
    factors = {"node": Factors(sites, features), "edge": Factors(pairs, edge_features)}
    return Graph.of(np.full(len(features), num_values), factors, tree=tree, width=width)


def read_uai(path: str | Path, *, width: int = 1) -> tuple[Model, Graph]:
    """A model and its graph from a file in the UAI format (`MARKOV` or `BAYES`).

    Factors whose tables have the same shape are of one kind, named by it ("2x3"). Entries are
    weights; their logarithms are the scores. The forest is the one of the strongest factors;
    `width` is that of `Graph.of`.
    """
    words = _Words(Path(path))
    kind = words.word("MARKOV or BAYES")
    if kind not in ("MARKOV", "BAYES"):
        raise words.error(f"a UAI file begins with MARKOV or BAYES, not {kind[:20]!r}")
    size = words.number("the number of variables", least=1)
    counts = [words.number("a number of values", least=1) for _ in range(size)]
    num_factors = words.number("the number of factors")
    scopes = []
    for _ in range(num_factors):
        places = words.number("the size of a scope")
        scope = [words.number("a variable", most=size - 1) for _ in range(places)]
        if len(set(scope)) < len(scope):
            raise words.error(f"the scope {scope} has a variable twice")
        scopes.append(scope)
    constant = 1.0
    grouped: dict[tuple[int, ...], list[tuple[list[int], Any]]] = {}
    for scope in scopes:
        shape = tuple(counts[site] for site in scope)
        entries = words.number("the size of a table")
        if entries != math.prod(shape):
            raise words.error(
                f"a table of {entries} entries belongs to variables {scope} with {shape} values, "
                f"which needs {math.prod(shape)}"
            )
        table = np.array([words.weight() for _ in range(entries)]).reshape(shape)
        if scope:
            grouped.setdefault(shape, []).append((scope, table))
        else:
            constant *= float(table)
    words.end()
    if constant != 1:
        # A factor over no variable: every value of the first one has it.
        scope, shape = [0], (counts[0],)
        grouped.setdefault(shape, []).append((scope, np.full(shape, constant)))
    names = {shape: "x".join(map(str, shape)) for shape in grouped}
    with np.errstate(divide="ignore"):
        tables: dict[str, AbstractPotential] = {
            names[shape]: Tables(np.log(np.stack([table for _, table in some])))
            for shape, some in grouped.items()
        }
    factors = {names[shape]: [scope for scope, _ in some] for shape, some in grouped.items()}
    model = Model(tables)
    return model, model.strongest(Graph.of(counts, factors, width=width))


_MOST = 10**9 - 1
"""The largest number in a UAI file that counts something."""


class _Words:
    """The words of a file, one after the other, each with its place."""

    def __init__(self, path: Path):
        self._path = path
        try:
            self._lines = read_bytes(path).decode("ascii").splitlines()
        except UnicodeDecodeError:
            raise InputError("a UAI file is plain ASCII text", place=Place(str(path))) from None
        self._line = 0
        self._words = self._all()

    def _all(self) -> Iterator[str]:
        for number, line in enumerate(self._lines, 1):
            self._line = number
            yield from line.split()

    def error(self, message: str) -> InputError:
        return InputError(message, place=Place(str(self._path), self._line))

    def word(self, wanted: str) -> str:
        found = next(self._words, None)
        if found is None:
            raise self.error(f"the file ends where {wanted} should be")
        return found

    def number(self, wanted: str, *, least: int = 0, most: int | None = None) -> int:
        word = self.word(wanted)
        # Longer ones would be no sizes; and `int` takes its time for very long ones.
        value = int(word) if word.isdigit() and len(word) <= len(str(_MOST)) else -1
        if value < least or (most is not None and value > most):
            limit = f"from {least} to {_MOST if most is None else most}"
            raise self.error(f"{wanted} is a whole number {limit}, not {word[:20]!r}")
        return value

    def weight(self) -> float:
        word = self.word("an entry of a table")
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not 0 <= value < math.inf:
            raise self.error(f"an entry of a table is a weight, 0 or larger, not {word[:20]!r}")
        return value

    def end(self) -> None:
        rest = next(self._words, None)
        if rest is not None:
            raise self.error(f"there is more than the tables that were declared: {rest[:20]!r}")
