"""What the tests of audits ask for."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd


def evidence_of(message: str) -> dict[str, list]:
    """What the two lines of a counterexample say, read by Python alone."""
    names = {"Fraction": Fraction, "Decimal": Decimal, "np": np, "pd": pd}
    said = {}
    for line in message.splitlines()[1:3]:
        dataset, answer = line.split("->")
        exec(dataset, names, said)
        said[answer.split(" = ")[0].strip()] = eval(answer.split(" = ")[1], names)
    return said
