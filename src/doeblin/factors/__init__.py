"""Factor graphs: a model is declared once by its factors, and everything else is derived."""

from .._errors import needs

with needs("learning"):
    from ._given import Given
    from ._graph import Factors, Graph, Variables, along
    from ._kernels import ColourGibbs, ColourSweep, SiteGibbs
    from ._learning import Completion, FactorLikelihood, PseudoLikelihood, labelled, marginals
    from ._model import Model
    from ._padding import alike
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

__all__ = [
    "AbstractFunction",
    "AbstractPotential",
    "AbstractTable",
    "ColourGibbs",
    "ColourSweep",
    "Completion",
    "Count",
    "FactorLikelihood",
    "Factors",
    "Function",
    "Given",
    "Graph",
    "Linear",
    "Model",
    "Network",
    "PseudoLikelihood",
    "SiteGibbs",
    "Sparse",
    "Table",
    "Tables",
    "TreeRestart",
    "Variables",
    "alike",
    "along",
    "from_arrays",
    "labelled",
    "marginals",
    "read_uai",
]
