"""Transformations of OpenDP that the tests of its audits are about."""

from __future__ import annotations

import pytest

dp = pytest.importorskip("opendp.prelude", reason="needs the extra `opendp`")


def integers(size=None, **options):
    return dp.vector_domain(dp.atom_domain(**{"T": int, **options}), size)


def clamped_sum():
    return (integers(), dp.symmetric_distance()) >> dp.t.then_clamp((0, 3)) >> dp.t.then_sum()


def of_function(function, inputs=None, outputs=None, domain=None, answers=None, claim=7):
    """A transformation of a Python function, which OpenDP does not serialise."""
    return dp.t.make_user_transformation(
        domain or integers(),
        inputs or dp.symmetric_distance(),
        answers or dp.atom_domain(T=int),
        outputs or dp.absolute_distance(T=int),
        function,
        lambda _: claim,
    )
