"""C, read for verification."""

from ._emitter import Unsupported as Unsupported
from ._reader import read_c as read_c
