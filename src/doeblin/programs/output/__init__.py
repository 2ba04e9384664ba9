"""Proofs and failures in the forms that other tools read."""

from ._acsl import acsl
from ._certificate import certificate, check_certificate, count_conditions, decided
from ._driver import driver
from ._model import model
from ._run import Tried, confirmed, run_driver
from ._trace import calls, trace
from ._witness import witness

__all__ = [
    "Tried",
    "acsl",
    "calls",
    "certificate",
    "check_certificate",
    "confirmed",
    "count_conditions",
    "decided",
    "driver",
    "model",
    "run_driver",
    "trace",
    "witness",
]
