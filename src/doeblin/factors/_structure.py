"""What a graph is made of, found once for each graph: who touches whom, colours, trees. Numpy only.

Two indices stand for no site. Arrays over sites that are walked along a tree have two rows more,
so that from the end `ABOVE` is the row over all roots and `NOTHING` one that nobody reads.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
ABOVE, NOTHING = -1, -2


def incidence(scopes: Ints, num_sites: int) -> Ints:
    """For each site, its places in the flattened scopes; -1 fills up to the largest degree."""
    flat = scopes.ravel()
    places = np.flatnonzero(flat >= 0)
    places = places[np.argsort(flat[places], kind="stable")]
    degree = np.bincount(flat[places], minlength=num_sites)
    first = np.cumsum(degree) - degree
    table = np.full((num_sites, degree.max(initial=1)), -1, np.int32)
    table[flat[places], np.arange(len(places)) - first[flat[places]]] = places
    return table


def colouring(scopes: Sequence[Ints], num_sites: int) -> Ints:
    """Colours such that no factor holds a colour twice: the site whose neighbours have most colours
    comes first (Brélaz, 1979), which finds two where two are enough.

    One row for each colour: its sites, and -1.
    """
    neighbours: list[set[int]] = [set() for _ in range(num_sites)]
    for table in scopes:
        for scope in table.tolist():
            sites = [site for site in scope if site >= 0]
            for site in sites:
                neighbours[site].update(sites)
    seen: list[set[int]] = [set() for _ in range(num_sites)]
    colours = np.full(num_sites, -1)
    waiting = [(0, -len(neighbours[site]), site) for site in range(num_sites)]
    heapq.heapify(waiting)
    while waiting:
        saturation, _, site = heapq.heappop(waiting)
        if colours[site] >= 0 or -saturation != len(seen[site]):
            continue
        colour = next(c for c in range(num_sites) if c not in seen[site])
        colours[site] = colour
        for other in neighbours[site]:
            if colours[other] < 0 and colour not in seen[other]:
                seen[other].add(colour)
                heapq.heappush(waiting, (-len(seen[other]), -len(neighbours[other]), other))
    return rows_of([np.flatnonzero(colours == c) for c in range(colours.max(initial=-1) + 1)], -1)


class Forest(NamedTuple):
    """A spanning forest, and the order in which messages pass along it."""

    parent: Ints
    """By site; `ABOVE` at roots."""
    rounds: Ints
    """From the roots down, the sites whose parents came in earlier rounds; `NOTHING` fills up."""


def spanning_forest(pairs: Ints, weights: NDArray[np.floating], num_sites: int) -> Forest:
    """The forest of largest weight (Kruskal); of equal weights, what comes first is taken."""
    tree = _Joined(num_sites)
    branches: list[list[int]] = [[] for _ in range(num_sites)]
    for index in np.argsort(-weights, kind="stable"):
        one, other = (int(site) for site in pairs[index])
        if tree.join(one, other):
            branches[one].append(other)
            branches[other].append(one)
    parent = _rooted(branches)
    return Forest(parent, rounds_of(parent))


def rounds_of(parent: Ints) -> Ints:
    """The order in which messages pass down: see `Forest`."""
    return _rounds(parent, _width(parent))


class _Joined:
    """Which sites hang together (union–find)."""

    def __init__(self, num_sites: int):
        self._above = list(range(num_sites))

    def find(self, site: int) -> int:
        above = self._above
        while above[site] != site:
            above[site] = above[above[site]]
            site = above[site]
        return site

    def join(self, one: int, other: int) -> bool:
        """Whether they did not hang together before."""
        top, new = self.find(one), self.find(other)
        self._above[top] = new
        return top != new


class Blocks(NamedTuple):
    """A partition of the sites into blocks, each a forest once all other sites are held fixed."""

    parent: Ints
    """By site, within its block; `ABOVE` at roots."""
    root: Ints
    """The site from which each hangs."""
    rounds: Ints
    """By block, from the roots down; `NOTHING` fills up."""


def forest_blocks(scopes: Sequence[Ints], num_sites: int) -> Blocks:
    """Each site joins the first block in which factors of two sites close no loop, and no factor of
    more sites holds two (Hamze & de Freitas, "From fields to trees", 2004, by first fit)."""
    near: list[set[int]] = [set() for _ in range(num_sites)]
    apart: list[set[int]] = [set() for _ in range(num_sites)]
    for table in scopes:
        for scope in table.tolist():
            sites = [site for site in scope if site >= 0]
            for site in sites:
                (near if len(scope) == 2 else apart)[site].update(sites)
    block = [-1] * num_sites
    tree = _Joined(num_sites)
    branches: list[list[int]] = [[] for _ in range(num_sites)]
    for site in range(num_sites):
        taken = {block[other] for other in apart[site]}
        trees: dict[int, list[int]] = {}
        for other in sorted(near[site] - {site}):
            if block[other] >= 0:
                trees.setdefault(block[other], []).append(tree.find(other))
        taken |= {number for number, found in trees.items() if len(set(found)) < len(found)}
        block[site] = next(number for number in range(num_sites) if number not in taken)
        for other in sorted(near[site] - {site}):
            if block[other] == block[site]:
                tree.join(site, other)
                branches[site].append(other)
                branches[other].append(site)
    parent = _rooted(branches)
    root = np.arange(num_sites, dtype=np.int32)
    members = [np.flatnonzero(np.array(block) == number) for number in range(max(block) + 1)]
    each = [_within(parent, sites) for sites in members]
    width = max(map(_width, each))
    rounds = [_rounds(own, width) for own in each]
    shape = (len(rounds), max(map(len, rounds)), width)
    stacked = np.full(shape, NOTHING, np.int32)
    for row, own, sites in zip(stacked, rounds, members, strict=True):
        row[: len(own), : own.shape[1]] = np.where(own == NOTHING, NOTHING, sites[own])
        for site in row[row != NOTHING].tolist():
            if parent[site] != ABOVE:
                root[site] = root[parent[site]]
    return Blocks(parent, root, stacked)


def _within(parent: Ints, sites: NDArray[np.integer]) -> Ints:
    """Parents by their numbers among some sites."""
    number = np.full(len(parent) + 1, ABOVE, np.int32)
    number[sites] = np.arange(len(sites))
    return number[parent[sites]]


def _rooted(branches: list[list[int]]) -> Ints:
    """Parents, each tree hanging from the middle of its longest path: no other root is nearer to
    all leaves, and rounds are few."""
    parent = np.full(len(branches), NOTHING, np.int32)
    for start in range(len(branches)):
        if parent[start] == NOTHING:
            one_end = _walked(branches, start)[-1][0]
            back = dict(walk := _walked(branches, one_end))
            path = [walk[-1][0]]
            while back[path[-1]] != ABOVE:
                path.append(back[path[-1]])
            for site, above in _walked(branches, path[len(path) // 2]):
                parent[site] = above
    return parent


def _walked(branches: list[list[int]], start: int) -> list[tuple[int, int]]:
    """The sites of a tree with their parents, the nearest to `start` first."""
    found = [(start, ABOVE)]
    for site, above in found:
        found += [(other, site) for other in branches[site] if other != above]
    return found


def _heights(parent: Ints) -> tuple[list[int], list[list[int]], NDArray[np.integer]]:
    """Roots, children, and how many sites the longest way down from each site has."""
    children: list[list[int]] = [[] for _ in parent]
    roots = []
    for site, above in enumerate(parent.tolist()):
        (roots if above == ABOVE else children[above]).append(site)
    order = list(roots)
    for site in order:
        order += children[site]
    height = np.zeros(len(parent), int)
    for site in reversed(order):
        height[site] = 1 + max((height[child] for child in children[site]), default=0)
    return roots, children, height


def _width(parent: Ints) -> int:
    """Such that rounds hold at most some four times as many entries as there are sites."""
    return -(-len(parent) // max(int(_heights(parent)[2].max(initial=1)), 1))


def _rounds(parent: Ints, width: int) -> Ints:
    """As few rounds as possible for their width (Hu, 1961): the longest branches first."""
    roots, children, height = _heights(parent)
    ready = [(-height[site], site) for site in roots]
    heapq.heapify(ready)
    rounds = []
    while ready:
        now = [heapq.heappop(ready)[1] for _ in range(min(width, len(ready)))]
        for site in now:
            for child in children[site]:
                heapq.heappush(ready, (-height[child], child))
        rounds.append(np.array(now))
    return rows_of(rounds, NOTHING)


def rows_of(rows: Sequence[NDArray[np.integer]], filler: int) -> Ints:
    """Rows of different lengths as one table."""
    table = np.full((len(rows), max(map(len, rows), default=0)), filler, np.int32)
    for row, entries in zip(table, rows, strict=True):
        row[: len(entries)] = entries
    return table
