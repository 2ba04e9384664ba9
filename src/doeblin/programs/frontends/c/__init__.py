"""C, read for verification."""

from ._calls import ASSERTIONS as ASSERTIONS
from ._emitter import SIGNED_OVERFLOW as SIGNED_OVERFLOW
from ._emitter import Unsupported as Unsupported
from ._reader import read_c as read_c
