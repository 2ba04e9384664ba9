"""Graphs: which sites there are, and which factors hold which of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Bool, Int
from numpy.typing import NDArray

from .._errors import InputError
from .._numbers import whole
from ._cliques import Held, grown, held_at
from ._structure import (
    NOTHING,
    Blocks,
    colouring,
    forest_blocks,
    incidence,
    rounds_of,
    spanning_forest,
)
from ._variables import Variables

_MOST_ENTRIES = 2**28
"""Of the restart's tables, 1 GB."""


class Factors(NamedTuple):
    """The factors of one kind: the sites in the scope of each, and features of each, if any."""

    scopes: Any
    """Numbers of sites, (factors, places); -1 where a scope has no site."""
    features: Any = None
    """Any tree of arrays with one row for each factor."""


class Kind(eqx.Module):
    """The factors of one kind, and where sites meet them."""

    scopes: Int[NDArray, "factors places"]
    features: Any
    count: Int[NDArray, ""]
    """Factors beyond it are padding."""
    places: Int[NDArray, "sites degree"]
    """Where each site stands in the flattened scopes; -1 for nowhere."""
    child: Int[NDArray, " factors"]
    """The site whose branch (or own score) the factor is part of in u; `NOTHING` if in none."""
    inner: Int[NDArray, " factors"]
    """The lower site of a factor of two sites that are in one block; else `NOTHING`."""

    @property
    def on_tree(self) -> Bool[NDArray, " factors"]:
        return self.child != NOTHING

    def declared(self) -> Factors:
        """The factors as they were given."""
        count = int(self.count)
        return Factors(self.scopes[:count], jax.tree.map(lambda leaf: leaf[:count], self.features))


class Graph(eqx.Module):
    """Sites with finitely many values, factors over them, and all that follows from who holds whom:
    colours that no factor holds twice, and the forest (or the part of bounded treewidth) that the
    restart is made of. Made by `of`.
    """

    num_values: Int[NDArray, " sites"]
    num_sites: Int[NDArray, ""]
    """Sites beyond it are padding: they have one value."""
    kinds: dict[str, Kind]
    colours: Int[NDArray, "colours sites"]
    """The sites of each colour; -1 fills up."""
    above: Int[NDArray, "sites width"]
    """The sites that each hangs from in u, the nearest first: on a forest its parent."""
    rounds: Int[NDArray, "rounds sites"]
    """In which order messages pass down."""
    blocks: Blocks
    """Parts that can be redrawn exactly, given all other sites."""
    most_values: int = eqx.field(static=True)

    @classmethod
    def of(
        cls,
        num_values: Any,
        factors: Mapping[str, Any],
        *,
        tree: Sequence[str] | Mapping[str, Any] | None = None,
        width: int = 1,
    ) -> Graph:
        """A graph from the number of values of each site, and the factors of each kind.

        Instead of numbers, [`Variables`][doeblin.factors.Variables] can be given; `factors` has
        [`Factors`][doeblin.factors.Factors] by the name of the kind, or their scopes alone.

        `tree` names the kinds that the restart may use, by default all of one and of two sites;
        the spanning forest takes what was declared first. Or `tree` gives, for kinds of two sites,
        a weight for each factor: the forest of largest weight is taken, and all kinds of one site.

        With a larger `width` the restart has more: the forest, and what fits beside it within this
        treewidth, also factors of up to width + 1 sites. Its sums are exact all the same, and cost
        (number of values) ** (width + 1) for each site.

        >>> graph = Graph.of([2, 2, 2], {"pair": [[0, 1], [1, 2], [2, 0]]})
        >>> graph.colours.tolist(), graph.kinds["pair"].on_tree.tolist()
        ([[0], [1], [2]], [True, True, False])
        """
        counts = _checked_values(num_values)
        size = len(counts)
        if not isinstance(factors, Mapping):
            raise InputError(
                f"factors are a {type(factors).__name__}; give their kinds names, as in "
                '{"pair": [[0, 1], [1, 2]]}'
            )
        given = {name: _checked_factors(name, each, size) for name, each in factors.items()}
        whole("width", width, least=1)
        weights = _checked_tree(tree, given, width)
        above, rounds = _part(given, weights, size, width)
        _check_memory(counts, above.shape[1])
        scopes = [each.scopes for each in given.values()]
        blocks = forest_blocks(scopes, size)
        kinds = {
            name: _kind(
                each, size, _children(each.scopes, above, name in weights), _inner(each, blocks)
            )
            for name, each in given.items()
        }
        return cls(
            counts,
            np.array(size, np.int32),
            kinds,
            colouring(scopes, size),
            above,
            rounds,
            blocks,
            int(counts.max()),
        )

    @property
    def width(self) -> int:
        """The restart's: 1 on a forest."""
        return self.above.shape[-1]

    @property
    def parent(self) -> Any:
        """The nearest site that each hangs from in u; -1 at roots."""
        return self.above[..., 0]

    @property
    def num_colours(self) -> Any:
        """How many colours have sites."""
        return (self.colours[:, 0] >= 0).sum()

    @property
    def num_blocks(self) -> Any:
        """How many blocks have sites."""
        return (self.blocks.rounds[:, 0, 0] != NOTHING).sum()

    def retreed(
        self, tree: Sequence[str] | Mapping[str, Any] | None, *, width: int | None = None
    ) -> Graph:
        """The same graph with another forest, or another width."""
        return Graph.of(
            self.num_values[: int(self.num_sites)],
            {name: kind.declared() for name, kind in self.kinds.items()},
            tree=tree,
            width=self.width if width is None else width,
        )


