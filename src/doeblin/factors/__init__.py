"""Factor graphs: a model is declared once by its factors, and everything else is derived."""

from .._errors import needs

with needs("learning"):
    from ._best import Best, annealed
    from ._forests import ForestGibbs, ForestSweep
    from ._given import Given
    from ._graph import Factors, Graph
    from ._kernels import ColourGibbs, ColourSweep, SiteGibbs
    from ._labeller import GraphLabeller, Marginals
    from ._learning import Completion, FactorLikelihood, PseudoLikelihood, labelled, marginals
    from ._model import Model
    from ._padding import alike
    from ._paths import NGrams, Words
    from ._plan import Plan
    from ._potentials import (
        AbstractFunction,
        AbstractPotential,
        AbstractTable,
        Count,
        Function,
        Linear,
        Network,
        Sparse,
        Table,
        Tables,
    )
    from ._readers import from_arrays, read_uai
    from ._restart import TreeRestart
    from ._variables import Variables, along
    from ._words import WordMetropolis

__all__ = [
    "AbstractFunction",
    "AbstractPotential",
    "AbstractTable",
    "Best",
    "ColourGibbs",
    "ColourSweep",
    "Completion",
    "Count",
    "FactorLikelihood",
    "Factors",
    "ForestGibbs",
    "ForestSweep",
    "Function",
    "Given",
    "Graph",
    "GraphLabeller",
    "Linear",
    "Marginals",
    "Model",
    "NGrams",
    "Network",
    "Plan",
    "PseudoLikelihood",
    "SiteGibbs",
    "Sparse",
    "Table",
    "Tables",
    "TreeRestart",
    "Variables",
    "WordMetropolis",
    "Words",
    "alike",
    "along",
    "annealed",
    "from_arrays",
    "labelled",
    "marginals",
    "read_uai",
]
