"""Noise that code makes of uniform draws, as the inverse of a distribution function does.

The logarithm of a uniform draw is exponential noise with a minus, and that of exponential noise is
Gumbel noise with a minus. Exponential noise with a random sign, and the difference of two such
draws, is Laplace noise. See docs/proofs.md, "Affine laws": *Noise by inversion*.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .runs import Leaf
from .stops import OutsideError
from .symbols import EXPONENTIAL, GUMBEL, LAPLACE, Draw, Symbol, whole_noise


def folded(leaves: Sequence[Leaf]) -> list[Leaf]:
    """Return leaves with Laplace draws in the place of the exponential ones that make them.

    Raises
    ------
    OutsideError
        If exponential or Gumbel noise is left.
    """
    found = list(map(_differences, leaves))
    # What is left may be draws whose sign another draw decides: there is a leaf for each sign.
    drawn = {draw for leaf in found for draw in _left_over(leaf)}
    # Draw by draw, in every leaf: with two signs, four leaves become two and then one.
    for draw in sorted(one for one in drawn if one.kind == EXPONENTIAL):
        done: list[Leaf] = []
        # Leaves by what they release. Another one of equal mass that has the opposite sign looks up
        # the same key, with its own sign turned.
        waiting: defaultdict[Hashable, list[Leaf]] = defaultdict(list)
        for leaf in found:
            # Two ways, equally likely, that differ in the sign of a draw: its sign is random.
            if draw not in _left_over(leaf):
                done.append(leaf)
            elif others := waiting[_but_for_a_sign(leaf, draw, -1)]:
                done.append(_as_laplace(replace(others.pop(), mass=2 * leaf.mass), draw))
            else:
                waiting[_but_for_a_sign(leaf, draw, 1)].append(leaf)
        found = [*done, *(leaf for alone in waiting.values() for leaf in alone)]
    for leaf in found:
        if left := _left_over(leaf):
            kinds = [draw.kind for draw in left]
            raise OutsideError(f"releases {min(kinds)} noise; {whole_noise(kinds)}")
    return found


def _left_over(leaf: Leaf) -> Counter[Draw]:
    """Return in how many released numbers each draw of exponential or Gumbel noise is."""
    draws = (draw for one in leaf.symbols.values() for draw in one.terms)
    return Counter(draw for draw in draws if draw.kind in (EXPONENTIAL, GUMBEL))


def _differences(leaf: Leaf) -> Leaf:
    """Put a Laplace draw in the place of each difference of two draws that are in one number."""
    released = _left_over(leaf)
    for one in leaf.symbols.values():
        waiting: dict[Fraction, Draw] = {}
        for draw, factor in one.terms.items():
            # A second number with one of the draws would depend on the difference.
            if draw.kind != EXPONENTIAL or released[draw] > 1:
                continue
            # By its factor: a draw that waits for one with the opposite factor.
            if (other := waiting.pop(-factor, None)) is None:
                waiting[factor] = draw
            else:
                leaf = _as_laplace(leaf, other, draw)
    return leaf


def _as_laplace(leaf: Leaf, draw: Draw, other: Draw | None = None) -> Leaf:
    """Return a leaf with a Laplace draw in the place of a draw, and without another one."""

    def changed(one: Symbol) -> Symbol:
        # All noise is numbered together, so no Laplace draw has this number yet.
        laplace = Draw(LAPLACE, draw.number)
        terms = {laplace if at == draw else at: a for at, a in one.terms.items() if at != other}
        return Symbol(one.run, terms, one.constant, one.whole)

    return replace(leaf, symbols={path: changed(one) for path, one in leaf.symbols.items()})


def _but_for_a_sign(leaf: Leaf, draw: Draw, sign: int) -> Hashable:
    """Return what a leaf releases, with the sign of a draw turned by `sign`.

    Leaves that differ in that sign alone have it in common.
    """

    def terms(one: Symbol) -> frozenset[Any]:
        return frozenset((at, sign * a if at == draw else a) for at, a in one.terms.items())

    rest = frozenset((path, part) for path, part in leaf.parts.items() if path not in leaf.symbols)
    symbols = frozenset((path, one.constant, terms(one)) for path, one in leaf.symbols.items())
    groups = tuple((paths, frozenset(table.items())) for paths, table in leaf.groups)
    return rest, symbols, groups, leaf.mass
