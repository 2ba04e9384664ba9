"""The decoder: a restart normalised over the lexicon's trie, and a full model over words."""

from ._decoder import Candidates as Candidates
from ._decoder import Decoder as Decoder
from ._decoder import Guess as Guess
from ._decoder import WordFactor as WordFactor
from ._evaluation import calibration_error as calibration_error
from ._evaluation import character_accuracy as character_accuracy
from ._evaluation import edit_distance as edit_distance
from ._evaluation import evaluate as evaluate
from ._model import Model as Model
from ._model import Settings as Settings
from ._training import Likelihood as Likelihood
from ._training import Plan as Plan
from ._training import Progress as Progress
from ._training import train as train
from ._trie import Trie as Trie
