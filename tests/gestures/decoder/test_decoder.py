import dataclasses
import functools
import time

import numpy as np
import pytest

from doeblin import InputError
from doeblin.gestures.data import Generator, Gesture, Layout, Lexicon
from doeblin.gestures.decoder import (
    Decoder,
    Model,
    Settings,
    evaluate,
    evaluate_adaptation,
    fit_hands,
    fit_sharpness,
    train,
)
from tests.statistics import assert_follows

from .masses import own_mass


def test_a_little_training_decodes_most_words(decoder, gestures):
    held_out = [gesture for gesture in gestures[500:] if gesture.word in decoder.lexicon]
    answers = decoder.decode(held_out, top=4)
    first = np.mean([row[0].word == g.word for row, g in zip(answers, held_out, strict=True)])
    assert first > 0.85
    for row in answers:
        chances = [guess.probability for guess in row]
        assert chances == sorted(chances, reverse=True) and 0 < sum(chances) <= 1 + 1e-9


def test_candidates_are_scored_by_u(decoder, gestures):
    """What the walk over the trie finds is what each word has on its own."""
    found = decoder.candidates(gestures[:5])
    prior, double = decoder.model.weights[-2:]
    for row, gesture in enumerate(gestures[:5]):
        ids = found.ids[row][found.ids[row] >= 0]
        masses = np.array([own_mass(decoder, gesture, decoder.lexicon.words[k]) for k in ids])
        scores = masses + prior * decoder.lexicon.log_frequencies[ids]
        scores += double * decoder.trie.doubles[ids]
        log_u = found.log_u[row, : len(ids)]
        np.testing.assert_allclose(log_u, scores - np.logaddexp.reduce(scores), atol=1e-9)
        assert (np.diff(log_u) <= 0).all()
        assert np.logaddexp.reduce(scores) <= found.log_lexicon[row] + 1e-9


def test_pruning_changes_next_to_nothing(model, lexicon, gestures):
    exact = dataclasses.replace(model.settings, prune=0.0, prune_deep=0.0)
    whole = Decoder(dataclasses.replace(model, settings=exact), lexicon)
    pruned = Decoder(model, lexicon)
    few = [gesture for gesture in gestures[500:600] if gesture.word in lexicon]
    a, b = whole.candidates(few), pruned.candidates(few)
    assert (a.nodes == whole.trie.num_nodes).all() and b.nodes.mean() < 0.5 * a.nodes.mean()
    assert (b.log_lexicon <= a.log_lexicon + 1e-9).all()
    assert np.mean(a.log_lexicon - b.log_lexicon) < 0.01
    pairs = list(zip(whole.decode(few, top=1), pruned.decode(few, top=1), strict=True))
    assert np.mean([one[0].word == other[0].word for one, other in pairs]) > 0.97
    # Words that were dropped leave their share to the others.
    shifts = [abs(one[0].probability - other[0].probability) for one, other in pairs]
    assert np.mean(shifts) < 0.01


def test_draws_follow_the_posterior(decoder, gestures):
    every = gestures[500:700]
    sure = decoder.posterior(decoder.candidates(every)).max(axis=1)
    # The least certain gestures: a law with one likely word tests nothing.
    few = [every[k] for k in np.argsort(sure)[:3]]
    found = decoder.candidates(few)
    law = decoder.posterior(found)
    np.testing.assert_allclose(law.sum(axis=1), 1.0)
    draws = 20_000
    rows = decoder.decode(few, top=found.ids.shape[1], draws=draws, seed=3)
    drawn = [{guess.word: guess.probability for guess in row} for row in rows]
    counts = np.zeros(law.shape, int)
    for row, k in np.argwhere(found.ids >= 0):
        word = decoder.lexicon.words[found.ids[row, k]]
        counts[row, k] = round(draws * drawn[row].get(word, 0.0))
    assert (counts.sum(axis=1) == draws).all()
    for row in range(len(few)):
        likely = law[row] * draws >= 5
        rest = np.append(law[row, likely], law[row, ~likely].sum())
        seen = np.append(counts[row, likely], counts[row, ~likely].sum())
        assert likely.sum() > 2
        assert_follows(np.repeat(np.arange(len(seen)), seen), rest / rest.sum())


