import gzip
import json

import numpy as np
import pytest

from doeblin import InputError
from doeblin.gestures.data import Generator, Layout, Lexicon, gesture_row, read_gestures

GOOD = {"word": "to", "kw": 360, "kh": 210, "x": [162, 306], "y": [30, 30], "t": [0, 200]}
LOG_HEADER = (
    "sentence timestamp keyb_width keyb_height event x_pos y_pos x_radius y_radius angle word "
    "is_err"
)


def lines(path, *rows):
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    )
    return path


def test_bad_rows_are_counted_and_named_by_line(tmp_path):
    path = lines(
        tmp_path / "g.jsonl",
        {**GOOD, "id": 7, "user": 3},
        "{broken",
        {"word": "to"},
        {**GOOD, "x": [1]},
        {**GOOD, "t": [5, 1]},
        "",
        {**GOOD, "x": [1, None]},
        {**GOOD, "word": "naïve"},
        {**GOOD, "kw": 0},
        [1, 2],
        {**GOOD, "x": [float("nan"), 1]},
        {**GOOD, "word": "TO"},
    )
    reading = read_gestures(path)
    assert [gesture.word for gesture in reading.gestures] == ["to", "to"]
    assert (reading.gestures[0].id, reading.gestures[0].user) == ("7", "3")
    np.testing.assert_allclose(reading.gestures[0].x, [4.5, 8.5])
    assert [problem.line for problem in reading.problems] == [2, 3, 4, 5, 7, 8, 9, 10, 11]
    reasons = dict(reading.problems)
    assert "not JSON" in reasons[2] and "'x'" in reasons[3] and "equally long" in reasons[4]
    assert "backwards" in reasons[5] and "'ï'" in reasons[8] and "positive" in reasons[9]
    assert "x is null at point 1" in reasons[7] and "x is NaN" in reasons[11]
    report = reading.report()
    assert report.startswith("left out 9 malformed rows (line 2: not JSON") and "6 more" in report


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**GOOD, "x": "abc"}, "x must be a list of numbers, got 'abc'"),
        ({**GOOD, "x": ["1", "2"]}, "x is '1' at point 0; it must be a finite number"),
        ({**GOOD, "y": [True, 2]}, "y is true at point 0; it must be a finite number"),
        ({**GOOD, "t": [0, 10**400]}, "t is 1000"),
        ({**GOOD, "x": [[1], [2]]}, "x must be a list of numbers, got shape (2, 1)"),
        ({**GOOD, "x": 5}, "x must be a list of numbers, got shape ()"),
        ({**GOOD, "x": {"0": 1}}, 'x must be a list of numbers, got {"0": 1}'),
        ({**GOOD, "kw": "wide"}, "kw is 'wide'; it must be a finite number"),
        ({**GOOD, "kw": None}, "kw is null; it must be a finite number"),
        ({**GOOD, "kh": 10**400}, "kh is 1000"),
        (json.dumps(GOOD).replace("162", "1e400"), "x is 1e400 at point 0; it must be finite"),
        (json.dumps(GOOD).replace("210", "-1E999"), "kh is -1E999; it must be a finite number"),
        ({**GOOD, "kh": float("inf")}, "kh is Infinity"),
        ({**GOOD, "word": 5}, "word is 5; it must be text"),
        ({**GOOD, "word": ["to"]}, 'word is ["to"]; it must be text'),
        ({**GOOD, "user": {}}, "user is {}; it must be text or a number"),
        ({**GOOD, "id": [1]}, "id is [1]; it must be text or a number"),
        ({**GOOD, "id": True}, "id is true"),
        ({}, "no field 'x'"),
        (5, "a row is an object with fields, not 5"),
        (None, "a row is an object with fields, not null"),
        ("9" * 5000, "not JSON that can be read: a number has thousands of digits"),
        ("[" * 100_000, "not JSON (nested too deeply)"),
    ],
)
def test_a_bad_row_names_the_field_the_value_and_what_is_expected(tmp_path, row, reason):
    reading = read_gestures(lines(tmp_path / "g.jsonl", GOOD, row, GOOD))
    assert len(reading.gestures) == 2 and reading.lines == [1, 3]
    (problem,) = reading.problems
    assert problem.line == 2 and problem.reason.startswith(reason) and len(problem.reason) < 150


