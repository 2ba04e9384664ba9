"""Strong Doeblin and staged chains: exact draws, runs, and regenerative estimates."""

from ._arviz import to_arviz as to_arviz
from ._blackjax import from_blackjax as from_blackjax
from ._blackjax import to_blackjax as to_blackjax
from ._chain import Chain as Chain
from ._chain import Draws as Draws
from ._chain import Position as Position
from ._chain import doeblin as doeblin
from ._chain import staged as staged
from ._regeneration import Estimate as Estimate
