"""Strong Doeblin and staged chains: exact draws, runs, and regenerative estimates."""

from ._chain import Chain as Chain
from ._chain import Draws as Draws
from ._chain import Position as Position
from ._chain import doeblin as doeblin
from ._chain import staged as staged
from ._regeneration import Estimate as Estimate
