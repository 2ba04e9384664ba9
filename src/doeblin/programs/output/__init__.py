"""Proofs and failures in the forms that other tools read."""

from ._acsl import acsl as acsl
from ._certificate import certificate as certificate
from ._certificate import check_certificate as check_certificate
from ._driver import driver as driver
from ._run import run_driver as run_driver
from ._trace import trace as trace
from ._witness import witness as witness
