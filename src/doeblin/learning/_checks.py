"""Options and parameters that `fit` refuses before anything is compiled."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from .._errors import InputError
from .._numbers import whole
from ._contrastive import PersistentContrastive
from ._data import Dataset


def check_parameters(learned: Any) -> None:
    leaves = jax.tree_util.tree_leaves_with_path(learned)
    if not leaves:
        raise InputError(
            "there is nothing to train: no parameter is a floating-point array that `trainable` "
            "picks"
        )
    for path, leaf in leaves:
        if np.iscomplexobj(leaf):
            raise InputError(
                f"the parameters at {jax.tree_util.keystr(path) or 'the root'} are complex: give "
                "their real and imaginary parts, and make complex numbers of them in `build`"
            )
        if not np.all(np.isfinite(np.asarray(leaf))):
            raise InputError(
                f"the parameters at {jax.tree_util.keystr(path) or 'the root'} have NaN or "
                "infinite numbers; start from finite ones, or leave them out of `trainable`"
            )


def check_options(
    objective: Any,
    batch_size: int,
    epochs: int,
    patience: int | None,
    validation: Dataset | None,
    checkpoint_every: int,
) -> None:
    whole("batch_size", batch_size, least=1)
    whole("epochs", epochs, least=1)
    whole("checkpoint_every", checkpoint_every, least=1)
    if validation is not None and isinstance(objective, PersistentContrastive):
        raise InputError(
            "persistent contrastive divergence estimates no log-likelihood to validate by: leave "
            "`validation` out, and use `log_likelihood` with another estimator afterwards"
        )
    if patience is not None and (validation is None or patience < 1):
        raise InputError(
            f"patience = {patience} counts epochs without progress on validation data: it must be "
            "at least 1, and `validation` must be given"
        )
