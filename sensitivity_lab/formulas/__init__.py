"""Formulas of sensitivities for every n and k, with what proves them."""

from .closed_form import Formula, formula
from .obligations import Proof
from .proved_claims import Verdict, prove
from .symbolic import SumsQuery, sums

__all__ = ["Formula", "Proof", "SumsQuery", "Verdict", "formula", "prove", "sums"]

__dir__ = __all__.copy  # for tab completion
