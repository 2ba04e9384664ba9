"""What is learned of a system: examples, pools of atoms, candidates, and the teacher's answers."""

from . import _geometry as geometry
from ._compiling import engine
from ._data import LIMIT, fits
from ._harvest import dnf_of, harvest
from ._knowledge import Knowledge, Subject
from ._known import Box, new_formulas
from ._methods import METHODS, search_method
from ._news import Asked, Listener, Note, Progress
from ._powers import accumulates, multiplies, with_products
from ._runs import FAST_BLOCK, Runs
from ._sampling import Sampling
from ._space import Space

__all__ = [
    "FAST_BLOCK",
    "LIMIT",
    "METHODS",
    "Asked",
    "Box",
    "Knowledge",
    "Listener",
    "Note",
    "Progress",
    "Runs",
    "Sampling",
    "Space",
    "Subject",
    "accumulates",
    "dnf_of",
    "engine",
    "fits",
    "geometry",
    "harvest",
    "multiplies",
    "new_formulas",
    "search_method",
    "with_products",
]
