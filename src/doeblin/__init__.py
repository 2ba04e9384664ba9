"""doeblin: Markov chains with guarantees."""

from ._version import __version__ as __version__
