"""The restart u: a conditional random field over a trace, summed over a lexicon's trie.

A trace becomes frames, frames become potentials (`prepare`), and these are summed over all
alignments with one word (`follow`), with any spelling (`look_ahead`) or with all words of a trie
(`walk`). What compiled code takes is arrays in tuples with names. What is called `plain` does the
same in numpy, for those who cannot wait for a compiler.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._arrays import (
    FINE,
    NUM_INPUTS,
    TINY,
    Extra,
    Floats,
    Frames,
    Ints,
    Packed,
    Potentials,
    Restart,
    Rows,
    Slopes,
    Targets,
    Trace,
    Tree,
    Walk,
    no_extra,
    pack,
)
from ._letters import Letters, Spelling
from ._network import Network
from ._plain_frames import (
    Plain,
    along,
    path_length,
    plain_extra,
    plain_network_rows,
    plain_num_frames,
    plain_places,
    plain_samples,
    plain_trace,
)
from ._plain_lattice import (
    plain_align,
    plain_arrivals,
    plain_follow,
    plain_look_ahead,
    plain_masses,
    plain_walk,
)
from ._trie import Trie, WordKeys, merged_keys
from ._weights import DOUBLE, NUM_WEIGHTS, PRIOR, initial_weights

if TYPE_CHECKING:
    from ._frames import column_mean, num_frames, sample_trace, trace_of
    from ._gradients import gradients
    from ._lattice import advance, align, follow, look_ahead, walk, walk_arrays, word_score
    from ._prepare import extra_of, prepare
    from ._rows import network_rows

# What is compiled loads on first use.
_COMPILED = {
    "advance": "_lattice",
    "align": "_lattice",
    "column_mean": "_frames",
    "extra_of": "_prepare",
    "follow": "_lattice",
    "gradients": "_gradients",
    "look_ahead": "_lattice",
    "network_rows": "_rows",
    "num_frames": "_frames",
    "prepare": "_prepare",
    "sample_trace": "_frames",
    "trace_of": "_frames",
    "walk": "_lattice",
    "walk_arrays": "_lattice",
    "word_score": "_lattice",
}

__all__ = [
    "DOUBLE",
    "FINE",
    "NUM_INPUTS",
    "NUM_WEIGHTS",
    "PRIOR",
    "TINY",
    "Extra",
    "Floats",
    "Frames",
    "Ints",
    "Letters",
    "Network",
    "Packed",
    "Plain",
    "Potentials",
    "Restart",
    "Rows",
    "Slopes",
    "Spelling",
    "Targets",
    "Trace",
    "Tree",
    "Trie",
    "Walk",
    "WordKeys",
    "advance",
    "align",
    "along",
    "column_mean",
    "extra_of",
    "follow",
    "gradients",
    "initial_weights",
    "look_ahead",
    "merged_keys",
    "network_rows",
    "no_extra",
    "num_frames",
    "pack",
    "path_length",
    "plain_align",
    "plain_arrivals",
    "plain_extra",
    "plain_follow",
    "plain_look_ahead",
    "plain_masses",
    "plain_network_rows",
    "plain_num_frames",
    "plain_places",
    "plain_samples",
    "plain_trace",
    "plain_walk",
    "prepare",
    "sample_trace",
    "trace_of",
    "walk",
    "walk_arrays",
    "word_score",
]


def __getattr__(name: str) -> Any:
    if name in _COMPILED:
        return getattr(importlib.import_module(f"{__name__}.{_COMPILED[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
