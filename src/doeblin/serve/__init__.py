"""The page and its API: swipe, verify and play with chains in a browser.

Work runs in worker processes that can be killed; the server itself only listens and answers.
"""

from ._app import create_app as create_app
from ._limits import Limits as Limits
from ._safety import LOOPBACK as LOOPBACK
from ._server import serve as serve