def test_what_is_null_is_not_there(tmp_path):
    row = {**GOOD, "word": None, "user": None, "id": None}
    (gesture,) = read_gestures(lines(tmp_path / "g.jsonl", row)).gestures
    assert (gesture.word, gesture.user, gesture.id) == ("", "", "")
    futo = {"word": None, "session": None, "data": [{"x": 0.1, "y": 0.5, "t": 0}]}
    (gesture,) = read_gestures(lines(tmp_path / "f.jsonl", futo)).gestures
    assert (gesture.word, gesture.user, gesture.id) == ("", "", "")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"data": 5}, "data is 5; it must be a list of points"),
        ({"data": [5]}, "data has no field 'x' at point 0, but 5"),
        ({"data": [{"x": 0, "y": 0}]}, "data has no field 't' at point 0, but {\"x\": 0"),
        ({"data": [{"x": 10**400, "y": 0, "t": 0}]}, "x is 1000"),
        ({"data": [{"x": 0, "y": "0.5", "t": 0}]}, "y is '0.5' at point 0"),
        ({"word": 7}, "word is 7; it must be text"),
        ({"session": []}, "session is []; it must be text or a number"),
    ],
)
def test_a_bad_futo_row_says_why(tmp_path, change, reason):
    row = {"word": "at", "data": [{"x": 0.1, "y": 0.5, "t": 0}]}
    reading = read_gestures(lines(tmp_path / "f.jsonl", row, {**row, **change}))
    assert reading.format == "futo" and len(reading.gestures) == 1
    assert reading.problems[0].line == 2 and reading.problems[0].reason.startswith(reason)


def test_a_log_names_the_column_that_cannot_be_read(tmp_path):
    start, end = "s 0 360 210 {} {} 30 1 1 0 to 0", "s 9 360 210 touchend 306 30 1 1 0 to 0"
    path = lines(tmp_path / "u.log", LOG_HEADER, start.format("touchstart", "left"), end)
    assert read_gestures(path).problems == [(2, "x_pos is 'left' at point 0; it must be a number")]
    wordless = LOG_HEADER.replace(" word is_err", "")
    event = "s {} 360 210 {} 162 30 1 1 0"
    path = lines(path, wordless, event.format(0, "touchstart"), event.format(9, "touchend"))
    assert read_gestures(path).problems == [(2, "the log has no column 'word'")]


def test_bad_rows_take_no_memory_beyond_the_first_and_do_not_go_on_for_ever(tmp_path, monkeypatch):
    path = lines(tmp_path / "g.jsonl", GOOD, *["{}"] * 1500)
    reading = read_gestures(path)
    assert len(reading.problems) == 1000 and reading.left_out == 1500
    assert (
        reading.report().startswith("left out 1500 malformed") and "1497 more" in reading.report()
    )
    packed = tmp_path / "bomb.jsonl.gz"
    packed.write_bytes(gzip.compress(b"{}\n" * 200_000))
    with pytest.raises(InputError, match=r"bomb\.jsonl\.gz: more than 100,000 rows .*no field 'x'"):
        read_gestures(packed)
    packed.write_bytes(gzip.compress(b"\n" * 10_000_001))
    with pytest.raises(InputError, match=r"bomb\.jsonl\.gz: it has more than 10,000,000 lines"):
        read_gestures(packed)
    monkeypatch.setattr("doeblin.gestures.data._logs._MOST_EVENTS", 50)
    still = "s 0 360 210 {} 162 30 1 1 0 to 0"
    events = [still.format("touchstart"), *[still.format("touchmove")] * 60]
    reading = read_gestures(lines(tmp_path / "u.log", LOG_HEADER, *events))
    assert reading.problems[0] == (2, "more than 50 events, no touchend")


def test_futo_rows_cover_the_letters_area(tmp_path):
    row = {
        "session": "s",
        "word": "At",
        "data": [{"x": 0.1, "y": 0.5, "t": 1000}, {"x": 0.45, "y": 1 / 6, "t": 1100}],
    }
    reading = read_gestures(lines(tmp_path / "f.jsonl", row, {**row, "data": [{}]}))
    assert reading.format == "futo" and [p.line for p in reading.problems] == [2]
    gesture = reading.gestures[0]
    assert (gesture.word, gesture.user, gesture.t.tolist()) == ("at", "s", [0, 100])
    layout = Layout.qwerty()
    assert [layout.letters[key] for key in layout.nearest(gesture.x, gesture.y)] == ["a", "t"]


