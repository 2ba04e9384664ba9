"""The sums over alignments, against enumeration."""

from itertools import pairwise

import numpy as np
import pytest

from doeblin.gestures.decoder import Settings
from doeblin.gestures.decoder.restart import (
    Letters,
    Potentials,
    Trie,
    Walk,
    align,
    follow,
    look_ahead,
    merged_keys,
    walk,
)
from doeblin.gestures.decoder.restart._lattice import walk_back

from .. import brute

COUNT = 5
NUM_KEYS = len(brute.LAYOUT.letters)


@pytest.fixture(scope="module")
def potentials():
    rng = np.random.default_rng(1)
    return {
        "hit": rng.uniform(0.1, 1, (NUM_KEYS, COUNT)),
        "dwell": rng.uniform(0.1, 1, (NUM_KEYS, COUNT)),
        "transit": rng.uniform(0.1, 1, (NUM_KEYS + 1, NUM_KEYS, COUNT)),
    }


@pytest.fixture(scope="module")
def trie():
    return Trie.build(brute.LEXICON, brute.LAYOUT)


def walked(trie, potentials, prune):
    nodes, ahead = trie.num_nodes, np.empty((NUM_KEYS + 1, COUNT + 1))
    bigrams = Letters.count(trie).bigrams
    look_ahead(bigrams, Potentials(**potentials), COUNT, ahead)
    found = Walk(
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(len(trie.levels) + 1, np.int64),
        np.empty((nodes, COUNT)),
        np.empty((nodes, COUNT + 1)),
    )
    tree = Settings(prune=prune, prune_deep=prune).tree(trie)
    return walk(tree, 0.7, 1.0, Potentials(**potentials), ahead, COUNT, found), found


def test_the_trie_holds_every_word_once(trie):
    found = {}
    for node in range(trie.num_nodes):
        keys, at = [], node
        while at > 0:
            keys.append(trie.letter[at])
            at = trie.parent[at]
        for word in trie.words[trie.first_word[node] : trie.first_word[node + 1]]:
            found[brute.LEXICON.words[word]] = keys[::-1]
    assert found == {word: merged_keys(brute.LAYOUT, word).tolist() for word in brute.LEXICON.words}
    # ad and add, which differ in a doubled letter only, share a node.
    assert trie.doubles[brute.LEXICON.index["add"]] == 1
    assert trie.doubles[brute.LEXICON.index["ad"]] == 0
    for node in range(trie.num_nodes):
        for child in range(trie.first_child[node], trie.first_child[node + 1]):
            assert trie.parent[child] == node
    assert trie.best[0] == brute.LEXICON.log_frequencies[0]


def test_masses_are_sums_over_alignments(trie, potentials):
    kept, found = walked(trie, potentials, 0.0)
    node_of, mass = found.node_of, found.mass
    assert kept == trie.num_nodes
    for k in range(kept):
        for word in trie.words[trie.first_word[node_of[k]] : trie.first_word[node_of[k] + 1]]:
            keys = merged_keys(brute.LAYOUT, brute.LEXICON.words[word])
            expected = brute.mass(keys, potentials, COUNT)
            assert mass[k, COUNT] == pytest.approx(expected, rel=1e-12)
            alone = follow(
                keys, Potentials(**potentials), COUNT,
                np.empty((len(keys) + 1, COUNT)), np.empty((len(keys) + 1, COUNT + 1)),
            )  # fmt: skip
            assert alone == pytest.approx(expected, rel=1e-12)


def test_the_best_alignment_is_that_of_enumeration(potentials):
    for word in brute.LEXICON.words:
        keys = merged_keys(brute.LAYOUT, word)
        every = list(brute.alignments(len(keys), COUNT))
        masses = [brute.alignment_mass(keys, alignment, potentials) for alignment in every]
        best = every[int(np.argmax(masses))]
        hits = np.full(len(keys) + 1, -1)
        found = align(keys, Potentials(**potentials), COUNT, hits)
        assert found == pytest.approx(max(masses), rel=1e-12)
        # What is beyond the word's letters is left alone.
        assert hits.tolist() == [i for i, (kind, _) in enumerate(best) if kind == "hit"] + [-1]


