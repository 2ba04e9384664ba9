"""Lemmas: sources propose formulas, one source a file; Houdini keeps those that can be proved.

A source is a function of a `Context`; `SOURCES` has all of them by name, and `STAGES` says in
which order they are asked, which of them together, and when.
"""

from ._context import Context as Context
from ._context import Source as Source
from ._houdini import prove as prove
from ._stages import EARLY as EARLY
from ._stages import LATE as LATE
from ._stages import QUICK as QUICK
from ._stages import SOURCES as SOURCES
from ._stages import STAGES as STAGES
from ._stages import Stage as Stage
