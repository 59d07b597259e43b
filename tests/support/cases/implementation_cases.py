"""What the tests of code on ordered datasets ask for."""

from __future__ import annotations

import operator

import sensitivity_lab as sl

DOMAIN = sl.Universe.from_domain([0, 1, 2])


def ask(query=operator.itemgetter(0), universe=DOMAIN, **options):
    return sl.implementations.implemented_sensitivity(
        universe, query, **{"size": 2, "neighbors": sl.Bounded(1), **options}
    )