def test_marginals_over_the_lexicon_are_those_of_enumeration(trie, potentials):
    kept, walk_ = walked(trie, potentials, 0.0)
    node_of = walk_.node_of
    weights = brute.LEXICON.frequencies
    slope = np.zeros((kept, COUNT + 1))
    for k in range(kept):
        words = trie.words[trie.first_word[node_of[k]] : trie.first_word[node_of[k] + 1]]
        slope[k, COUNT] = weights[words].sum()
    found = {kind: np.zeros_like(values) for kind, values in potentials.items()}
    counts = Potentials(**found)
    walk_back(trie.letter, Potentials(**potentials), COUNT, kept, walk_, slope, counts)
    expected = {kind: np.zeros_like(values) for kind, values in potentials.items()}
    for word, weight in zip(brute.LEXICON.words, weights, strict=True):
        one = brute.counts(merged_keys(brute.LAYOUT, word), potentials, COUNT)
        for kind in expected:
            expected[kind] += weight * one[kind]
    for kind in expected:
        np.testing.assert_allclose(found[kind], expected[kind], rtol=1e-10, atol=1e-14)
    # Every frame is exactly one thing: the marginals of a frame add up to one.
    frames = sum(found[kind].reshape(-1, COUNT).sum(axis=0) for kind in found)
    np.testing.assert_allclose(frames, frames[0])


def test_the_look_ahead_sums_over_all_spellings(trie, potentials):
    bigrams = Letters.count(trie).bigrams
    ahead = np.empty((NUM_KEYS + 1, COUNT + 1))
    total = look_ahead(bigrams, Potentials(**potentials), COUNT, ahead)
    expected = 0.0
    # Contiguous, as the others: so nothing is compiled anew.
    short = {kind: values[..., :4].copy() for kind, values in potentials.items()}
    total_short = look_ahead(bigrams, Potentials(**short), 4, np.empty((NUM_KEYS + 1, 5)))
    for keys in brute.strings(NUM_KEYS, 4):
        weight = bigrams[-1, keys[0]] * bigrams[keys[-1], -1]
        weight *= np.prod([bigrams[a, b] for a, b in pairwise(keys)])
        expected += weight * brute.mass(keys, short, 4)
    assert total_short == pytest.approx(expected, rel=1e-10)
    assert total > 0


def test_pruning_keeps_the_best_words(trie, potentials):
    full, loose = walked(trie, potentials, 0.0), walked(trie, potentials, 1e-3)
    assert 1 < loose[0] <= full[0]
    tight = walked(trie, potentials, 0.9)
    assert tight[0] < loose[0]
    whole = dict(zip(full[1].node_of[: full[0]], full[1].mass[: full[0], COUNT], strict=True))
    for kept, (node_of, source_of, _, _, mass) in (loose, tight):
        for k in range(1, kept):
            # What is kept is exact, and so is its way up.
            assert mass[k, COUNT] == pytest.approx(whole[node_of[k]], rel=1e-12)
            assert node_of[source_of[k]] == trie.parent[node_of[k]]


def test_letter_probabilities_add_up(trie):
    letters = Letters.count(trie)
    np.testing.assert_allclose(letters.bigrams.sum(axis=1), 1.0)
    assert (np.diag(letters.bigrams[:NUM_KEYS, :NUM_KEYS]) == 0).all()
    assert ((letters.doubled > 0) & (letters.doubled < 1)).all()
    keys = brute.LAYOUT.encode("ad")
    # Of the words that go on from a to d, add has two.
    assert letters.doubled[keys[0], keys[1]] > letters.doubled[keys[1], keys[0]]
