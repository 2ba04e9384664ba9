"""The restart u: a conditional random field over a trace, summed over a lexicon's trie.

A trace becomes frames, frames become potentials (`prepare`), and these are summed over all
alignments with one word (`follow`), with any spelling (`look_ahead`) or with all words of a trie
(`walk`). What compiled code takes is arrays in tuples with names.
"""

from ._arrays import (
    Extra,
    Floats,
    Frames,
    Ints,
    Packed,
    Potentials,
    Restart,
    Trace,
    Tree,
    Walk,
    no_extra,
    pack,
)
from ._frames import FINE, column_mean, num_frames, sample_trace, trace_of
from ._gradients import Slopes, Targets, gradients
from ._lattice import advance, align, follow, look_ahead, walk, walk_arrays, word_score
from ._letters import Letters, Spelling
from ._network import Network
from ._prepare import TINY, extra_of, prepare
from ._rows import NUM_INPUTS, Rows, network_rows
from ._trie import Trie, merged_keys
from ._weights import DOUBLE, NUM_WEIGHTS, PRIOR, initial_weights

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
    "advance",
    "align",
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
    "prepare",
    "sample_trace",
    "trace_of",
    "walk",
    "walk_arrays",
    "word_score",
]
