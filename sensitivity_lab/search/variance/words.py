"""The words that a variance or standard deviation is searched over, derived from the sign table.

Along the sorted universe, a pair of datasets reads as a word: a letter per block of records, A
(only in x), B (only in y), C (in both) and O (in neither); x has the larger variance.
The *sign table* says which letters cannot lie between which others in an optimal pair: as one
record, the mover, takes other places among them, the difference of the variances is convex in its
place, so an end is better. The *rules* exclude a few words more, and only finitely many words are
left. A kernel searches all pairs that read as its word, with some blocks empty or back to front.
`words_of` derives which kernels a change needs. See "One mover", "Pairs of labels" and "Variance
and standard deviation: records of both" in docs/proofs.md; the tests certify the table, each rule,
and that the kernels' words cover all that is left.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import NamedTuple


class Row(NamedTuple):
    """A row of the sign table: no record labelled `mover` lies between two labelled `among`.

    Attributes
    ----------
    mover, among : str
        Two labels. Together the records with one of them read ``mover* among* mover*``.
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

AROUND = "AOACBCAOA"
"""y = C + B is a window with B inside it, A is the two ends of what is outside."""

PARTED = "AOCOBOA"
"""Records outside both datasets lie between C and B."""

INTERRUPTED = "ACABAOA"
"""A block of A lies between C and B."""

CORE_INSIDE = "AOACAOA"
"""B is empty: C is a window, A is the two ends of what is outside."""

CORE_AT_ENDS = "AOACOCAOABAOACOCAOA"
"""B is a window; x is the two ends of what is outside, and C a window of the records of x."""


def words_of(kept: int, only_x: int, only_y: int) -> tuple[str, ...]:
    """Return the words that one of the best pairs reads as where `O_OUTSIDE` holds.

    Parameters
    ----------
    kept, only_x, only_y : int
        How many records x and y share, and how many each has for itself, at least 1.

    Returns
    -------
    tuple of str
        Of `AROUND`, `PARTED` and `INTERRUPTED`, in this order, those that are needed.
    """
    left = _left(O_OUTSIDE, _excluded(kept, only_x, only_y), "ABCO" if kept else "ABO")
    needed = []
    for word in (AROUND, PARTED, INTERRUPTED):
        rest = left - forms(word)
        if rest != left:
            needed.append(word)
        left = rest
    return tuple(needed)


def _excluded(kept: int, only_x: int, only_y: int) -> tuple[str, ...]:
    """Return what no word contains, letters in between or not, nor backwards: the rules 1 to 5."""
    if not kept:
        return ()
    rules = ["BACO", "CAOB", "COAB"]
    if kept >= only_y:
        rules.append("COB")
    if kept <= only_y or only_x == only_y == 1:
        rules.append("CAB")
    return tuple(rules)


@cache
def _left(rows: tuple[Row, ...], excluded: tuple[str, ...], labels: str) -> frozenset[str]:
    """Return all words with each label but O that rows and rules leave; they are finitely many."""
    found: set[str] = set()
    layer = {""}
    while layer:
        # A word is longer by a block than one that is left, too: what excludes a word excludes
        # whatever continues it.
        layer = {
            word + letter
            for word in layer
            for letter in labels
            if not word.endswith(letter)
            and all(row.allows(word + letter) for row in rows)
            and not any(
                _contains(word + letter, rule) or _contains(word + letter, rule[::-1])
                for rule in excluded
            )
        }
        found |= layer
    return frozenset(word for word in found if set(labels) - {"O"} <= set(word))


def _contains(word: str, scattered: str) -> bool:
    """Tell whether the letters occur in a word in this order."""
    letters = iter(word)
    return all(letter in letters for letter in scattered)


@cache
def forms(word: str) -> frozenset[str]:
    """Return what a word reads as, forwards or backwards, when some blocks are empty."""
    found = set()
    for turned in (word, word[::-1]):
        for here in product((False, True), repeat=len(turned)):
            text = "".join(letter for letter, kept in zip(turned, here, strict=True) if kept)
            found.add(re.sub(r"(.)\1+", r"\1", text))
    return frozenset(found)
