"""Parts of bounded treewidth: which sites hang from which others. Numpy only.

A k-tree is grown along a spanning forest: a new site hangs from at most `width` sites that some
earlier one and its own hang together with. So all that a site hangs from is in one table with the
nearest of them, and sums over sites, the last one first, have tables of no more than width + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._structure import ABOVE, Ints

_MOST_BAGS = 256
"""Where more sites hang from one than that, the latest are looked at."""


class Held(NamedTuple):
    """A factor that u may have: its sites, and how much it matters."""

    sites: frozenset[int]
    weight: float


def grown(parent: Ints, factors: Sequence[Held], width: int) -> Ints:
    """The sites that each hangs from, the last one to come first; `ABOVE` fills up.

    Each hangs from its parent in the forest, so u has all that is on it. Of the ways to hang a site
    the one with the largest weight of factors is taken; of equal ones that which shares most
    neighbours that are still to come, or has most sites with any.
    """
    size = len(parent)
    holding: list[list[Held]] = [[] for _ in range(size)]
    near: list[set[int]] = [set() for _ in range(size)]
    for factor in factors:
        for site in factor.sites:
            holding[site].append(factor)
            near[site] |= factor.sites
    rank, waiting = np.full(size, -1), [len(others) for others in near]
    above: list[tuple[int, ...]] = [()] * size
    bags: list[list[tuple[int, ...]]] = [[] for _ in range(size)]
    for number, site in enumerate(_from_roots(parent)):
        rank[site] = number
        for other in near[site]:
            waiting[other] -= 1
        if parent[site] != ABOVE:
            to_come = {other for other in near[site] if rank[other] < 0}

            def worth(way: tuple[int, ...], site=site, to_come=to_come) -> tuple[float, int, int]:
                together = {site, *way}
                own = sum(held.weight for held in holding[site] if held.sites <= together)
                shared = sum(len(to_come & near[other]) for other in way)
                return own, shared, sum(waiting[other] > 0 for other in way)

            above[site] = max(_ways(bags[parent[site]], int(parent[site]), width), key=worth)
        bag = (*above[site], site)
        for member in bag:
            bags[member].append(bag)
    table = np.full((size, max(1, *map(len, above))), ABOVE, np.int32)
    for site, sites in enumerate(above):
        table[site, : len(sites)] = sorted(sites, key=lambda other: -rank[other])
    return table


def held_at(scopes: Ints, above: Ints, nothing: int) -> Ints:
    """The site of each factor that all its others are above of; `nothing` where there is none."""
    factors, places = scopes.shape
    found = np.full(factors, nothing, np.int32)
    for place in range(places):
        others = np.delete(scopes, place, axis=1)
        hang = above[scopes[:, place]]
        fits = (others[:, :, None] == hang[:, None, :]).any(axis=2).all(axis=1)
        found = np.where(fits, scopes[:, place], found)
    return found.astype(np.int32)


def _ways(bags: Sequence[tuple[int, ...]], parent: int, width: int) -> list[tuple[int, ...]]:
    found = []
    for bag in bags[-_MOST_BAGS:]:
        if len(bag) <= width:
            found.append(bag)
        else:
            found += [tuple(s for s in bag if s != gone) for gone in bag if gone != parent]
    return found


def _from_roots(parent: NDArray[np.integer]) -> list[int]:
    """All sites, each after its parent, the nearest to the roots first."""
    children: list[list[int]] = [[] for _ in parent]
    order = []
    for site, above in enumerate(parent.tolist()):
        (order if above == ABOVE else children[above]).append(site)
    for site in order:
        order += children[site]
    return order
