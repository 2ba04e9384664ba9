"""Who is told that clocks stop, and when."""

import itertools
from types import SimpleNamespace

import pytest

from doeblin import _compiling
from doeblin._compiling import begin, clock, end, not_counted, told_of_pauses, when_compiling


def test_clocks_outside_stop_and_go_on_with_ours(monkeypatch):
    hours = itertools.count(step=3600)
    time = SimpleNamespace(perf_counter=lambda: float(next(hours)))
    monkeypatch.setattr(_compiling, "time", time)
    heard = []
    with told_of_pauses(lambda: heard.append("stops"), lambda: heard.append("goes on")):
        with not_counted():
            for about in (2.0, 1.0):  # what is compiled in the midst of it is no news
                before = clock()
                begin(about)
                end()
                assert clock() == pytest.approx(before, abs=1e-6)
            assert heard == ["stops"]
        assert heard == ["stops", "goes on"]
    with not_counted():
        pass
    assert heard == ["stops", "goes on"]


def test_people_are_told_of_what_takes_long(monkeypatch):
    heard = []
    monkeypatch.setattr(_compiling, "_listeners", [])
    when_compiling(heard.append)
    with not_counted():  # an import
        assert not heard
        begin(2.0)
        end()
    assert heard == [2.0]
