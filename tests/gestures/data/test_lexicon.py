import gzip
import pickle

import numpy as np
import pytest

from doeblin import InputError
from doeblin.gestures.data import EMBEDDED_SIZE, Layout, Lexicon


def test_the_embedded_lexicon_is_whole():
    lexicon = Lexicon.embedded(EMBEDDED_SIZE)
    layout = Layout.qwerty()
    assert len(lexicon) == EMBEDDED_SIZE == len(set(lexicon.words))
    assert len(lexicon.frequencies) == EMBEDDED_SIZE and len(Lexicon.embedded()) == 50_000
    assert all(layout.spells(word) for word in lexicon.words)
    assert (lexicon.frequencies[:-1] >= lexicon.frequencies[1:]).all()
    assert lexicon.index["the"] == 0 and "people" in Lexicon.embedded(500)


def test_a_lexicon_remembers_what_it_was_cut_from(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("common\t0.9\nrare\t0.001\nrarer\t0.0001\n")
    own = Lexicon.read(path)
    assert own.whole is own
    assert own.top(2).top(1).whole.words == own.words
    again = pickle.loads(pickle.dumps(own.top(1)))
    assert again.words == ("common",) and again.whole.words == own.words
    few = Lexicon.embedded(5)
    assert len(few.whole) == len(few.top(3).whole) == EMBEDDED_SIZE
    assert few.whole.words[:5] == few.words and few.whole.whole is few.whole
    assert "brindle" in few.whole and "brindle" not in Lexicon.embedded()


def test_words_that_a_layout_cannot_spell_need_not_count():
    own = Lexicon.from_pairs([("été", 9), ("hello", 8), ("naïve", 7), ("world", 6), ("there", 5)])
    layout = Layout.qwerty()
    assert own.top(1).words == ("été",) and own.top(1, layout=layout).words == ("été", "hello")
    cut = own.top(2, layout=layout)
    assert cut.words == ("été", "hello", "naïve", "world") and cut.whole is own
    assert own.top(9, layout=layout).words == own.words
    plain = Lexicon.embedded(50)
    assert plain.top(20, layout=layout).words == plain.top(20).words


def test_the_notice_travels_with_the_words():
    from importlib import resources

    notice = resources.files("doeblin.gestures.data").joinpath("LEXICON-LICENSE.md").read_text()
    assert "CC BY-SA 4.0" in notice and "wordfreq" in notice


def test_any_other_lexicon_comes_from_a_file(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("rare\t0.001\ncommon\t0.9\n")
    lexicon = Lexicon.read(path)
    assert lexicon.words == ("common", "rare")
    packed = tmp_path / "words.tsv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert Lexicon.read(packed).words == lexicon.words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\t1\nb\n", r"words\.tsv:2: expected a word, a tab and a frequency"),
        ("a\t1\nb\tmany\n", r"words\.tsv:2: expected"),
        ("a\t1\nb\t-1\n", r"words\.tsv:2: the frequency of 'b' is -1"),
        ("a\tnan\n", r"words\.tsv:1: the frequency of 'a' is nan"),
        ("a\t1e400\n", r"words\.tsv:1: the frequency of 'a' is 1e400; it must be a finite"),
        ("a\t1e-400\n", r"words\.tsv:1: the frequency of 'a' is 1e-400; it must be positive"),
        ("a\t1\na\t2\n", r"words\.tsv:2: 'a' is there twice"),
        ("A\t1\n", r"words\.tsv:1: 'A' is not a word"),
        ("a b\t1\n", r"words\.tsv:1: 'a b' is not a word"),
        ("", "no words"),
    ],
)
def test_a_bad_lexicon_names_the_line(tmp_path, text, words):
    path = tmp_path / "words.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        Lexicon.read(path)


@pytest.mark.filterwarnings("error")
def test_any_positive_frequencies_have_finite_logs():
    """Also where their sum, or a share of it, is beyond floating point."""
    logs = Lexicon.from_pairs([("a", 1e308), ("b", 1e308), ("c", 1e-320)]).log_frequencies
    np.testing.assert_allclose(logs[:2], np.log(0.5))
    assert logs[2] == pytest.approx(np.log(1e-320) - np.log(1e308) - np.log(2))
    plain = Lexicon.embedded(100)
    shares = plain.frequencies / plain.frequencies.sum()
    assert plain.log_frequencies.tolist() == np.log(shares).tolist()
    for factor in (1e307, 1e-300):
        scaled = Lexicon(plain.words, plain.frequencies * factor)
        np.testing.assert_allclose(scaled.log_frequencies, plain.log_frequencies)


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (("a", "1"), "the frequency of 'a' is '1'; it must be a finite number"),
        (("a", True), "the frequency of 'a' is True"),
        (("a", None), "the frequency of 'a' is None"),
        (("a", 10**400), "the frequency of 'a' is 1000"),
        (("a", 0), "the frequency of 'a' is 0; it must be positive"),
        ((5, 1), "5 is not a word"),
        (("A" * 500, 1), r"\(502 characters\) is not a word"),
        (("a",), r"\('a',\) is not a word and its frequency"),
        (7, "7 is not a word and its frequency"),
    ],
)
def test_what_is_no_word_with_a_frequency_says_why(pair, words):
    with pytest.raises(InputError, match=words):
        Lexicon.from_pairs([pair])


def test_unreadable_files_and_sizes_are_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        Lexicon.read(tmp_path / "absent.tsv")
    binary = tmp_path / "binary.tsv"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        Lexicon.read(binary)
    for size in (0, EMBEDDED_SIZE + 1):
        with pytest.raises(InputError, match=f"1 to {EMBEDDED_SIZE}"):
            Lexicon.embedded(size)  # pyright: ignore
    with pytest.raises(InputError, match="empty"):
        Lexicon.embedded(5).top(0)
    for size in (2.5, "5", None):
        with pytest.raises(InputError, match="must be a whole number"):
            Lexicon.embedded(size)  # pyright: ignore
        with pytest.raises(InputError, match="must be a whole number"):
            Lexicon.embedded(5).top(size)  # pyright: ignore
