"""A report to open: what doeblin does, on one self-contained page."""

from ._page import Section as Section
from ._page import render as render
from ._sections import SECTIONS as SECTIONS
