"""The sign table of the variance: which letters cannot lie between which others in an optimal pair.

Tests certify it by a solver, and derive from it which words are left; see "Pairs of labels"
in docs/proofs.md.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Row(NamedTuple):
    """No record labelled `mover` lies between two labelled `among`.

    Together the records with one of the two labels read ``mover* among* mover*``.
    """

    mover: str
    among: str

    def allows(self, word: str) -> bool:
        """Tell whether a word reads as the row says."""
        read = "".join(letter for letter in word if letter in self)
        return re.fullmatch(f"{self.mover}*{self.among}*{self.mover}*", read) is not None


OWN = (Row("A", "O"), Row("O", "B"), Row("A", "C"), Row("C", "B"), Row("A", "B"))
"""Where x and y both have records of their own, whatever their sizes."""

O_OUTSIDE = (*OWN, Row("O", "C"))
"""The same where x is not the smaller set, or sd(x) is large enough, compared with sd(y)."""
