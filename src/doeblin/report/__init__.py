"""A report to open: what doeblin does, on one self-contained page."""

from ._page import Section, render
from ._sections import SECTIONS

__all__ = ["SECTIONS", "Section", "render"]