def _kind(factors: Factors, size: int, child: NDArray[np.int32], inner: NDArray[np.int32]) -> Kind:
    places = incidence(factors.scopes, size)
    count = np.array(len(factors.scopes), np.int32)
    if count:
        return Kind(factors.scopes, factors.features, count, places, child, inner)
    # Shapes need a factor; it does not count.
    return Kind(
        np.zeros((1, factors.scopes.shape[1]), np.int32),
        jax.tree.map(lambda leaf: np.zeros((1, *leaf.shape[1:]), leaf.dtype), factors.features),
        count,
        places,
        np.full(1, NOTHING, np.int32),
        np.full(1, NOTHING, np.int32),
    )


def _part(
    factors: Mapping[str, Factors], weights: Mapping[str, Any], size: int, width: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What each site hangs from in u, and the rounds of its messages."""
    pairs = [name for name in weights if factors[name].scopes.shape[1] == 2]
    larger = [name for name in weights if factors[name].scopes.shape[1] > 2]
    joined, sums = _merged([factors[name].scopes for name in pairs], [weights[n] for n in pairs])
    # Larger factors only join what no factor of two sites does.
    more = [
        scopes[:, [one, other]]
        for scopes in (factors[name].scopes for name in larger)
        for one, other in itertools.combinations(range(scopes.shape[1]), 2)
    ]
    joined = np.concatenate([joined, *more])
    sums = np.append(sums, np.full(len(joined) - len(sums), -np.inf))
    parent, rounds = spanning_forest(joined, sums, size)
    if width == 1:
        return parent[:, None], rounds
    held = [
        Held(frozenset(scope), float(weight))
        for name in (*pairs, *larger)
        for scope, weight in zip(factors[name].scopes.tolist(), weights[name], strict=True)
    ]
    above = grown(parent, held, width)
    return above, rounds_of(above[:, 0])


def _children(scopes: NDArray[np.int32], above: NDArray[np.int32], used: bool) -> NDArray[np.int32]:
    """The lowest site of each factor that is in u."""
    if not used:
        return np.full(len(scopes), NOTHING, np.int32)
    return held_at(scopes, above, NOTHING)


def _inner(factors: Factors, blocks: Blocks) -> NDArray[np.int32]:
    """The lower site of each factor that has two sites of one block."""
    scopes = factors.scopes
    nothing = np.full(len(scopes), NOTHING, np.int32)
    if scopes.shape[1] != 2:
        return nothing
    there = np.where((scopes >= 0).all(axis=1)[:, None], scopes, 0)
    return held_at(there, blocks.parent[:, None], NOTHING)


def _merged(scopes: list[Any], weights: list[Any]) -> tuple[Any, Any]:
    """Pairs without regard to their order, each once where it comes first, with summed weights."""
    pairs = np.sort(np.concatenate([np.zeros((0, 2), np.int32), *scopes]), axis=1)
    numbers = np.concatenate([np.zeros(0), *weights])
    unique, first, which = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    sums = np.zeros(len(unique))
    np.add.at(sums, which.ravel(), numbers)
    order = np.argsort(first)
    return unique[order], sums[order]


def _array(given: Any, remedy: str, dtype: Any = None) -> NDArray[Any]:
    try:
        return np.asarray(given, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise InputError(f"{remedy} ({error})") from None


def _checked_values(num_values: Any) -> NDArray[np.int32]:
    given = num_values.num_values if isinstance(num_values, Variables) else num_values
    counts = _array(given, "num_values must be whole numbers, one for each site")
    if counts.ndim == 1 and not len(counts):
        raise InputError("num_values is empty; a graph needs at least one site")
    if counts.ndim != 1 or not np.issubdtype(counts.dtype, np.integer):
        raise InputError(
            "num_values must be whole numbers, one for each site (or Variables), got "
            f"{counts.dtype} of shape {counts.shape}"
        )
    if counts.min() < 1:
        site = int(np.argmin(counts))
        raise InputError(f"site {site} has {counts[site]} values; it needs at least one")
    return counts.astype(np.int32)


def _checked_factors(name: str, given: Any, size: int) -> Factors:
    factors = given if isinstance(given, Factors) else Factors(given)
    remedy = (
        f"the scopes of {name!r} must be all of one size; fill up shorter ones by -1 (for a "
        "Function or a Count), or make kinds of factors for each size"
    )
    scopes = _array(factors.scopes, remedy)
    if scopes.ndim != 2 or not scopes.shape[1]:
        raise InputError(
            f"factors {name!r} have scopes of shape {scopes.shape}; they need one row for each "
            "factor and one column for each place"
        )
    if not np.issubdtype(scopes.dtype, np.integer):
        raise InputError(f"factors {name!r} have scopes of {scopes.dtype}; sites are numbers")
    wrong = np.argwhere((scopes < -1) | (scopes >= size))
    if len(wrong):
        factor, place = wrong[0]
        raise InputError(
            f"factor {factor} of {name!r} is over site {scopes[factor, place]}; there are sites 0 "
            f"to {size - 1}"
        )
    ordered = np.sort(scopes, axis=1)
    twice = np.argwhere((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0))
    if len(twice):
        factor, place = twice[0]
        raise InputError(
            f"factor {factor} of {name!r} holds site {ordered[factor, place]} twice; a scope has "
            "each site once (put what the two places say into a factor of fewer sites)"
        )
    given = factors.features
    if isinstance(given, list):
        given = _array(given, f"features of {name!r} must be as many for each factor")
    features = jax.tree.map(np.asarray, given)
    for path, leaf in jax.tree_util.tree_leaves_with_path(features):
        where = f"features{jax.tree_util.keystr(path)} of {name!r}"
        if leaf.ndim < 1 or len(leaf) != len(scopes):
            raise InputError(
                f"{where} have shape {leaf.shape}; they need one row for each of the "
                f"{len(scopes)} factors"
            )
        if not (np.issubdtype(leaf.dtype, np.number) or leaf.dtype == bool):
            raise InputError(f"{where} are of type {leaf.dtype}; features are numbers")
        wrong = np.argwhere(~np.isfinite(leaf))
        if len(wrong):
            found = "NaN" if np.isnan(leaf[tuple(wrong[0])]) else str(leaf[tuple(wrong[0])])
            raise InputError(
                f"{where} have {found} at factor {wrong[0][0]}; fill it in, or leave it out"
            )
    return Factors(scopes.astype(np.int32), features)


def _check_memory(counts: NDArray[np.int32], width: int) -> None:
    entries = len(counts) * int(counts.max()) ** (width + 1)
    if width > 1 and entries > _MOST_ENTRIES:
        raise InputError(
            f"width = {width} needs tables of {counts.max()}^{width + 1} entries for each of the "
            f"{len(counts)} sites, {entries:.1e} in all; choose a smaller width"
        )


def _checked_tree(
    tree: Any, factors: Mapping[str, Factors], width: int
) -> dict[str, NDArray[np.floating]]:
    """The kinds that u may use, with a weight for each factor."""
    usable = {
        name: each.scopes.shape[1]
        for name, each in factors.items()
        if each.scopes.shape[1] <= width + 1 and (each.scopes >= 0).all()
    }
    names = list(usable if tree is None else tree)
    if isinstance(tree, Mapping):
        names += [name for name in usable if usable[name] == 1 and name not in tree]
    weights = {}
    for name in names:
        if name not in factors:
            raise InputError(
                f"tree names {name!r}, and there are no such factors; there are "
                f"{', '.join(factors)}"
            )
        if name not in usable:
            raise InputError(
                f"tree names {name!r}, whose factors hold more than {width + 1} sites, or have "
                f"places without one; with width = {width} u is made of factors of up to "
                f"{width + 1} sites"
            )
        scopes = factors[name].scopes
        own = tree[name] if isinstance(tree, Mapping) and name in tree else np.ones(len(scopes))
        given = _array(own, f"the weights that tree has for {name!r} must be numbers", float)
        if given.shape != (len(scopes),):
            raise InputError(
                f"tree has weights of shape {given.shape} for {name!r}; it needs a number for each "
                f"of the {len(scopes)} factors"
            )
        if np.isnan(given).any():
            raise InputError(f"tree has NaN for factor {np.isnan(given).argmax()} of {name!r}")
        weights[name] = given
    return weights
