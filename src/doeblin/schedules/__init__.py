"""Stages and what they guarantee: stage matrices, exit rates, certificates. Needs numpy only."""

from ._certificate import Certificate, Fact, certify, corollary_gap, gamma
from ._schedule import Schedule, checked_epsilon

__all__ = [
    "Certificate",
    "Fact",
    "Schedule",
    "certify",
    "checked_epsilon",
    "corollary_gap",
    "gamma",
]
