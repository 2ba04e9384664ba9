"""The paper's gesture model: labels for keys, Gibbs in a full model, and ways to train it.

Its experiment runs on two engines over the same weights. The compiled one follows the paper, a step
after each gesture, and is the reference; the library's own chains, kernels and estimators in JAX
are held against it.
"""

from ..._errors import needs

with needs("gestures"):
    from ._experiment import Engine, paired, run_method, without_chains
    from ._task import METHODS, Method, Task, make_task

__all__ = [
    "METHODS",
    "Engine",
    "Method",
    "Task",
    "make_task",
    "paired",
    "run_method",
    "without_chains",
]
