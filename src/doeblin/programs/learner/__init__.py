"""Learning invariants: examples, pools of atoms, lemmas, the search, and its teacher."""

from ._data import Conflict as Conflict
from ._harvest import dnf_of as dnf_of
from ._learn import Learner as Learner
from ._news import Asked as Asked
from ._news import Listener as Listener
from ._news import Note as Note
from ._news import Progress as Progress
from ._powers import multiplies as multiplies
from ._powers import with_products as with_products
from ._powers import without_products as without_products
from ._seed import FailedRun as FailedRun