def test_the_chain_is_one_of_the_library(decoder):
    from doeblin.gestures.decoder._chain import word_chain

    chain = word_chain(0.1, 5)
    assert chain.certificate().doeblin_parameter == pytest.approx(0.1)


def test_users_factors_join_the_full_model(model, lexicon, gestures):
    gesture = next(g for g in gestures if g.word in lexicon)

    def never_the_truth(trace: Gesture, words):
        return [-50.0 if word == trace.word else 0.0 for word in words]

    plain = Decoder(model, lexicon).decode([gesture], top=20)[0]
    own = Decoder(model, lexicon, factors={"never": never_the_truth}).decode([gesture], top=20)[0]
    before = {guess.word: guess.probability for guess in plain}
    after = {guess.word: guess.probability for guess in own}
    # What is left of it is the restart's share.
    assert before[gesture.word] > after.get(gesture.word, 0.0) <= model.epsilon
    with pytest.raises(InputError, match="must return a finite number for each"):
        Decoder(model, lexicon, factors={"bad": lambda g, words: [0.0]}).decode([gesture])
    with pytest.raises(InputError, match=r"'text' must return a finite number for each.*\['a'"):
        Decoder(model, lexicon, factors={"text": lambda g, words: ["a"] * len(words)}).decode(
            [gesture]
        )
    with pytest.raises(InputError, match="built-in"):
        Decoder(model, lexicon, factors={"letters": never_the_truth})


@pytest.mark.parametrize(
    "gesture",
    [
        Gesture.checked([4.5], [0.5], [0.0]),
        Gesture.checked([4.5, 4.5, 4.5], [0.5, 0.5, 0.5], [0, 0, 0]),
        Gesture.checked([-500, 900], [1e4, -1e4], [0, 1]),
        Gesture.checked(np.full(3000, 3.0), np.full(3000, 1.0), np.arange(3000) * 20.0),
        Gesture.checked([0.5, 9.5] * 300, [0.5, 2.5] * 300, np.arange(600) * 1.0),
    ],
    ids=["one point", "no time", "far away", "a minute", "scribble"],
)
def test_odd_traces_have_answers(decoder, gesture):
    for options in ({}, {"open_vocabulary": True}):
        guesses = decoder.decode([gesture], **options)[0]
        assert all(0 <= guess.probability <= 1 for guess in guesses)
    assert decoder.decode([]) == []


def test_a_tap_is_a_short_word(decoder):
    tap = Gesture.checked([1.0], [1.5], [0.0])
    assert decoder.decode([tap], top=1)[0][0].word == "a"


def test_other_layouts_and_alphabets_work(model):
    layout = Layout.from_rows(["йцукенгшщзх", "фывапролджэ", "ячсмитьбю"], [0, 0, 1], name="ru")
    lexicon = Lexicon.from_pairs([("привет", 3.0), ("мир", 2.0), ("ветер", 1.0), ("hello", 1.0)])
    decoder = Decoder(model, lexicon, layout=layout)
    gesture = Generator(layout, noise=0.5).gesture("ветер", np.random.default_rng(0))
    assert decoder.decode([gesture], top=1)[0][0].word == "ветер"
    with pytest.raises(InputError, match="can spell no word"):
        Decoder(model, Lexicon.from_pairs([("hello", 1.0)]), layout=layout)


