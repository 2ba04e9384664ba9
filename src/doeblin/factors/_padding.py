"""Graphs of different sizes in one shape, so that they can be stacked. Padding changes no law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from .._errors import InputError
from ._graph import Graph, Kind
from ._structure import ABOVE, NOTHING, Blocks


class Sizes(NamedTuple):
    """Shapes that hold some graphs."""

    values: int
    sites: int
    width: int
    colours: tuple[int, ...]
    rounds: tuple[int, ...]
    blocks: tuple[int, ...]
    kinds: dict[str, tuple[int, int, int]]
    """Factors, places and degree, by kind."""

    @classmethod
    def of(cls, graphs: Sequence[Graph]) -> Sizes:
        """The smallest that hold them all."""
        names = set(graphs[0].kinds)
        for number, graph in enumerate(graphs):
            if set(graph.kinds) != names:
                raise InputError(
                    f"graph {number} has factors {sorted(graph.kinds)}, graph 0 has "
                    f"{sorted(names)}; graphs of one model have the same kinds (a kind may have no "
                    "factors)"
                )
        each = [
            cls(
                graph.most_values,
                len(graph.num_values),
                graph.width,
                graph.colours.shape,
                graph.rounds.shape,
                graph.blocks.rounds.shape,
                {
                    name: (*kind.scopes.shape, kind.places.shape[1])
                    for name, kind in graph.kinds.items()
                },
            )
            for graph in graphs
        ]
        return jax.tree.map(lambda *sizes: max(sizes), *each)


def alike(graphs: Sequence[Graph]) -> list[Graph]:
    """The same graphs, padded to one shape; `jax.tree.map` stacks them, and chains run on all.

    >>> one, other = Graph.of([2], {"a": [[0]]}), Graph.of([2, 2, 2], {"a": [[2]]})
    >>> [len(graph.num_values) for graph in alike([one, other])]
    [3, 3]
    """
    if not len(graphs):
        raise InputError("there are no graphs")
    sizes = Sizes.of(graphs)
    return [padded(graph, sizes) for graph in graphs]


def padded(graph: Graph, sizes: Sizes) -> Graph:
    """The same graph in larger arrays: more sites of one value, factors that do not count."""

    kinds = {}
    for name, kind in graph.kinds.items():
        factors, places, degree = sizes.kinds[name]
        # What does not count repeats the first factor: its scores are as finite.
        row = np.concatenate(
            [np.arange(len(kind.scopes)), np.zeros(factors - len(kind.scopes), int)]
        )
        scopes = _filled(kind.scopes, (len(kind.scopes), places), -1)
        at = kind.places
        if places != kind.scopes.shape[1]:
            factor, place = np.divmod(at, kind.scopes.shape[1])
            at = np.where(at >= 0, factor * places + place, -1).astype(np.int32)
        kinds[name] = Kind(
            scopes[row],
            jax.tree.map(lambda leaf, row=row: leaf[row], kind.features),
            kind.count,
            _filled(at, (sizes.sites, degree), -1),
            _filled(kind.child, (factors,), NOTHING),
            _filled(kind.inner, (factors,), NOTHING),
        )
    return Graph(
        _filled(graph.num_values, (sizes.sites,), 1),
        graph.num_sites,
        kinds,
        _filled(graph.colours, sizes.colours, -1),
        _filled(graph.above, (sizes.sites, sizes.width), ABOVE),
        _filled(graph.rounds, sizes.rounds, NOTHING),
        Blocks(
            _filled(graph.blocks.parent, (sizes.sites,), ABOVE),
            _filled(graph.blocks.root, (sizes.sites,), 0),
            _filled(graph.blocks.rounds, sizes.blocks, NOTHING),
        ),
        sizes.values,
    )


def _filled(array: Any, shape: tuple[int, ...], filler: int) -> Any:
    more = [(0, size - have) for size, have in zip(shape, array.shape, strict=True)]
    return np.pad(array, more, constant_values=filler)
