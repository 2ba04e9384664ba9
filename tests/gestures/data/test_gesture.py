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
        (["a"], [0], [0], "x is 'a' at point 0; it must be a finite number"),
        ([1, True], [0, 0], [0, 1], "x is True at point 1"),
        ([1], [0], ["5"], "t is '5' at point 0"),
        ([None], [0], [0], "x is None at point 0"),
        ([1, 10**400], [0, 0], [0, 1], r"x is 1000\S*000 \(401 characters\) at point 1; it must"),
        ([1], [10**9000], [0], "y is a number of thousands of digits at point 0"),
        (np.array([1, 10**400]), [0, 0], [0, 1], "x is 1000"),
        (np.array(["1"]), [0], [0], "x must be a list of numbers"),
        ({"1": 2}, [0], [0], "x must be a list of numbers, got {'1': 2}"),
        ("12", [0], [0], "x must be a list of numbers, got '12'"),
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


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((0, 1), "must be positive"),
        ((10**400, 1), "size is 1000"),
        (("wide", 1), "size is 'wide'; it must be a finite number"),
        ((1, 2, 3), "a width and a height"),
        ((1e-320, 1), "x is inf at point 0"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_keyboard_of_no_size_is_refused(size, words):
    with pytest.raises(InputError, match=words):
        Gesture.from_frame([1], [1], [1], size=size, layout=Layout.qwerty())
