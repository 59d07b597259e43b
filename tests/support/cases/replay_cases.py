"""A mechanism with a budget, and an adaptive release, for audits with a replay."""

from __future__ import annotations

import statistics

from sensitivity_lab.audits import audit_recorded


class Noise:
    """A mechanism with a share of the budget."""

    def __init__(self, sensitivity, epsilon=1):
        self.sensitivity, self.epsilon = sensitivity, epsilon

    def randomise(self, value):
        return value + 1000


def around_the_median(x, claims=(10, 2)):
    """A noisy median, and the sum of the distances from it, clipped to 1 on each side."""
    center = Noise(claims[0]).randomise(statistics.median(x))
    return Noise(claims[1]).randomise(sum(min(max(one - center, -1), 1) for one in x))


def audited(function, universe=(0, 4, 5, 10), size=3, **options):
    given = {"neighbors": "bounded", "every_order": False, **options}
    return audit_recorded(function, universe, size, Noise, **given)
