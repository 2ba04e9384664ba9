import json

import numpy as np
import pytest

from doeblin import InputError
from doeblin.gestures.data import Layout


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
        ({"keys": []}, "IndexError"),
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
    with pytest.raises(InputError, match="not JSON"):
        Layout.read(broken)


def test_odd_characters_are_named():
    with pytest.raises(InputError, match="no key for 'é'"):
        Layout.qwerty().encode("café")
