"""Graphs: which sites there are, and which factors hold which of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Bool, Int
from numpy.typing import NDArray

from .._errors import InputError
from ._structure import NOTHING, Blocks, colouring, forest_blocks, incidence, spanning_forest


class Variables:
    """Names for the sites of a graph: arrays of variables, each with its number of values.

    `variables[name]` has the numbers of the sites, in the shape that was declared.

    >>> variables = Variables(pixel=((2, 3), 4), mode=((), 2))
    >>> variables["pixel"].tolist(), int(variables["mode"])
    ([[0, 1, 2], [3, 4, 5]], 6)
    """

    def __init__(self, **declared: tuple[Sequence[int], int]):
        self._sites: dict[str, NDArray[np.int32]] = {}
        num_values: list[int] = []
        for name, (shape, values) in declared.items():
            size = int(np.prod(shape, dtype=int))
            if size < 1 or values < 1:
                raise InputError(
                    f"variable {name!r} has shape {tuple(shape)} and {values} values; it needs at "
                    "least one site and one value"
                )
            sites = np.arange(len(num_values), len(num_values) + size, dtype=np.int32)
            self._sites[name] = sites.reshape(shape)
            num_values += [values] * size
        self.num_values = np.array(num_values, np.int32)

    def __getitem__(self, name: str) -> NDArray[np.int32]:
        if name not in self._sites:
            raise InputError(f"there is no variable {name!r}; there are {', '.join(self._sites)}")
        return self._sites[name]

    def state(self, **values: Any) -> NDArray[np.int32]:
        """A state from the values of all variables."""
        if set(values) != set(self._sites):
            raise InputError(
                f"a state needs values of {', '.join(self._sites)}; got {', '.join(values)}"
            )
        state = np.zeros(len(self.num_values), np.int32)
        for name, given in values.items():
            sites, own = self._sites[name], np.asarray(given)
            if own.shape != sites.shape or not np.issubdtype(own.dtype, np.integer):
                raise InputError(
                    f"variable {name!r} has values of shape {own.shape} and type {own.dtype}; it "
                    f"needs whole numbers of shape {sites.shape}"
                )
            state[sites] = own
        if (state < 0).any() or (state >= self.num_values).any():
            raise InputError("a value is out of range; values of k are 0 to k - 1")
        return state

    def values(self, states: Any) -> dict[str, Any]:
        """The values of each variable in a state, or in stacked states."""
        return {name: states[..., sites] for name, sites in self._sites.items()}


def along(sites: Any, axis: int) -> NDArray[np.int32]:
    """Pairs of neighbours along one axis of an array of sites: the scopes of a chain or a grid.

    >>> along(np.arange(6).reshape(2, 3), axis=1).tolist()
    [[0, 1], [1, 2], [3, 4], [4, 5]]
    """
    lined = np.moveaxis(np.asarray(sites, np.int32), axis, -1)
    return np.stack([lined[..., :-1].ravel(), lined[..., 1:].ravel()], axis=1)


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
    colours that no factor holds twice, and the forest that the restart is made of. Made by `of`.
    """

    num_values: Int[NDArray, " sites"]
    num_sites: Int[NDArray, ""]
    """Sites beyond it are padding: they have one value."""
    kinds: dict[str, Kind]
    colours: Int[NDArray, "colours sites"]
    """The sites of each colour; -1 fills up."""
    parent: Int[NDArray, " sites"]
    rounds: Int[NDArray, "rounds width"]
    """In which order messages pass down the forest."""
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
    ) -> Graph:
        """A graph from the number of values of each site, and the factors of each kind.

        Instead of numbers, [`Variables`][doeblin.factors.Variables] can be given; `factors` has
        [`Factors`][doeblin.factors.Factors] by the name of the kind, or their scopes alone.

        `tree` names the kinds that the restart may use, by default all of one and of two sites;
        the spanning forest takes what was declared first. Or `tree` gives, for kinds of two sites,
        a weight for each factor: the forest of largest weight is taken, and all kinds of one site.

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
        weights = _checked_tree(tree, given)
        pairs = [name for name in weights if given[name].scopes.shape[1] == 2]
        merged = _merged([given[name].scopes for name in pairs], [weights[name] for name in pairs])
        parent, rounds = spanning_forest(*merged, size)
        scopes = [each.scopes for each in given.values()]
        blocks = forest_blocks(scopes, size)
        kinds = {
            name: _kind(
                each, size, _children(each.scopes, parent, name in weights), _inner(each, blocks)
            )
            for name, each in given.items()
        }
        return cls(
            counts,
            np.array(size, np.int32),
            kinds,
            colouring(scopes, size),
            parent,
            rounds,
            blocks,
            int(counts.max()),
        )

    @property
    def num_colours(self) -> Any:
        """How many colours have sites."""
        return (self.colours[:, 0] >= 0).sum()

    @property
    def num_blocks(self) -> Any:
        """How many blocks have sites."""
        return (self.blocks.rounds[:, 0, 0] != NOTHING).sum()

    def retreed(self, tree: Sequence[str] | Mapping[str, Any] | None) -> Graph:
        """The same graph with another forest."""
        return Graph.of(
            self.num_values[: int(self.num_sites)],
            {name: kind.declared() for name, kind in self.kinds.items()},
            tree=tree,
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


def _children(
    scopes: NDArray[np.int32], parent: NDArray[np.int32], used: bool
) -> NDArray[np.int32]:
    """The lower site of each factor on the forest."""
    nothing = np.full(len(scopes), NOTHING, np.int32)
    if not used or scopes.shape[1] > 2:
        return nothing
    if scopes.shape[1] == 1:
        return scopes[:, 0]
    one, other = scopes.T
    below = np.where(parent[other] == one, other, nothing)
    return np.where(parent[one] == other, one, below)


def _inner(factors: Factors, blocks: Blocks) -> NDArray[np.int32]:
    """The lower site of each factor that has two sites of one block."""
    scopes = factors.scopes
    nothing = np.full(len(scopes), NOTHING, np.int32)
    if scopes.shape[1] != 2:
        return nothing
    return _children(np.where((scopes >= 0).all(axis=1)[:, None], scopes, 0), blocks.parent, True)


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


def _checked_tree(tree: Any, factors: Mapping[str, Factors]) -> dict[str, NDArray[np.floating]]:
    """The kinds that u may use, with a weight for each factor."""
    usable = {
        name: each.scopes.shape[1]
        for name, each in factors.items()
        if each.scopes.shape[1] <= 2 and (each.scopes >= 0).all()
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
                f"tree names {name!r}, whose factors hold more than two sites, or have places "
                "without one; a tree is made of factors of one and two sites"
            )
        scopes = factors[name].scopes
        own = tree[name] if isinstance(tree, Mapping) and name in tree else np.ones(len(scopes))
        given = _array(own, f"the weights that tree has for {name!r} must be numbers", float)
        if given.shape != (len(scopes),) or np.isnan(given).any():
            raise InputError(
                f"tree has weights of shape {given.shape} for {name!r}; it needs a number for each "
                f"of the {len(scopes)} factors"
            )
        weights[name] = given
    return weights
