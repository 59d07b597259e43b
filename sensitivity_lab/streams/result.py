"""The result: how much one person can change what a stream releases, and with which contributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from sensitivity_lab.checks import number_text
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.exact.difference import round_down
from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.results.literals import brief
from sensitivity_lab.results.noise_context import NoiseContext, Things
from sensitivity_lab.results.reprs import Tabled, certainty, in_table, rounded_down
from sensitivity_lab.results.result import Found
from sensitivity_lab.results.verification import Stated

from .search import Rule
from .solving import Contribution, Contributions, Question, measure
from .stream import Stream
from .vectors import certifies, upper_square

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_THINGS = Things(data="stream", parts="steps", room="sl.streams")


class Neighbors(NamedTuple):
    """Which streams are neighbors, as noise compares them."""

    k: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class ParticipationWitness:
    """The contributions of a person to two neighboring streams.

    Attributes
    ----------
    x, y : dict
        By step, counted from 0: a number, or a vector in a tuple. y is empty for "zero-out".
    """

    x: Contributions
    y: Contributions


@dataclass(frozen=True, repr=False)
class ParticipationSensitivity(Found):
    """How much one person can change what a stream releases, with its proof.

    Attributes
    ----------
    value : float
        The float nearest to the sensitivity, in the unit of the entries; `upper` where only bounds
        are known.
    exact : Fraction or None
        The sensitivity as a rational; None if it is a root, or if only bounds are known.
    lower : float
        What the witness changes, rounded down.
    upper : float
        No contributions change more: rounded up.
    status : {"exact", "bounds"}
        "exact" if the witness attains the sensitivity. Else it is from `lower` to `upper`.
    witness : ParticipationWitness
    certificate : dict or None
        Of vectors, by the steps of the witness, numbers l such that Diag(l) - X is positive
        semidefinite: on this pattern no vectors change more than the root of their sum. Other
        patterns are the search's claim.
    method : str
    k, separation : int
    pattern : {"at least", "fixed"}
    contribution : {"number", "one"} or int
    neighbors : {"zero-out", "replace"}
    norm : {"L1", "L2", "Linf"}
    stream : Stream
        The matrix.

    See Also
    --------
    participation_sensitivity : Compute it.
    """

    value: float
    exact: Fraction | None
    lower: float
    upper: float
    status: Literal["exact", "bounds"]
    witness: ParticipationWitness
    certificate: Mapping[int, float] | None
    method: str
    question: Question
    stream: Stream = field(compare=False)
    arithmetic: Literal["exact"] = "exact"
    kind: Literal["global"] = "global"

    @property
    def query(self) -> str:
        """The release in words."""
        return f"noise through {self.stream.text}"

    @property
    def k(self) -> int:
        """The most participations of a person."""
        return self.question.rule.k

    @property
    def separation(self) -> int:
        """The fewest steps from one participation to the next; if fixed, the number of them."""
        return self.question.rule.separation

    @property
    def pattern(self) -> Literal["at least", "fixed"]:
        """Whether participations may be further apart."""
        return "fixed" if self.question.rule.fixed else "at least"

    @property
    def contribution(self) -> Contribution:
        """What a participation is."""
        return self.question.contribution

    @property
    def neighbors(self) -> Literal["zero-out", "replace"]:
        """What of a person differs."""
        return self.question.neighbors

    @property
    def norm(self) -> Norm:  # type: ignore[override]
        """The norm of the difference of two releases."""
        return self.question.norm

    @property
    def _norm(self) -> Norm:
        return self.norm

    @property
    def _pair(self) -> dict[str, Any]:
        return vars(self.witness)

    def _shown(self, dataset: Any) -> str:
        return brief(dataset)

    def again(self) -> list[Stated]:
        """Measure the contributions again, and check them and the certificate."""
        rule, (x, y) = self.question.rule, self._pair.values()
        for steps in (tuple(x), tuple(y)):
            gaps = np.diff(steps)
            far = (gaps == rule.separation) if rule.fixed else (gaps >= rule.separation)
            inside = not steps or 0 <= steps[0] <= steps[-1] < rule.steps
            if len(steps) > rule.k or not far.all() or not inside:
                raise VerificationError(f"nobody takes part at steps {steps}: {self.setting}")
        for one in (*x.values(), *y.values()):
            large = [Fraction(entry) ** 2 for entry in (one if isinstance(one, tuple) else (one,))]
            if sum(large) > 1 or (self.contribution == "one" and one != 1):
                raise VerificationError(f"{one} is no contribution: {self.setting}")
        if self.certificate is not None:
            exact = self.stream.exact_gram(list(self.certificate))
            l = np.array(list(self.certificate.values()))
            scale = 4 if self.question.opposite else 1
            if not certifies(exact, l) or upper_square(l) * scale > self.upper**2 * (1 + 1e-12):
                raise VerificationError("the certificate does not prove the upper bound")
        far = measure(self.stream, x, y, self.norm)
        stated: list[Stated] = [("lower bound", self.lower, round_down(far.bracket()[0]))]
        if self.status == "exact":
            stated += [
                ("value", self.value, far.nearest()),
                ("exact value", self.exact, far.exact),
                ("upper bound", self.upper, far.upper()),
            ]
        return stated

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        return NoiseContext(
            query=self.query,
            kind="global",
            norm=self.norm,
            neighbors=Neighbors(self.k, self.setting),
            exactly=False,
            sizes=(),
            size="",
            upper=self.upper,
            things=_THINGS,
            public=("the matrix, and how often and how far apart a person can take part",),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects."""
        return {
            "query": self.query,
            "k": self.k,
            "separation": self.separation,
            "pattern": self.pattern,
            "contribution": self.contribution,
            "neighbors": self.neighbors,
            "norm": self.norm,
            "sensitivity": self.value,
            "exact": None if self.exact is None else number_text(self.exact),
            "lower": self.lower,
            "upper": self.upper,
            "status": self.status,
            "method": self.method,
            "x": dict(self.witness.x),
            "y": dict(self.witness.y),
            "certificate": None if self.certificate is None else dict(self.certificate),
        }

    def plot(self, *, ax: Axes | None = None, title: str | None = None) -> Axes:
        """Draw the witness over the steps, and how far it moves each number that is released.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.
        title : str, optional
            By default the sensitivity and what a person can do.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from sensitivity_lab.plotting.pattern import plot_pattern

        marks = {"x": {t: _size(one) for t, one in self.witness.x.items()}}
        if self.witness.y:
            marks["y"] = {t: _size(one) for t, one in self.witness.y.items()}
        moved = None if self.stream.is_gram else self._moved()
        return plot_pattern(
            marks,
            self.stream.steps,
            moved,
            title=f"{self._title}\n{self.setting}" if title is None else title,
            ax=ax,
        )

    def _moved(self) -> list[float]:
        """Return how far each number of the release is moved."""
        sides = [
            {t: np.atleast_1d(np.array(one, dtype=np.float64)) for t, one in side.items()}
            for side in self._pair.values()
        ]
        total: Any = 0
        for sign, side in zip((1, -1), sides, strict=True):
            for t, one in side.items():
                total = total + sign * np.outer(self.stream.factor[:, t], one)
        sizes = total[:, 0] if total.shape[1] == 1 else np.linalg.norm(total, axis=1)
        return [float(one) for one in sizes]

    @property
    def setting(self) -> str:
        """Which streams are neighbors, in words."""
        times = "once" if self.k == 1 else f"at most {self.k} times"
        return self.question.told(times)

    @property
    def _title(self) -> str:
        what = f"Sensitivity of {self.query}, {self.norm} norm"
        if self.status == "exact":
            text = self._text()
            return f"{what}: {text} ({certainty(text, 'exact', self.exact)})"
        return f"{what}: at most {self._text()} (bounds)"

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        gap = f"{rounded_down(self.lower)}, attained by x; upper / lower = "
        ratio = self.upper / self.lower if self.lower else np.inf
        return [
            *([] if self.status == "exact" else [("lower", f"{gap}{ratio:.6g}")]),
            ("neighbors", f"{self.setting} (public, with the matrix)"),
            ("x", brief(dict(self.witness.x))),
            *([("y", brief(dict(self.witness.y)))] if self.witness.y else []),
            ("method", self.method),
        ]


def _size(one: Any) -> float:
    return float(np.linalg.norm(one)) if isinstance(one, tuple) else float(one)


@dataclass(frozen=True, repr=False)
class ParticipationCurve(Tabled):
    """The sensitivities of a stream over the number of participations or their separation.

    Attributes
    ----------
    results : tuple of ParticipationSensitivity
        By k, and for each k by separation, in the order in which they were asked for.
    """

    results: tuple[ParticipationSensitivity, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a tidy DataFrame, a row per result."""
        return pd.DataFrame(one.to_dict() for one in self.results)

    def plot(self, **options: Any) -> Figure:
        """Draw the sensitivities; see `sensitivity_lab.plotting.plot_curves`.

        Parameters
        ----------
        **options
            Options of `plot_curves`, such as `title` and `logy`.

        Returns
        -------
        matplotlib.figure.Figure, or the Axes given as `ax`
        """
        from sensitivity_lab.plotting import plot_curves
        from sensitivity_lab.plotting._options import axes_of

        frame = self.to_frame()
        along, other = self._axis
        drawn: Figure = plot_curves(
            pd.DataFrame(
                {
                    "column": "release",
                    "query": [f"{other} = {one}" for one in frame[other]],
                    "neighbors": frame["neighbors"],
                    "meaning": "at most",
                    "distance": frame[along],
                    "size": self.results[0].stream.steps,
                    "sensitivity": frame["upper"],
                }
            ),
            **options,
        )
        given = options.get("ax")
        [panel] = drawn.axes if given is None else axes_of(given)
        panel.set_xlabel("participations k" if along == "k" else "separation (steps)")
        return drawn

    @property
    def _axis(self) -> tuple[str, str]:
        """What lies along the axis, and what tells the curves apart."""
        several = len({one.k for one in self.results}) > 1
        return ("k", "separation") if several else ("separation", "k")

    def _table(self) -> pd.DataFrame:
        """Return the upper bounds: rows for k, columns for the separation."""
        rows = pd.DataFrame(
            {
                "k": one.k,
                "separation": one.separation,
                "upper": in_table(one.value, one.upper, one.exact),
            }
            for one in self.results
        )
        return rows.pivot(index="k", columns="separation", values="upper")

    @property
    def _title(self) -> str:
        first = self.results[0]
        exact = all(one.status == "exact" for one in self.results)
        return (
            f"{'Sensitivity' if exact else 'Upper bounds of the sensitivity'} of {first.query}, "
            f"{first.norm} norm, by k and separation"
        )
