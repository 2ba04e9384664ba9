"""The page and its API: swipe, verify and play with chains in a browser.

Work runs in worker processes that can be killed; the server itself only listens and answers.
"""

from .._errors import needs

with needs("serve"):
    from ._app import create_app
    from ._limits import Limits
    from ._safety import LOOPBACK
    from ._server import serve

__all__ = [
    "LOOPBACK",
    "Limits",
    "create_app",
    "serve",
]
