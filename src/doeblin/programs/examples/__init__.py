"""Small C programs that come with doeblin: the paper's, written anew, and a few of our own."""

from importlib import resources

PAPER = ("fig1", "cegar2", "nested", "tacas06", "growth")
"""The paper's table; `growth` stands in for its "hard", which is not public."""

__all__ = ["PAPER", "example", "names"]


def example(name: str) -> str:
    """The text of a bundled program.

    >>> "while (x < 0)" in example("fig1")
    True
    """
    return resources.files(__name__).joinpath(f"{name}.c").read_text(encoding="utf-8")


def names() -> list[str]:
    """All bundled programs."""
    return sorted(
        item.name.removesuffix(".c")
        for item in resources.files(__name__).iterdir()
        if item.name.endswith(".c")
    )
