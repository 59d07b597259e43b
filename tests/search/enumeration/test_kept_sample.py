"""Which of the kept answers are asked for again, before a search goes on with them."""

from __future__ import annotations

import numpy as np
import pytest

from sensitivity_lab.search.again import SAMPLE
from sensitivity_lab.search.enumeration.kept import KeptSample, Recipe


def sample_of(lengths):
    """What is chosen of blocks of a level; the answer on a dataset is its number."""
    sample, first = KeptSample(), 0
    for length in lengths:
        numbers = np.arange(first, first + length, dtype=float)
        sample.add(Recipe(3, first, first + length), [numbers, numbers + 0.5])
        first += length
    return sample.chosen


@pytest.mark.parametrize("lengths", [[1], [5], [10, 22], [33], [1, 40, 2], [10] * 20, [500, 1]])
def test_the_first_and_the_last_of_what_is_kept_are_asked_for(lengths):
    total, drawn = sum(lengths), set()
    for _ in range(10):
        chosen = sample_of(lengths)
        places = [one.first for one, _ in chosen]
        assert len(places) == len(set(places)) == min(total, SAMPLE)
        assert {0, total - 1} <= set(places)
        assert all((one.size, one.last) == (3, one.first + 1) for one, _ in chosen)
        assert [(of_one.tolist(), of_other.tolist()) for _, (of_one, of_other) in chosen] == [
            ([place], [place + 0.5]) for place in places
        ]
        drawn.add(tuple(sorted(places)))
    assert len(drawn) > 1 or total <= SAMPLE + 1


@pytest.mark.parametrize("lengths", [(20, 33), (1, 40), (40, 1), (40, 40)])
def test_datasets_of_two_levels_are_chosen_from(lengths):
    for _ in range(30):
        sample = KeptSample()
        for size, length in zip((3, 4), lengths, strict=True):
            sample.add(Recipe(size, 0, length), [np.arange(float(length))])
        chosen = {(one.size, one.first) for one, _ in sample.chosen}
        assert len(chosen) == len(sample.chosen) == SAMPLE
        assert {(3, 0), (4, lengths[1] - 1)} <= chosen
