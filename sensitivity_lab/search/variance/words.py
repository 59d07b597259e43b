"""The words that a variance or standard deviation is searched over.

Along the sorted universe, a pair of datasets reads as a word: a letter per block of records, A
(only in x), B (only in y), C (in both) and O (in neither); x has the larger variance.
The *sign table* says which letters cannot lie between which others in an optimal pair: as one
record, the mover, takes other places among them, the difference of the variances is convex in its
place, so an end is better. The *rules* exclude a few words more, and only finitely many words are
left. A kernel searches all pairs that read as its word, with some blocks empty or back to front.
See "One mover", "Pairs of labels" and "Variance and standard deviation: records of both" in
docs/proofs.md; the tests certify the table and each rule, and derive `words_of` from them.
"""

from __future__ import annotations

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
    """Return the words that one of the best pairs reads as.

    No O lies between two C: x is not the smaller set, or sd(x) is large enough beside sd(y).

    Parameters
    ----------
    kept, only_x, only_y : int
        How many records x and y share, and how many each has for itself, at least 1.

    Returns
    -------
    tuple of str
        Of `AROUND`, `PARTED` and `INTERRUPTED`, in this order, those that are needed.
    """
    words = [AROUND]
    if 0 < kept < only_y:
        words.append(PARTED)
    # Of pairs that replace one record none is interrupted.
    if kept > only_y and (only_x, only_y) != (1, 1):
        words.append(INTERRUPTED)
    return tuple(words)
