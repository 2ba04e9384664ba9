import json

import numpy as np
import pytest

from doeblin import InputError
from doeblin.gestures.data import Layout

QWERTY = Layout.qwerty().to_json()


def keyed(**places):
    """QWERTY and more keys."""
    keys = [{"letter": letter, "x": x, "y": y} for letter, (x, y) in places.items()]
    return {**QWERTY, "keys": [*QWERTY["keys"], *keys]}


def halved(**change):
    """Two keys with half sizes, of which the second is changed."""
    keys = [
        {"letter": c, "cx": x, "cy": 0.5, "rx": 0.25, "ry": 0.5}
        for c, x in (("a", 0.25), ("b", 0.75))
    ]
    return {"keys": [keys[0], {**keys[1], **change}]}


def test_qwerty_places_keys_as_phones_do():
    layout = Layout.qwerty()
    assert len(layout.letters) == 26
    assert layout.centre("a").tolist() == [1.0, 1.5]
    assert layout.centre("m").tolist() == [8.0, 2.5]
    assert (layout.width, layout.height) == (10.0, 3.5)


def test_the_key_under_a_point_is_the_one_that_holds_it():
    layout = Layout.qwerty()
    keys = layout.nearest([0.1, 9.9, 1.4, 0.2, 9.9], [0.1, 0.9, 1.9, 2.9, 3.4])
    # Beside the last key of a row, and below the rows, the nearest key counts.
    assert [layout.letters[key] for key in keys] == ["q", "p", "a", "z", "m"]


def test_layouts_come_from_json_in_three_forms(tmp_path):
    qwerty = Layout.qwerty()
    rows = Layout.from_json(
        {
            "rows": ["qwertyuiop", "asdfghjkl", "zxcvbnm"],
            "row_left_offset_keys": [0, 0.5, 1.5],
        }
    )
    np.testing.assert_allclose(rows.centres, qwerty.centres)
    path = tmp_path / "layout.json"
    path.write_text(json.dumps(qwerty.to_json()))
    again = Layout.read(path)
    assert again.letters == qwerty.letters
    np.testing.assert_allclose(again.centres, qwerty.centres)
    halves = Layout.from_json(
        {
            "keys": [
                {"letter": "a", "cx": 0.25, "cy": 0.5, "rx": 0.25, "ry": 0.5},
                {"letter": "b", "cx": 0.75, "cy": 0.5, "rx": 0.25, "ry": 0.5},
            ]
        }
    )
    np.testing.assert_allclose(halves.centres, [[0.5, 0.5], [1.5, 0.5]])


def test_other_alphabets_have_layouts_too():
    layout = Layout.from_rows(["йцукен", "фыва"], [0, 0.5], name="ru")
    assert layout.spells("фен") and not layout.spells("fen")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"keys": [], "width": 1, "height": 1}, "has no keys"),
        ({"keys": []}, "needs the field 'width'"),
        ({}, "not a layout: {}; a layout has `keys`"),
        ([], r"not a layout: \[\]"),
        ({"keys": 5}, "keys is 5; it must be a list"),
        ({"keys": [5]}, "a key needs the field 'letter', got 5"),
        ({"keys": [{"letter": 5}]}, "one letter, got 5"),
        ({"keys": [{"letter": "a", "x": 0}], "width": 1, "height": 1}, "'a' needs the field 'y'"),
        ({"rows": []}, "needs the field 'row_left_offset_keys'"),
        ({"rows": "abc", "row_left_offset_keys": [0, 0, 0]}, "rows is 'abc'; it must be a list"),
        ({"rows": [5], "row_left_offset_keys": [0]}, "a row is 5; it must be text"),
        ({"rows": ["ab", "bc"], "row_left_offset_keys": [0, 0]}, "more than one key for"),
        ({"rows": ["ab"], "row_left_offset_keys": [0, 1]}, "as many offsets"),
        ({"rows": ["aB"], "row_left_offset_keys": [0]}, "lower-case"),
        ({"keys": [{"letter": "ab", "x": 0, "y": 0}]}, "one letter"),
        (
            {"keys": [{"letter": "a", "x": float("nan"), "y": 0}], "width": 1, "height": 1},
            "finite",
        ),
        ({"keys": [{"letter": "a", "x": 0, "y": 0}], "width": 0, "height": 1}, "width = 0"),
        ("qwerty", "not a layout"),
        (keyed(é=(2.5, 0.5)), r"the keys 'e' and 'é' are at one place \(2.5, 0.5\).* move one"),
        (keyed(é=(2.5, 0.5 + 1e-9)), "'e' and 'é' are at one place"),
        (keyed(é=(1e300, 0)), r"the key 'é' is at \(1e\+300, 0\)"),
        (keyed(é=(0, -1e6)), "the key 'é' is at"),
        (keyed(é=(10**400, 0)), "x of the key 'é' is 1000.*finite"),
        (keyed(é=("1", 0)), "x of the key 'é' is '1'; it must be a finite number"),
        (keyed(é=(True, 0)), "x of the key 'é' is True"),
        ({**QWERTY, "width": 10**400}, "width is 1000.*finite"),
        ({**QWERTY, "width": "10"}, "width is '10'; it must"),
        ({**QWERTY, "height": 1e300}, r"height = 1e\+300 must be between 0.001 and 1000"),
        ({**QWERTY, "aspect": 1e-300}, "aspect = 1e-300 must be between"),
        (halved(rx=0), "rx = 0 of the key 'b' must be positive"),
        (halved(ry=-0.5), "ry = -0.5 of the key 'b' must be positive"),
        (halved(rx=float("inf")), "rx of the key 'b' is inf; it must be a finite number"),
        (halved(cx=10**400), "cx of the key 'b' is 1000"),
        ({"rows": ["ab"], "row_left_offset_keys": [10**400]}, "row_left_offset_keys is 1000"),
    ],
)
def test_what_is_no_layout_says_why(value, words):
    with pytest.raises(InputError, match=words):
        Layout.from_json(value)


def test_a_layout_file_that_is_missing_or_broken_is_named(tmp_path):
    with pytest.raises(InputError, match=r"absent\.json"):
        Layout.read(tmp_path / "absent.json")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    with pytest.raises(InputError, match=r"broken\.json: the layout is not JSON"):
        Layout.read(broken)
    broken.write_text("[" + "9" * 9000 + "]")
    with pytest.raises(InputError, match=r"broken\.json: .*a number has thousands of digits"):
        Layout.read(broken)


def test_layouts_that_are_made_in_python_are_checked_alike():
    with pytest.raises(InputError, match="'a' and 'i' are at one place"):
        Layout("two", "ai", np.array([[1.0, 1.0], [1.0, 1.0]]), 3, 3)
    with pytest.raises(InputError, match="finite x and y"):
        Layout("far", "a", [[10**400, 0]], 3, 3)  # pyright: ignore


def test_odd_characters_are_named():
    with pytest.raises(InputError, match="no key for 'é'"):
        Layout.qwerty().encode("café")


def test_numbers_of_a_file_are_shown_as_they_are_written(tmp_path):
    path = tmp_path / "keys.json"
    for odd in ("1e400", "-2.5E999", "null", "true"):
        path.write_text(json.dumps(QWERTY).replace('"height": 3.5', f'"height": {odd}'))
        with pytest.raises(InputError, match=f"height is {odd}; it must be a finite number"):
            Layout.read(path)
