"""An instance of the paper's model that is small enough to enumerate."""

from functools import cache
from itertools import product

import numpy as np

from doeblin.gestures.data import Layout, Lexicon
from doeblin.gestures.paper import _features as features
from doeblin.gestures.paper import _kernels as kernels
from doeblin.gestures.paper._features import Dictionary

KEYS, LENGTH = 2, 4
LABELS = 2 * KEYS + 1
X = np.array([0, 1, 1, 0])
Y = np.array([0, 1, 0, 0])
SIZE = 2
LAYOUT = Layout.from_rows(["ab"], [0], name="two")
WORDS = Dictionary.build(
    Lexicon.from_pairs([("ab", 4.0), ("ba", 2.0), ("aab", 1.0), ("b", 3.0)]), LAYOUT
)
MODEL = WORDS.model(hard=True)
NUM = features.num_features(KEYS)
RNG = np.random.default_rng(0)
BASE = 0.5 * RNG.standard_normal(NUM)
FULL = BASE + 0.4 * RNG.standard_normal(NUM)
STATES = [
    z
    for z in product(range(LABELS), repeat=LENGTH)
    if all(features.allowed(KEYS, z[i - 1] if i else LABELS, z[i]) for i in range(LENGTH))
]
NUMBER = {z: k for k, z in enumerate(STATES)}


def spelled(z):
    return tuple(label - 1 for label in z if 1 <= label <= KEYS)


def scores(weights, full):
    return phis(full) @ weights


def law(weights, full):
    values = np.exp(scores(weights, full))
    return values / values.sum()


def phi(z, full):
    slopes = features.make_slopes(NUM)
    features.add_features(MODEL, X, np.array(z), full, 1.0, slopes)
    return slopes.values


@cache
def phis(full):
    return np.array([phi(z, full) for z in STATES])


def conditional_of(z, site, hard=True):
    sums = np.zeros(LENGTH + 1)
    kernels.prefix_sums(KEYS, FULL, sums)
    chances, around = np.zeros(LABELS), np.zeros(3, np.int64)
    depth, ends = np.zeros(KEYS + 1, np.int64), np.zeros(KEYS + 1, np.int64)
    found = kernels.Conditional(chances, depth, ends, around)
    kernels.conditional(WORDS.model(hard=hard), X, np.array(z), site, FULL, sums, found)
    return found


# reach[k, site, v]: the state that label v at a site leads to from state k, or -1.
REACH = np.array(
    [
        [
            [NUMBER.get((*z[:site], v, *z[site + 1 :]), -1) for v in range(LABELS)]
            for site in range(LENGTH)
        ]
        for z in STATES
    ]
)


@cache
def values_of(name):
    """What each state earns: by the edit distance of its word, or by its being right."""
    if name == "word":
        return np.array([spelled(z) == (0, 1) for z in STATES], float)
    found = [np.array([*spelled(z), 0])[: len(spelled(z))] for z in STATES]
    return np.array([features.reward(features.edit_distance(Y[:SIZE], word)) for word in found])


def gibbs_matrix(full):
    count = len(STATES)
    weights = np.where(REACH >= 0, np.exp(phis(True) @ full)[REACH], 0.0)
    weights /= weights.sum(axis=2, keepdims=True) * LENGTH
    move = np.zeros((count, count))
    rows = np.broadcast_to(np.arange(count)[:, None, None], REACH.shape)
    np.add.at(move, (rows, REACH), weights)
    return move


ARRAY = np.array(STATES)
# SAME[k]: which states share the part that a block keeps, for each prefix or suffix redrawn.
SAME = [
    (ARRAY[:, None, cut:] == ARRAY[None, :, cut:]).all(axis=2) for cut in range(1, LENGTH + 1)
] + [(ARRAY[:, None, :cut] == ARRAY[None, :, :cut]).all(axis=2) for cut in range(LENGTH)]


def block_matrix(full):
    """The block kernel with one proposal: redraw from u, accept by the ratio of full/u."""
    lifts = np.exp(phis(True) @ full - phis(False) @ BASE)
    accept = lifts / (lifts + lifts[:, None])
    move = np.zeros((len(STATES), len(STATES)))
    for same in SAME:
        proposed = same * np.exp(phis(False) @ BASE)
        proposed /= proposed.sum(axis=1, keepdims=True)
        moved = proposed * accept
        move += (moved + np.diag(1 - moved.sum(axis=1))) / len(SAME)
    return move


def objective(base, full, mean_length, matrix, values):
    """log E_π̃[values] of the Doeblin chain, by linear algebra."""
    epsilon, count = 1 / (mean_length + 1), len(STATES)
    u = np.exp(phis(False) @ base)
    system = np.eye(count) - (1 - epsilon) * matrix(full)
    pi = np.linalg.solve(system.T, epsilon * u / u.sum())
    return np.log(pi @ values)


@cache
def exact_gradient(mean_length, matrix, name, step=1e-4):
    """∇ of the objective with the values of that name, at (BASE, FULL)."""
    values = values_of(name)
    used = np.flatnonzero(np.concatenate([phis(False).any(axis=0), phis(True).any(axis=0)]))
    gradient = np.zeros(2 * NUM)
    for k in used:
        shift = np.zeros(2 * NUM)
        shift[k] = step
        up = objective(BASE + shift[:NUM], FULL + shift[NUM:], mean_length, matrix, values)
        down = objective(BASE - shift[:NUM], FULL - shift[NUM:], mean_length, matrix, values)
        gradient[k] = (up - down) / (2 * step)
    return gradient
