import numpy as np
import pytest

from doeblin import InputError
from doeblin.gestures.data import Gesture, Layout


@pytest.mark.parametrize(
    ("x", "y", "t", "words"),
    [
        ([], [], [], "empty"),
        ([1, float("nan")], [0, 0], [0, 1], "x is nan at point 1"),
        ([1, 2], [0, float("inf")], [0, 1], "y is inf at point 1"),
        ([1, 2], [0, 0], [5, 1], "time runs backwards at point 1"),
        ([1, 1e18], [0.5, 0.5], [0, 100], "x is 1e\\+18 at point 1; a keyboard is not that large"),
        ([1, 2], [0, 0], [-1e308, 1e308], "t is -1e\\+308 at point 0"),
        ([1, 2], [0], [0, 1], "equally long, got 2, 1 and 2"),
        (["a"], [0], [0], "x must be a list of numbers"),
        ([[1, 2]], [0], [0], "shape"),
    ],
)
def test_traces_that_make_no_sense_say_why(x, y, t, words):
    with pytest.raises(InputError, match=words):
        Gesture.checked(x, y, t)


def test_time_starts_at_touch_down_and_may_stand_still():
    gesture = Gesture.checked([1, 1, 2], [0, 0, 0], [1000, 1000, 1016])
    assert gesture.t.tolist() == [0, 0, 16]


def test_a_single_point_is_a_tap():
    assert len(Gesture.checked([1], [1], [7]).x) == 1


def test_pixels_become_key_units():
    gesture = Gesture.from_frame(
        [18, 342], [30, 30], [0, 100], size=(360, 210), layout=Layout.qwerty()
    )
    np.testing.assert_allclose(gesture.x, [0.5, 9.5])
    np.testing.assert_allclose(gesture.y, [0.5, 0.5])
    with pytest.raises(InputError, match="must be positive"):
        Gesture.from_frame([1], [1], [1], size=(0, 1), layout=Layout.qwerty())