def test_futo_rows_of_other_languages_and_with_commas_are_kept(tmp_path):
    """Whether the word can be spelled here says nothing of the trace."""
    row = {"data": [{"x": 0.1, "y": 0.5, "t": 0}, {"x": 0.45, "y": 0.2, "t": 90}]}
    words = ["atri,", "Į", "(b.)", ""]
    reading = read_gestures(lines(tmp_path / "f.jsonl", *({**row, "word": w} for w in words)))
    assert [g.word for g in reading.gestures] == ["atri", "į", "b", ""] and not reading.problems


def test_raw_logs_are_cut_at_touches(tmp_path):
    def event(time, name, x, word="to", error=0):
        return f"s {time} 360 210 {name} {x} 30 1 1 0 {word} {error}"

    path = lines(
        tmp_path / "user9.log",
        LOG_HEADER,
        event(10, "touchstart", 162),
        event(60, "touchmove", 250),
        event(110, "touchend", 306),
        event(200, "touchmove", 1),
        event(300, "touchstart", 1),
        event(400, "touchstart", 162, error=1),
        event(410, "touchend", 162, error=1),
        "s 1 2",
        event(500, "touchstart", 162),
        event(450, "touchend", 306),
        event(600, "touchstart", 162),
    )
    reading = read_gestures(path)
    assert reading.format == "log" and len(reading.gestures) == 1
    assert reading.gestures[0].user == "user9" and reading.gestures[0].t.tolist() == [0, 50, 100]
    assert [problem.line for problem in reading.problems] == [5, 6, 7, 9, 10, 12]
    reasons = dict(reading.problems)
    assert "without touchstart" in reasons[5] and "no touchend" in reasons[6]
    assert "marked as an error" in reasons[7] and "3 fields, not 12" in reasons[9]
    assert "backwards" in reasons[10] and "no touchend" in reasons[12]


def test_generated_rows_come_back_as_they_were(tmp_path):
    layout = Layout.qwerty()
    made = list(Generator(layout).sample(Lexicon.embedded(100), 5))
    path = tmp_path / "g.jsonl.gz"
    text = "".join(json.dumps(gesture_row(gesture, layout)) + "\n" for gesture in made)
    path.write_bytes(gzip.compress(text.encode()))
    read = read_gestures(path).gestures
    assert [gesture.word for gesture in read] == [gesture.word for gesture in made]
    for one, other in zip(read, made, strict=True):
        np.testing.assert_allclose(one.x, other.x, atol=0.05 / 36 + 1e-9)
        np.testing.assert_allclose(one.y, other.y, atol=0.05 / 59 + 1e-9)


def test_files_that_hold_no_gestures_are_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_gestures(tmp_path / "absent.jsonl")
    with pytest.raises(InputError, match="no gestures here"):
        read_gestures(lines(tmp_path / "prose.txt", "once upon a time"))
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(b"x" * 1000)[:20])
    with pytest.raises(InputError, match="a damaged gzip file"):
        read_gestures(cut)
    with pytest.raises(InputError, match="format"):
        read_gestures(lines(tmp_path / "g.jsonl", GOOD), format="xml")  # pyright: ignore


def test_who_only_decodes_does_not_mind_a_word_that_has_no_keys(tmp_path):
    rows = [{**GOOD, "word": word} for word in ("don't", "Café ", " TO", 5)]
    path = lines(tmp_path / "g.jsonl", *rows)
    assert [gesture.word for gesture in read_gestures(path).gestures] == ["to"]
    reading = read_gestures(path, any_word=True)
    assert [gesture.word for gesture in reading.gestures] == ["don't", "café", "to"]
    assert reading.problems == [(4, "word is 5; it must be text")]
    event = "s {} 360 210 {} 162 30 1 1 0 don't 0"
    log = lines(
        tmp_path / "u.log", LOG_HEADER, event.format(0, "touchstart"), event.format(9, "touchend")
    )
    with_words = [read_gestures(log, any_word=any_word).gestures for any_word in (False, True)]
    assert [len(some) for some in with_words] == [0, 1] and with_words[1][0].word == "don't"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way(tmp_path, end):
    path = tmp_path / "g.jsonl"
    path.write_bytes(end.join([json.dumps(GOOD), "", "{broken", json.dumps(GOOD)]).encode())
    reading = read_gestures(path)
    assert reading.lines == [1, 4] and [problem.line for problem in reading.problems] == [3]
