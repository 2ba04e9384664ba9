"""What is learned of a system: examples, pools of atoms, candidates, and the teacher's answers."""

from . import _geometry as geometry
from ._compiling import engine as engine
from ._data import LIMIT as LIMIT
from ._harvest import dnf_of as dnf_of
from ._knowledge import Knowledge as Knowledge
from ._knowledge import Subject as Subject
from ._known import Box as Box
from ._known import new_formulas as new_formulas
from ._methods import METHODS as METHODS
from ._methods import search_method as search_method
from ._news import Asked as Asked
from ._news import Listener as Listener
from ._news import Note as Note
from ._news import Progress as Progress
from ._powers import multiplies as multiplies
from ._powers import with_products as with_products
from ._runs import FAST_BLOCK as FAST_BLOCK
from ._runs import Runs as Runs
from ._space import Space as Space

__all__ = ["geometry"]