def test_options_are_checked(decoder, gestures):
    with pytest.raises(InputError, match="top = 0"):
        decoder.decode(gestures[:1], top=0)
    with pytest.raises(InputError, match="draws = 0"):
        decoder.decode(gestures[:1], draws=0)
    for options in (
        {"rate": 0},
        {"least_frames": 50},
        {"prune": 1.0},
        {"keep": 0},
        {"keep": 10**9},
    ):
        with pytest.raises(InputError):
            Settings(**options)
    for name, value, said in (
        ("prune", "0.1", "a number"), ("rate", None, "a number"), ("prune_deep", True, "a number"),
        ("keep", 2.5, "a whole number"), ("least_frames", "16", "a whole number"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=f"{name} = {value!r} must be {said}"):
            Settings(**{name: value})
    assert Settings(prune=np.float32(0.25), keep=np.int64(3)).keep == 3


def test_an_untrained_model_still_decodes(lexicon, gestures):
    decoder = Decoder(Model.untrained(Layout.qwerty()), lexicon)
    known = [gesture for gesture in gestures if gesture.word in lexicon][:100]
    answers = decoder.decode(known, top=1)
    hits = np.mean([row[0].word == g.word for row, g in zip(answers, known, strict=True)])
    assert hits > 0.6


@pytest.mark.parametrize("name", ["shipped", "generated"])
def test_the_packaged_models_decode_what_they_have_not_seen(name):
    from importlib import resources

    file = resources.files("doeblin.gestures.decoder").joinpath(f"{name}.safetensors")
    assert len(file.read_bytes()) < 600_000
    lexicon = Lexicon.embedded(10_000)
    fresh = list(Generator(Layout.qwerty()).sample(lexicon, 200, seed=987))
    answers = Decoder(Model.named(name), lexicon).decode(fresh)
    first = np.mean([row[0].word == g.word for row, g in zip(answers, fresh, strict=True)])
    assert first > 0.88
    assert (
        np.mean([g.word in [w for w, *_ in row] for row, g in zip(answers, fresh, strict=True)])
        > 0.95
    )


def test_a_run_of_the_chain_shows_its_tours(decoder, gestures):
    unsure = (row[0].probability < 0.7 for row in decoder.decode(gestures, top=1))
    gesture = gestures[list(unsure).index(True)]
    run = decoder.run(gesture, steps=4000, seed=3)
    guesses = decoder.decode([gesture], top=len(run.words))[0]
    assert list(run.words[: len(guesses)]) == [guess.word for guess in guesses]
    np.testing.assert_allclose(
        run.posterior, run.epsilon * run.restart + (1 - run.epsilon) * run.full
    )
    assert len(run.visits) == 4000 and run.visits[0].restarted
    tours = run.tours()
    assert sum(map(len, tours)) == 4000
    assert all([visit.age for visit in tour] == list(range(len(tour))) for tour in tours)
    # Restarts are independent with probability ε, and words of each kind follow their law.
    spread = np.sqrt(run.epsilon * (1 - run.epsilon) / 4000)
    assert abs(len(tours) / 4000 - run.epsilon) < 4 * spread
    for restarted, law in ((True, run.restart), (False, run.full)):
        words = [v.word for v in run.visits if v.restarted == restarted]
        assert_follows(np.array([run.words.index(word) for word in words]), law / law.sum())
    assert decoder.run(gesture, steps=1, seed=3).visits == run.visits[:1]
    with pytest.raises(InputError, match="steps = 0"):
        decoder.run(gesture, steps=0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("compiled", [False, True])
def test_frequencies_may_be_as_far_apart_as_numbers_are(model, compiled):
    lexicon = Lexicon.from_pairs([("hello", 1e308), ("world", 1e308), ("people", 1e-320)])
    decoder = Decoder(model, lexicon, compiled=compiled)
    rng, maker = np.random.default_rng(0), Generator(decoder.layout, noise=0.3)
    traces = [maker.gesture(word, rng) for word in lexicon.words]
    for open_vocabulary in (False, True):
        answers = decoder.decode(traces, top=99, open_vocabulary=open_vocabulary)
        assert [row[0].word for row in answers[:2]] == ["hello", "world"]
        np.testing.assert_allclose([sum(guess.probability for guess in row) for row in answers], 1)
    adapted = decoder.adapt([traces[2]])
    assert adapted.hand.gains(lexicon) == {2: 3.0} and adapted.decode(traces, top=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"top": 1.5}, "top = 1.5 must be a whole number"),
        ({"top": 0}, "top = 0 must be at least 1"),
        ({"top": "4"}, "top = '4' must be a whole number"),
        ({"draws": 1.5}, "draws = 1.5 must be a whole number"),
        ({"draws": 0}, "draws = 0 must be at least 1"),
        ({"draws": 10**9}, "draws = 1000000000 must be at most 10,000,000: give fewer"),
        ({"draws": 10**12}, "draws = 1000000000000 must be at most 10,000,000: give fewer"),
        ({"draws": 5, "seed": "a"}, "seed = 'a' must be a whole number"),
        ({"draws": 5, "seed": 2**63}, "seed = 9223372036854775808 must be a number of 64 bits"),
    ],
)
def test_options_of_decoding_that_are_no_whole_numbers_are_refused(
    decoder, gestures, options, words
):
    with pytest.raises(InputError, match=words):
        decoder.decode(gestures[:1], **options)
    if "top" in options:
        with pytest.raises(InputError, match=words):
            decoder.spell(gestures[0], **options)


