import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from doeblin import InputError
from doeblin.gestures.data import (
    Generator,
    Layout,
    Lexicon,
    key_string,
    least_jerk,
    merged,
    statistics,
)

LAYOUT = Layout.qwerty()


def test_realistic_gestures_look_like_peoples():
    # People, at 9 Hz: 2.78 keys a letter, 1.73 after merging runs, the word a subsequence of the
    # keys in 60 %, first and last key right in 94 and 75 %.
    words = [word for word in Lexicon.embedded(10_000).words if len(word) > 1]
    rng = np.random.default_rng(0)
    # The study's words are longer than those of running text: drawn flatter than by frequency.
    chances = Lexicon.embedded(10_000).frequencies[
        [len(w) > 1 for w in Lexicon.embedded(10_000).words]
    ]
    chances = chances**0.5 / (chances**0.5).sum()
    made = [
        Generator(LAYOUT).gesture(word, rng, pace=0.42 * rng.standard_normal())
        for word in rng.choice(words, 2000, p=chances)
    ]
    found = statistics(made, LAYOUT, rate=9.0)
    assert found.keys_per_letter == pytest.approx(2.78, abs=0.3)
    assert found.runs_per_letter == pytest.approx(1.83, abs=0.25)
    assert found.subsequence == pytest.approx(0.60, abs=0.07)
    assert found.first_key == pytest.approx(0.94, abs=0.03)
    assert found.last_key == pytest.approx(0.77, abs=0.05)


def test_the_papers_preset_is_rougher():
    rng = np.random.default_rng(0)
    keys = key_string(Generator(LAYOUT, "paper").gesture("banana", rng), LAYOUT)
    # The paper's example has 17 keys for banana.
    lengths = [
        len(key_string(Generator(LAYOUT, "paper").gesture("banana", rng), LAYOUT))
        for _ in range(300)
    ]
    assert len(keys) >= 6 and 12 < np.mean(lengths) < 22


def test_without_noise_the_path_passes_the_keys_in_order():
    gesture = Generator(LAYOUT, noise=0.0).gesture("hello", np.random.default_rng(0))
    keys = iter(merged(key_string(gesture, LAYOUT, rate=200)))
    assert all(letter in keys for letter in "helo")


def test_noise_spreads_the_points():
    rng = np.random.default_rng(0)
    near, far = (
        np.mean(
            [
                np.hypot(*(np.array([g.x[0], g.y[0]]) - LAYOUT.centre("h")))
                for g in (Generator(LAYOUT, noise=noise).gesture("he", rng) for _ in range(200))
            ]
        )
        for noise in (0.5, 2.0)
    )
    assert far / near == pytest.approx(4.0, rel=0.25)


def test_one_letter_words_are_taps_and_seeds_repeat():
    tap = Generator(LAYOUT).gesture("aa", np.random.default_rng(0))
    assert np.ptp(tap.x) == 0 and tap.t[-1] > 0
    lexicon = Lexicon.embedded(300)
    one, two = (list(Generator(LAYOUT).sample(lexicon, 60, seed=5)) for _ in range(2))
    assert [g.word for g in one] == [g.word for g in two]
    assert all((a.x == b.x).all() for a, b in zip(one, two, strict=True))
    assert {g.user for g in one} == {"0", "1"}


def test_the_path_of_least_jerk_is_the_quintic_spline():
    rng = np.random.default_rng(3)
    times = np.cumsum(rng.uniform(0.1, 0.5, 7))
    points = rng.normal(size=(7, 2))
    still = [(1, [0.0, 0.0]), (2, [0.0, 0.0])]
    reference = make_interp_spline(times, points, k=5, bc_type=(still, still))
    at = np.linspace(times[0], times[-1], 200)
    np.testing.assert_allclose(least_jerk(times, points, at), reference(at), atol=1e-10)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"preset": "wild"}, "preset"),
        ({"noise": -1}, "noise"),
        ({"noise": float("nan")}, "noise"),
        ({"noise": float("inf")}, "noise = inf must be between 0 and 10"),
        ({"noise": 10.1}, "noise = 10.1 must be between 0 and 10"),
        ({"rate": 0.1}, "rate"),
        ({"words_per_user": 0}, "words_per_user"),
    ],
)
def test_options_out_of_range_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        Generator(LAYOUT, **options)


def test_words_that_cannot_be_swiped_are_refused():
    with pytest.raises(InputError, match="empty"):
        Generator(LAYOUT).gesture("", np.random.default_rng(0))
    with pytest.raises(InputError, match="no key for"):
        Generator(LAYOUT).gesture("don't", np.random.default_rng(0))
    russian = Layout.from_rows(["йцу"], [0])
    with pytest.raises(InputError, match="can spell no word"):
        next(Generator(russian).sample(Lexicon.embedded(10), 1))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("first", "second", "power"), [(1e308, 1e308, 1.0), (1e200, 1e200, 10.0), (1e-60, 1e-60, 10.0)]
)
def test_words_are_drawn_by_any_frequencies(first, second, power):
    lexicon = Lexicon.from_pairs([("to", first), ("it", second), ("rare", first * 1e-250)])
    drawn = [g.word for g in Generator(Layout.qwerty()).sample(lexicon, 60, power=power)]
    assert 10 < drawn.count("to") < 50 and drawn.count("to") + drawn.count("it") == 60
