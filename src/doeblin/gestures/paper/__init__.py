"""The paper's gesture model: labels for keys, Gibbs in a full model, and ways to train it."""

from ._experiment import METHODS as METHODS
from ._experiment import Engine as Engine
from ._experiment import Method as Method
from ._experiment import Task as Task
from ._experiment import make_task as make_task
from ._experiment import paired as paired
from ._experiment import run_method as run_method
from ._experiment import without_chains as without_chains
