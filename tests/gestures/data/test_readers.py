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
    assert "x is None at point 1" in reasons[7] and "x is nan" in reasons[11]
    report = reading.report()
    assert report.startswith("left out 9 malformed rows (line 2: not JSON") and "6 more" in report


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
