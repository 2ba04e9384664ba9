"""The command line: one thin module per command. Each parses, calls the library, and shows.

Exit status 3 means bad input or usage throughout; other non-zero codes belong to the command.
"""

from ._main import main

__all__ = ["main"]
