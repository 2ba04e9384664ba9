"""Stages and what they guarantee: stage matrices, exit rates, certificates. Needs numpy only."""

from ._certificate import Certificate as Certificate
from ._certificate import Fact as Fact
from ._certificate import certify as certify
from ._certificate import corollary_gap as corollary_gap
from ._certificate import gamma as gamma
from ._schedule import Schedule as Schedule
from ._schedule import checked_epsilon as checked_epsilon
