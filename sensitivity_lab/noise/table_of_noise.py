"""Noise for several answers released together, each with its share of the privacy loss.

The result has a row for each, and their total privacy loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from typing import Any, Literal

import pandas as pd

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_positive, listed, names_of, rounded_up, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import round_up
from sensitivity_lab.results.curves_result import SensitivityCurves
from sensitivity_lab.results.noise_context import NoiseContext
from sensitivity_lab.results.reprs import Tabled

from .mechanisms import (
    DELTAS,
    check_delta,
    check_public,
    check_together,
    noise_context_of,
    root_up,
)
from .scales import ANALYTIC_GAUSSIAN, EPSILONS, LAPLACE


@dataclass(frozen=True)
class NoiseRow:
    """The noise of one answer. All numbers are rounded up.

    Attributes
    ----------
    name : str
        The name of the result.
    sensitivity : float
        In the answer's unit: L1 for Laplace noise, L2 for Gaussian noise.
    epsilon, delta : float
        The answer's share of the privacy loss; delta is 0 for Laplace noise.
    noise : {"Laplace", "Gaussian"}
    scale : float
        In the answer's unit: b of Laplace noise, the standard deviation of Gaussian noise.
    expected_error : float
        The expected absolute value of the noise on each number of the answer, in its unit.
    neighbors : str
        What the sensitivity is for: the relation with its distance, or the protected unit of a
        chain; "given" for a number, of which nothing is known.
    k : int or None
        The distance; None for a number.
    size : str or None
        The sizes of the datasets, and whether their number of records must be public.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> row = sl.noise.noise_table({"sum": 10, "count": 1}, epsilon=1).rows[0]
    >>> row.name, row.epsilon, row.scale
    ('sum', 0.5, 20.0)
    """

    name: str
    sensitivity: float
    epsilon: float
    delta: float
    noise: Literal["Laplace", "Gaussian"]
    scale: float
    expected_error: float
    neighbors: str = "given"
    k: int | None = None
    size: str | None = None


@dataclass(frozen=True, repr=False)
class NoiseTable(Tabled):
    """The noise of several answers released together.

    Attributes
    ----------
    rows : tuple of NoiseRow
        In the order of the results.
    epsilon, delta : float
        The privacy loss of all releases together; delta is 0 for Laplace noise.
    neighbors : str or None
        The relation of all rows, with its distance; None unless they share it.
    k : int or None
        The distance of all rows.
    size : str or None
        The sizes of all rows.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> sl.noise.noise_table({"sum": 10, "count": 1}, epsilon=1)
    Laplace noise of 2 answers, epsilon 1 in all
           sensitivity  epsilon  scale  expected_error
    sum             10      0.5     20              20
    count            1      0.5      2               2
      given      the sensitivities are your own: in L1, for your neighbors; nothing is checked
    """

    rows: tuple[NoiseRow, ...]
    epsilon: float
    delta: float

    @property
    def neighbors(self) -> str | None:
        """The relation of all rows, with its distance; None unless they share it."""
        shared = self._shared("neighbors")
        return None if shared == "given" else shared

    @property
    def k(self) -> int | None:
        """The distance of all rows; None unless they share it."""
        number: int | None = self._shared("k")
        return number

    @property
    def size(self) -> str | None:
        """The sizes of all rows; None unless they share them."""
        sizes: str | None = self._shared("size")
        return sizes

    def _shared(self, field: str) -> Any:
        """Return what all rows have in common; None if they differ."""
        found = {getattr(row, field) for row in self.rows}
        return found.pop() if len(found) == 1 else None

    def __iter__(self) -> Iterator[NoiseRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return super().__repr__() + "".join(f"\n  {word:9}  {text}" for word, text in self._basis)

    def _repr_html_(self) -> str:
        lines = "".join(f"<p>{word}: {escape(text)}</p>" for word, text in self._basis)
        return super()._repr_html_() + lines

    @property
    def _basis(self) -> list[tuple[str, str]]:
        """What the rows are for, below the table: one line if they share it."""
        lines = []
        if self.neighbors:
            lines.append(("neighbors", "; ".join(filter(None, [self.neighbors, self.size]))))
        given = [row.name for row in self.rows if row.neighbors == "given"]
        if given:
            norm = "L1" if self.rows[0].noise == "Laplace" else "L2"
            of = "" if len(given) == len(self.rows) else f" of {', '.join(given)}"
            lines.append(
                (
                    "given",
                    f"the sensitivities{of} are your own: in {norm}, for your neighbors; nothing "
                    "is checked",
                )
            )
        return lines

    def to_frame(self) -> pd.DataFrame:
        """Return a row per answer.

        Returns
        -------
        pandas.DataFrame
            name, sensitivity, epsilon, delta, noise, scale, expected_error, neighbors, k, size,
            as in `NoiseRow`.
        """
        return pd.DataFrame([vars(row) for row in self.rows])

    def _table(self) -> pd.DataFrame:
        frame = self.to_frame()
        shown = ["sensitivity", "epsilon", *(["delta"] if self.delta else [])]
        table = frame[[*shown, "scale", "expected_error"]].copy()
        for name in table.columns:
            told = _share if name in ("epsilon", "delta") else rounded_up
            table[name] = [float(told(number, digits=6)) for number in table[name]]
        if not self.neighbors and set(frame["neighbors"]) != {"given"}:
            basis = frame[["neighbors", "size"]].apply(
                lambda row: row.dropna().str.cat(sep="; "), axis=1
            )
            table["neighbors"] = basis
        table.index = pd.Index(list(frame["name"]))
        return table

    @property
    def _title(self) -> str:
        number = len(self.rows)
        of_delta = f", delta {_share(self.delta)}" if self.delta else ""
        return (
            f"{self.rows[0].noise} noise of {number} answer{'s' * (number != 1)}, epsilon "
            f"{_share(self.epsilon)}{of_delta} in all"
        )


def _share(number: float, digits: int = 10) -> str:
    """Return a share of the privacy loss, which is a rational rounded up, as text.

    No float is 1e-6, and the next float above it would read 1.000000001e-06: more than was asked
    for. So a decimal that the float stands for is told as it is.
    """
    # The float is a share rounded up: if the short decimal, rounded up, is this float, it may be
    # told.
    written = f"{number:.{digits}g}"
    return written if round_up(Fraction(written)) == number else rounded_up(number, digits=digits)


_MEAN_OF_NORMAL = Fraction("0.79788456080286535588")
"""sqrt(2 / pi), rounded up: the expected absolute value of a standard normal draw."""

_ACCEPTED = (
    "a result of sl.global_sensitivity or a chain, several of them, or a mapping of names to these"
)


@public_call
def noise_table(
    results: Any,
    *,
    epsilon: Any,
    delta: Any = None,
    split: Any = None,
    public_universe: bool = False,
) -> NoiseTable:
    """Return the noise that each of several answers needs, if they are released together.

    Every answer gets its own noise and its share of the privacy loss. The shares add up to epsilon
    (sequential composition). With a `delta` the noise is Gaussian, and delta is divided like
    epsilon.

    Parameters
    ----------
    results : result, iterable of results, SensitivityCurves, or mapping of name to result
        Global sensitivities of neighbors "at most" k apart, or chains of `sl.pipelines`, all for
        one neighbor relation, one k and the same sizes: privacy losses add up only for these. A
        mapping may also have numbers, as in `sl.noise.laplace_scale`. A number is your own claim:
        the table shows it as "given", and nothing about it is checked. Curves must have one
        distance. Sensitivities of vector answers must be in L1, or in L2 with a `delta`.
    epsilon : int, float, Fraction or Decimal
        The privacy loss of all releases together, above 0; with a `delta`, each share must be from
        1e-9 to 100.
    delta : int, float, Fraction or Decimal, optional
        The probability of a larger loss, for all releases together; each share must be from 1e-100
        to 0.5. By default the noise is Laplace noise, and the releases are epsilon-differentially
        private.
    split : iterable of numbers, or mapping of name to number, optional
        The weights of the shares, above 0, in any unit; equal by default.
    public_universe : bool, default False
        As for `laplace_scale`.

    Returns
    -------
    NoiseTable
        A row per answer: name, sensitivity (the result's `upper`), its share of epsilon and delta,
        noise, scale (in the answer's unit), and the expected absolute error of each of its numbers:
        b for Laplace noise, ``sigma sqrt(2 / pi)`` for Gaussian noise. Every number is rounded up.
        Each row also has its relation, k and size. Printed, the table ends with them if all rows
        share them.

    Raises
    ------
    InputError
        If an argument is not acceptable; if a result has no finite upper bound, is in another norm,
        local, smooth, or for neighbors at exactly some distance (the message says what to use); if
        the results are for different neighbors; or if two results have the same name.

    Warns
    -----
    DatasetUniverseWarning, PrivateSizeWarning
        As for `laplace_scale`.

    See Also
    --------
    laplace_scale, analytic_gaussian_scale

    Notes
    -----
    Universes and sizes of the results must be public, as for `sl.noise.laplace_scale`. Scales are
    computed from the exact shares. The table shows the shares rounded up, so they can add up to a
    little more than the whole.

    References
    ----------
    Balle, Wang, "Improving the Gaussian Mechanism for Differential Privacy" (ICML 2018), Theorem 8.
    Dwork, Roth, "The Algorithmic Foundations of Differential Privacy" (2014), Theorem 3.16.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> ages = sl.Universe.from_domain(range(0, 101, 10))
    >>> results = [
    ...     sl.global_sensitivity(ages, query, size=100, neighbors=sl.Bounded(1))
    ...     for query in ("mean", "median", "count_distinct")
    ... ]
    >>> noise_table(results, epsilon=1, split={"mean": 1, "median": 2, "count_distinct": 1})
    Laplace noise of 3 answers, epsilon 1 in all
                    sensitivity  epsilon  scale  expected_error
    mean                      1     0.25      4               4
    median                   50      0.5    100             100
    count_distinct            1     0.25      4               4
      neighbors  bounded, at most 1; size 100 (public)
    """
    named = _named(results)
    contexts = {name: noise_context_of(result) for name, result in named.items()}
    check_together(contexts)
    loss = check_positive("epsilon", epsilon)
    chance = check_delta.or_none("delta", delta)
    shares = shares_of(split, list(named))
    rows = tuple(
        replace(
            _noise_row(name, result, share * loss, None if chance is None else share * chance),
            **_basis(contexts[name]),
        )
        for (name, result), share in zip(named.items(), shares, strict=True)
    )
    check_public(
        {f"results[{shown(name)}]": result for name, result in named.items()}, public_universe
    )
    return NoiseTable(rows, round_up(loss), 0.0 if chance is None else round_up(chance))


def _basis(context: NoiseContext | None) -> dict[str, Any]:
    """Return what a sensitivity is for, as fields of a row; none of a number that is given."""
    if context is None:
        return {}
    fixed = " (public)" * any(one.startswith("the number of records") for one in context.public)
    return {
        "neighbors": str(context.neighbors),
        "k": context.neighbors.k,
        "size": context.size + fixed,
    }


def _noise_row(name: str, result: Any, epsilon: Fraction, delta: Fraction | None) -> NoiseRow:
    """Return the noise of one answer for its share, all numbers rounded up."""
    label = f"results[{shown(name)}]"
    mechanism = LAPLACE if delta is None else ANALYTIC_GAUSSIAN
    # The scale is computed from the square of the sensitivity, which is exact if known.
    square = mechanism.square(result, label)
    bound = root_up(square)
    if delta is None:
        scale = mechanism.scale(square, epsilon)
        return NoiseRow(name, bound, round_up(epsilon), 0.0, "Laplace", scale, scale)
    for what, share, limits in (("epsilon", epsilon, EPSILONS), ("delta", delta, DELTAS)):
        _check_share(what, name, share, limits)
    # From the exact share: what the table shows of it is rounded up.
    scale = mechanism.scale(square, epsilon, delta)
    error = round_up(Fraction(scale) * _MEAN_OF_NORMAL)
    return NoiseRow(name, bound, round_up(epsilon), round_up(delta), "Gaussian", scale, error)


def _check_share(what: str, name: str, share: Fraction, limits: tuple[Fraction, Fraction]) -> None:
    """Raise InputError if a share is outside the range of Gaussian noise."""
    least, most = limits
    if not least <= share <= most:
        where = "below" if share < least else "above"
        raise InputError(
            f"{what}: the share of {shown(name)} is {where} the range that Gaussian noise "
            f"supports, {float(least):g} to {float(most):g}; choose another {what} or split"
        )


def _named(results: Any) -> dict[str, Any]:
    """Return the results by name, or raise InputError."""
    if isinstance(results, Mapping):
        pairs = list(results.items())
        strange = [name for name, _ in pairs if not isinstance(name, str)]
        if strange:
            raise InputError(f"the names of results must be texts, got {shown(strange[0])}")
    elif isinstance(results, SensitivityCurves):
        _check_distances(results)
        columns = {column for column, _ in results}
        pairs = [
            (point.query.name + (f" of {column}" if len(columns) > 1 else ""), point)
            for column, point in results
        ]
    else:
        wrong = f"results must be {_ACCEPTED}"
        alone = noise_context_of(results) is not None or not isinstance(results, Iterable)
        pairs = []
        for result in [results] if alone else listed(results, wrong):
            context = noise_context_of(result)
            if context is None:
                raise InputError(f"{wrong}, got {shown(result)}; a number needs a name")
            pairs.append((context.query, result))
    if not pairs:
        raise InputError(f"results must be {_ACCEPTED}, got none")
    named = dict(pairs)
    if len(named) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"two results are called {shown(twice)}; pass a mapping of names to results"
        )
    return named


def _check_distances(curves: SensitivityCurves) -> None:
    """Raise InputError for curves over several distances: a release is for one."""
    distances = sorted({point.neighbors.k for _, point in curves})
    if len(distances) > 1:
        raise InputError(
            f"results: the curves have the distances {', '.join(map(str, distances))}, but noise "
            "is for one; compute curves with one distance, or pick results with "
            "curves.result(query, distance=...)"
        )


def shares_of(split: Any, names: list[str]) -> list[Fraction]:
    """Return each answer's share of the privacy loss; the shares add up to 1."""
    if split is None:
        return [Fraction(1, len(names))] * len(names)
    accepted = "a number above 0 for each result, or a mapping of their names to such numbers"
    if isinstance(split, Mapping):
        given = dict(split)
        if set(given) != set(names):
            raise InputError(
                f"split must be {accepted}; the names are {names_of(names)}, got "
                f"{', '.join(map(shown, given)) or 'none'}"
            )
        weights = [given[name] for name in names]
    else:
        weights = listed(split, f"split must be {accepted}")
        if len(weights) != len(names):
            raise InputError(
                f"split must be {accepted}; the results, in order: {names_of(names)}; got "
                f"{len(weights)} number{'s' * (len(weights) != 1)}"
            )
    exact = [
        check_positive(f"split[{shown(name)}]", weight)
        for name, weight in zip(names, weights, strict=True)
    ]
    # Fractions: the shares add up to 1 exactly.
    return [weight / sum(exact) for weight in exact]
