"""How much memory the global search for the variance needs, in closed form."""

from __future__ import annotations

import numpy as np

from sensitivity_lab.problem import Problem
from sensitivity_lab.search.layouts import CALL, REAL, WORD, IntegerBytes, most_copies, takes_arrays
from sensitivity_lab.universes.universe import of_numbers

from .branch import AT_ONCE as NODES
from .float_prefix_sums import AT_ONCE, EXPANDED, WIDTHS, limb_width
from .patterns import CHUNK


def bytes_of(problem: Problem) -> int:
    """Return what the search needs.

    The sorted universe with its sums in limbs, and as floats; the nodes, or placements, that are
    looked at at a time.
    """
    counts = problem.universe.multiplicities(most_copies(problem))
    values, records = len(counts), int(counts.sum())
    integers = IntegerBytes.of(problem.universe)
    compact = records > max(EXPANDED, values)
    width = limb_width(records) or WIDTHS[-1]
    # A square of a centered value has twice the bits; a sign takes one.
    limbs = (integers.spread + 1) // width + (2 * integers.spread + 1) // width + 2
    held = 2 * values if compact else records
    sums = WORD * limbs * held
    places = values * (4 * WORD + 2 * REAL)
    if not takes_arrays(of_numbers(problem.universe), most_copies(problem)):
        places += values * integers.kept
    if values < records and not compact:
        places += 2 * WORD * records
    made = CALL + min(AT_ONCE, values) * (12 * WORD + 8 * (WORD + integers.spread // 4))
    changes = [len(steps.removed) for steps in problem.steps]
    queries = len(problem.queries)
    row = WORD * limbs
    both = [(steps, (steps.removed > 0) & (steps.added > 0)) for steps in problem.steps]
    passing = min(CHUNK, records) * (3 * row + 16 * REAL)
    # Where B outnumbers C, a row for every place of C, with what is outside it.
    parted = [
        (records - 2 * kept)[some & (kept < np.maximum(steps.removed, steps.added))] + 1
        for steps, some in both
        for kept in [steps.size - steps.removed]
    ]
    passing += int(np.concatenate(parted).max(initial=0)) * (6 * row + 40 * REAL)
    nodes = min(NODES, max(2 * records, 14 * max(changes)))
    passing = max(passing, nodes * 40 * REAL)
    # Where y is nearly all records, every split of two ends is looked at.
    ends = [
        np.maximum(steps.size, steps.size - steps.removed + steps.added)[some]
        + np.minimum(steps.removed, steps.added)[some]
        for steps, some in both
    ]
    if int(np.concatenate(ends).max(initial=0)) >= records:
        passing = max(passing, 16 * REAL * records)
    # Sums as floats, by position or by value, and what is there while they are made.
    passing = held * 3 * REAL + max(3 * WORD * held, passing)
    found = sum(changes) * queries * 1500 + len(problem.neighbors) * queries * 500
    return int(sums + places + max(made, passing + found))
