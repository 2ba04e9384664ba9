"""What is learned of a system: examples, pools of atoms, candidates, and the teacher's answers."""

from . import _geometry as geometry
from ._compiling import engine
from ._data import LIMIT, Data, fits
from ._harvest import Suggestions, dnf_of, harvest, linear, vector_of
from ._knowledge import Knowledge, Subject
from ._known import Box, new_formulas
from ._methods import METHODS, search_method
from ._monomials import linearised, monomials
from ._news import Asked, Listener, Note, Progress
from ._powers import accumulates, multiplies, with_products, without_products
from ._runs import FAST_BLOCK, Runs
from ._sampling import Derived, Points, Sampling
from ._small import Small, with_small_limits
from ._space import Space
from ._teacher import Teacher

__all__ = [
    "FAST_BLOCK",
    "LIMIT",
    "METHODS",
    "Asked",
    "Box",
    "Data",
    "Derived",
    "Knowledge",
    "Listener",
    "Note",
    "Points",
    "Progress",
    "Runs",
    "Sampling",
    "Small",
    "Space",
    "Subject",
    "Suggestions",
    "Teacher",
    "accumulates",
    "dnf_of",
    "engine",
    "fits",
    "geometry",
    "harvest",
    "linear",
    "linearised",
    "monomials",
    "multiplies",
    "new_formulas",
    "search_method",
    "vector_of",
    "with_products",
    "with_small_limits",
    "without_products",
]
