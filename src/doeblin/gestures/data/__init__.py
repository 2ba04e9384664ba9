"""Layouts, gestures, lexicons, readers and the generator."""

from ._generate import Generator as Generator
from ._generate import least_jerk as least_jerk
from ._gesture import Gesture as Gesture
from ._layout import Layout as Layout
from ._lexicon import EMBEDDED_SIZE as EMBEDDED_SIZE
from ._lexicon import Lexicon as Lexicon
from ._readers import Format as Format
from ._readers import Problem as Problem
from ._readers import Reading as Reading
from ._readers import gesture_row as gesture_row
from ._readers import read_gestures as read_gestures
from ._statistics import Statistics as Statistics
from ._statistics import key_string as key_string
from ._statistics import merged as merged
from ._statistics import statistics as statistics
