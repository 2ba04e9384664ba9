"""What the reader sees of a trace, and what it says: which letter is written in each frame, if any.

The same lines run in numpy, which decodes, and in JAX, which trains: `xp` is one of them. Keys are
known by where they are, never by their letters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

# A trace is read in so many frames, at equal times.
FRAMES = 40
HEADS = 4
# What is seen of a frame: motion, turn, the nearest keys, the place, and the time.
NEAREST = 3
NUM_SEEN = 13 + 2 * NEAREST
# Far off the keyboard, a finger is here, in key widths; and it is never faster than so many times
# ten key widths a second.
_FAR, _FAST = 3.0, 4.0
# Offsets and distances are the same beyond this.
_REACH = 3.0
# Of two keys at one distance the one before the other counts as nearer, by this much for each key
# between them: neither rounding nor the order in which keys are listed decides.
_ORDER = 1e-5


def seen(places: Any, seconds: Any, plane: Any, xp: Any) -> tuple[Any, Any]:
    """What the network sees of each frame; and the way from there to each key.

    `places[..., i, :]` is where the finger was in frame i, in key widths both ways.
    """
    places = xp.clip(places, plane.min(0) - _FAR, plane.max(0) + _FAR)
    ways = plane - places[..., None, :]
    moves = places[..., 1:, :] - places[..., :-1, :]
    still = xp.zeros_like(moves[..., :1, :])
    before = xp.concatenate([still, moves], axis=-2)
    after = xp.concatenate([moves, still], axis=-2)
    step = seconds[..., None, None] / (FRAMES - 1)
    velocity = xp.clip((before + after) / 2 / (step + 1e-3) / 10, -_FAST, _FAST)
    speed = _length(velocity, xp)
    size = _length(before, xp) * _length(after, xp) + 1e-2
    along = (before * after).sum(-1, keepdims=True)
    across = before[..., :1] * after[..., 1:] - before[..., 1:] * after[..., :1]
    order = xp.argsort((ways**2).sum(-1) + _ORDER * _ranks(plane), axis=-1)
    order = order[..., [min(k, len(plane) - 1) for k in range(NEAREST)]]
    near = xp.take_along_axis(ways, order[..., None], axis=-2)
    near = xp.clip(near, -_REACH, _REACH).reshape(*near.shape[:-2], -1)
    share = xp.linspace(0.0, 1.0, FRAMES, dtype=places.dtype)
    times = xp.stack([share, xp.where(share == 0, 1.0, 0.0), xp.where(share == 1, 1.0, 0.0)], -1)
    shape = places.shape[:-1]
    times = xp.broadcast_to(times.astype(places.dtype), (*shape, 3))
    pace = xp.broadcast_to(xp.log(seconds + 0.1)[..., None, None], (*shape, 1))
    middle = (places - plane.mean(0)) / 3
    parts = (
        velocity, xp.log1p(3 * speed), 3 * before, along / size, across / size, near, middle,
        pace, times,
    )  # fmt: skip
    return xp.concatenate(parts, axis=-1), ways


def letters(
    weights: Mapping[str, Any],
    frames: Any,
    ways: Any,
    xp: Any,
    drop: Callable[[Any], Any] = lambda values: values,
) -> Any:
    """The log-chance of each key in each frame, and, in the last column, of none of them.

    Blocks of attention over the frames, as in a transformer; `drop` leaves out some hidden units.
    """
    hidden = _dense(weights, "in", frames)
    block = 0
    while f"{block}.look.weight" in weights:
        hidden = hidden + drop(_looked(weights, block, _normal(hidden, xp), xp))
        wide = xp.maximum(_dense(weights, f"{block}.wide", _normal(hidden, xp)), 0)
        hidden = hidden + _dense(weights, f"{block}.back", drop(wide))
        block += 1
    hidden = _normal(hidden, xp)
    asked = _dense(weights, "key", hidden)
    basis = xp.maximum(_dense(weights, "way", ways), 0)
    keys = (basis @ asked[..., :-1, None])[..., 0]
    keys += xp.minimum((ways**2).sum(-1), _REACH**2) * asked[..., -1:]
    scores = xp.concatenate([keys, _dense(weights, "none", hidden)], axis=-1)
    scores = scores - scores.max(-1, keepdims=True)
    return scores - xp.log(xp.exp(scores).sum(-1, keepdims=True))


def _looked(weights: Mapping[str, Any], block: int, hidden: Any, xp: Any) -> Any:
    """What the frames tell each other, by what they hold and how far apart they are."""
    *batch, frames, width = hidden.shape
    asked = _dense(weights, f"{block}.look", hidden).reshape(*batch, frames, 3, HEADS, -1)
    asking, held, told = (xp.swapaxes(asked[..., k, :, :], -2, -3) for k in range(3))
    apart = xp.arange(frames)[:, None] - xp.arange(frames) + frames - 1
    scores = (asking * (width // HEADS) ** -0.5) @ xp.swapaxes(held, -1, -2)
    scores += weights[f"{block}.apart"][:, apart]
    scores -= scores.max(-1, keepdims=True)
    shares = xp.exp(scores)
    heard = shares @ told
    heard /= shares.sum(-1, keepdims=True)
    return _dense(weights, f"{block}.tell", xp.swapaxes(heard, -2, -3).reshape(hidden.shape))


def _dense(weights: Mapping[str, Any], name: str, values: Any) -> Any:
    weight = weights[f"{name}.weight"]
    # One large product: numpy would make many small ones.
    made = values.reshape(-1, len(weight)) @ weight
    made += weights[f"{name}.bias"]
    return made.reshape(*values.shape[:-1], -1)


def _normal(values: Any, xp: Any) -> Any:
    centred = values - values.mean(-1, keepdims=True)
    return centred / xp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def _ranks(plane: Any) -> Any:
    """The places of the keys, row by row from the left."""
    rows, columns = (np.round(np.asarray(plane[:, k] - plane[:, k].min()), 3) for k in (1, 0))
    ranks = np.empty(len(plane))
    ranks[np.lexsort((columns, rows))] = np.arange(len(plane))
    return ranks


def _length(values: Any, xp: Any) -> Any:
    # A little more than it is, since the root has no slope at nought.
    return xp.sqrt((values**2).sum(-1, keepdims=True) + 1e-12)
