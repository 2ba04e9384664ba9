"""The compiled beam search over strings of letters."""

from __future__ import annotations

import math

import numpy as np

from ...._numba import kept
from ..restart import TINY, advance, follow, look_ahead, prepare


@kept(about=5, error_model="numpy")
def spell(trace, restart, extra, out_keys, out_sizes, out_masses):
    """The best strings of letters by log m + log-probability of the letters; a beam search.

    Prefixes are ranked by their mass times the exact mass of all that may follow.
    """
    beam, longest = out_keys.shape
    num_keys, letters = len(restart.plane), restart.letters
    count, _frames, potentials, logs = prepare(trace, restart, extra)
    hit, dwell, transit = potentials.hit, potentials.dwell, potentials.transit
    scale = logs.sum()
    ahead = np.empty((num_keys + 1, count + 1))
    look_ahead(letters, potentials, count, ahead)
    masses = np.zeros((beam, count + 1))
    masses[0, 0] = 1.0
    prefixes = np.full((beam, longest), -1)
    weight = np.zeros(beam)
    alive = 1
    found = 0
    arriving = np.empty(count)
    mass = np.empty((beam * num_keys, count + 1))
    promise = np.empty(beam * num_keys)
    for size in range(1, longest + 1):
        for k in range(alive):
            previous = prefixes[k, size - 2] if size > 1 else num_keys
            for c in range(num_keys):
                at = k * num_keys + c
                promise[at] = -np.inf
                if c == previous or letters[previous, c] <= 0.0:
                    continue
                advance(
                    masses[k], hit[c], dwell[c], transit[previous, c], count, arriving,
                    mass[at],
                )  # fmt: skip
                value = 0.0
                for i in range(count):
                    value += arriving[i] * hit[c, i] * ahead[c, i + 1]
                if value > TINY:
                    promise[at] = math.log(value) + weight[k] + math.log(letters[previous, c])
        order = np.argsort(-promise[: alive * num_keys])
        new_prefixes = np.full((beam, longest), -1)
        new_weight = np.zeros(beam)
        new_alive = 0
        for at in order[:beam]:
            if promise[at] == -np.inf:
                break
            # Every string found so far beats all that this prefix may become.
            if found == beam and promise[at] + scale <= out_masses[:beam].min():
                break
            k, c = at // num_keys, at % num_keys
            previous = prefixes[k, size - 2] if size > 1 else num_keys
            new_prefixes[new_alive] = prefixes[k]
            new_prefixes[new_alive, size - 1] = c
            new_weight[new_alive] = weight[k] + math.log(letters[previous, c])
            new_alive += 1
        kept = np.zeros((beam, count + 1))
        for n in range(new_alive):
            kept[n] = mass[order[n]]
            c = new_prefixes[n, size - 1]
            if kept[n, count] > TINY and letters[c, num_keys] > 0.0:
                value = (
                    math.log(kept[n, count]) + new_weight[n] + math.log(letters[c, num_keys])
                    + scale
                )  # fmt: skip
                slot = found
                if found == beam:
                    slot = np.argmin(out_masses)
                    if out_masses[slot] >= value:
                        continue
                else:
                    found += 1
                out_masses[slot] = value
                out_sizes[slot] = size
                out_keys[slot] = new_prefixes[n]
        masses, prefixes, weight, alive = kept, new_prefixes, new_weight, new_alive
        if alive == 0:
            break
    return found


@kept(about=5, error_model="numpy")
def spelt(trace, restart, extra, keys):
    """log m of one word (by its merged keys), and the log of the mass of all spellings."""
    count, _frames, potentials, logs = prepare(trace, restart, extra)
    arriving = np.empty((len(keys) + 1, count))
    mass = np.empty((len(keys) + 1, count + 1))
    value = follow(keys, potentials, count, arriving, mass)
    ahead = np.empty((len(restart.plane) + 1, count + 1))
    total = look_ahead(restart.letters, potentials, count, ahead)
    scale = logs.sum()
    return (
        scale + math.log(value) if value > TINY else -np.inf,
        scale + math.log(total) if total > TINY else -np.inf,
    )
