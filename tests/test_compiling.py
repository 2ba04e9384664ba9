"""Who is told of compiling, and when."""

from doeblin._compiling import begin, end, not_counted, told_of_compiling


def test_listeners_hear_when_it_begins_and_when_all_of_it_is_over():
    heard = []
    with told_of_compiling(lambda: heard.append("begins"), lambda: heard.append("over")):
        with not_counted():
            pass  # an import is no news
        assert not heard
        with not_counted():
            for about in (2.0, 1.0):
                begin(about)
                end()
            assert heard == ["begins"]
        assert heard == ["begins", "over"]
    begin(1.0)
    end()
    assert heard == ["begins", "over"]
