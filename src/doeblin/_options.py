"""Options of objects that learn in scikit-learn's manner, without scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any, Self

from ._errors import InputError


class Options:
    """The arguments of `__init__` are options, kept as they were given under their own names.

    That is what scikit-learn's `clone`, `cross_val_score` and `GridSearchCV` ask for.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options, as scikit-learn wants them."""
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **options: Any) -> Self:
        """Change options; what is fitted has to be fitted again to follow them."""
        known = self.get_params()
        for name, value in options.items():
            if name not in known:
                raise InputError(f"there is no option {name!r}; there are {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn asks for them.
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(two_d_array=False),
        )
