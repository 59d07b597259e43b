"""Formulas of sensitivities for every n and k, with what proves them."""

from .claims import Verdict, prove
from .closed_form import Formula, formula
from .expressions import SumsQuery, sums
from .obligations import Proof

__all__ = ["Formula", "Proof", "SumsQuery", "Verdict", "formula", "prove", "sums"]

__dir__ = __all__.copy  # for tab completion
