"""The paper's gesture model: labels for keys, Gibbs in a full model, and ways to train it."""

from ..._errors import needs

with needs("gestures"):
    from ._experiment import (
        METHODS,
        Engine,
        Method,
        Task,
        make_task,
        paired,
        run_method,
        without_chains,
    )

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