def test_runs_of_no_whole_number_of_steps_are_refused(decoder, gestures):
    with pytest.raises(InputError, match=r"steps = 1\.5 must be a whole number"):
        decoder.run(gestures[0], steps=1.5)
    with pytest.raises(InputError, match=r"steps = 1000000000 must be at most 10,000,000"):
        decoder.run(gestures[0], steps=10**9)


def test_ten_million_draws_cost_as_little_as_ten(decoder, gestures):
    """So a signal need not wait for them."""
    few = gestures[:3]
    laws = [{guess.word: guess.probability for guess in row} for row in decoder.decode(few, top=20)]
    start = time.process_time()
    rows = [decoder.decode(few, top=20, draws=10_000_000, seed=seed) for seed in (3, 3, -4)]
    assert time.process_time() - start < 2.0
    assert rows[0] == rows[1] != rows[2]
    for law, row in zip(laws, rows[0], strict=True):
        assert sum(guess.probability for guess in row) == pytest.approx(1.0)
        for guess in row:
            assert guess.probability == pytest.approx(law[guess.word], abs=1e-3)


def test_few_draws_come_from_u_as_often_as_the_chain_restarts():
    """Where the full model has one word and u another, the words say where a draw came from."""
    from doeblin.gestures.decoder._draws import draw_words

    with np.errstate(divide="ignore"):
        log_u, log_full = np.log([[0.0, 1.0, 0.0]]), np.log([[1.0, 0.0, 0.0]])
    seeds = range(400)
    counts = 50 * np.array([draw_words(log_u, log_full, 0.1, 50, seed)[0] for seed in seeds])
    np.testing.assert_allclose(counts[:, :2].sum(axis=1), 50)
    spread = np.sqrt(50 * 0.1 * 0.9)
    assert abs(counts[:, 1].mean() - 50 * 0.1) < 4 * spread / 20
    assert 0.8 < counts[:, 1].std() / spread < 1.2


BROKEN = Gesture(np.array([1.0, 2.0]), np.array([1.0]), np.array([0.0, 1.0]), word="the")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["hello"], "gesture 0 is 'hello', and no Gesture: Gesture.checked"),
        ("hello", "a list of gestures is needed, got 'hello'"),
        (None, "a list of gestures is needed, got None"),
        (Gesture.checked([1.0], [1.5], [0.0]), r"not one gesture: give \[gesture\]"),
        ([Gesture.checked([1.0], [1.5], [0.0], word="a"), 7], "gesture 1 is 7, and no Gesture"),
        ([BROKEN], r"gesture 0 \('the'\) is .* not equally long"),
        ([dataclasses.replace(BROKEN, y=np.array([0, np.inf]))], "gesture 0.*not finite"),
        ([dataclasses.replace(BROKEN, x=BROKEN.x[:0], t=BROKEN.x[:0])], "gesture 0.*empty"),
    ],
)
def test_what_is_no_list_of_gestures_is_refused_by_name(decoder, given, words):
    whole = evaluate, evaluate_adaptation, fit_hands, fit_sharpness
    takers = [decoder.decode, decoder.candidates, decoder.adapt]
    takers += [functools.partial(taker, decoder) for taker in whole]
    takers.append(functools.partial(train, lexicon=decoder.lexicon))
    for take in takers:
        with pytest.raises(InputError, match=words):
            take(given)
    with pytest.raises(InputError, match="gesture 0 is "):
        decoder.spell([given])
    with pytest.raises(InputError, match="gesture 0 is "):
        decoder.run([given], steps=1)


def test_gestures_may_come_one_by_one(decoder, gestures):
    assert decoder.decode(iter(gestures[:2])) == decoder.decode(gestures[:2])
    assert decoder.decode(iter(())) == []
