"""What is well formed C, but not modelled."""

from __future__ import annotations

from ...._errors import Place


class Unsupported(Exception):
    """A feature that is not modelled: the verdict is UNKNOWN with this reason."""

    def __init__(self, what: str, place: Place, *, said: str = ""):
        super().__init__(f"{said} at {place}" if said else f"unsupported: {what} at {place}")
        self.what = what
        self.place = place
