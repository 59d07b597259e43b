"""The result: how much one person changes what a stream releases, and by which contributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from sensitivity_lab.checks import Norm, number_text
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.exact.difference import round_down
from sensitivity_lab.results.literals import brief
from sensitivity_lab.results.noise_context import NoiseContext, Things
from sensitivity_lab.results.reprs import certainty, rounded_down
from sensitivity_lab.results.result import Found, Stated

from .search import Rule
from .solving import Contribution, Contributions, certifies, measure, root
from .stream import Stream

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    Examples
    --------
    >>> from sensitivity_lab import streams
    >>> streams.participation_sensitivity([1, -2], k=2).witness
    ParticipationWitness(x={0: 1, 1: -1}, y={})
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
        Of vectors, by the steps of x, numbers l such that Diag(l) - X is positive semidefinite: on
        this pattern no vectors have a larger square than their sum (four times it for "replace").
        That other patterns have no more is the search's claim.
    method : str
    k, separation : int
    pattern : {"at least", "fixed"}
    contribution : {"number", "one"} or int
    neighbors : {"zero-out", "replace"}
    norm : {"L2"}
    stream : Stream
        The matrix.

    See Also
    --------
    participation_sensitivity : Compute it.

    Examples
    --------
    >>> from sensitivity_lab import streams
    >>> found = streams.participation_sensitivity([1, 0.5, 0.25], k=2, neighbors="replace")
    >>> found.value, found.status, found.witness.y
    (3.905124837953327, 'exact', {0: -1, 1: -1})
    >>> found.verify()
    """

    value: float
    exact: Fraction | None
    lower: float
    upper: float
    status: Literal["exact", "bounds"]
    witness: ParticipationWitness
    certificate: Mapping[int, float] | None
    method: str
    k: int
    separation: int
    pattern: Literal["at least", "fixed"]
    contribution: Contribution
    neighbors: Literal["zero-out", "replace"]
    stream: Stream = field(compare=False)
    norm: Norm = "L2"

    @property
    def query(self) -> str:
        """The release in words."""
        return f"a stream of {self.stream.given.shape[1]:,} steps"

    def told(self, k: Any) -> str:
        """Return which streams are neighbors, in words."""
        apart = f"{'exactly' if self.pattern == 'fixed' else 'at least'} {self.separation} apart"
        kinds = {"number": "a number in [-1, 1]", "one": "exactly 1"}
        one = kinds.get(str(self.contribution), f"{self.contribution} numbers of L2 norm 1 or less")
        return (
            f"a person takes part at up to {k} steps, {apart}, each time with {one} "
            f"({self.neighbors})"
        )

    @property
    def _pair(self) -> dict[str, Any]:
        return vars(self.witness)

    @property
    def _norm(self) -> Norm:
        return self.norm

    def _shown(self, dataset: Any) -> str:
        return brief(dataset)

    def again(self) -> list[Stated]:
        """Measure the contributions again, and check them and the certificate."""
        rule = Rule(self.stream.given.shape[1], self.k, self.separation, self.pattern == "fixed")
        for side in self._pair.values():
            steps = tuple(side)
            large = any(np.sum(np.square(one)) > 1 for one in side.values())
            wrong = any(step not in rule.after(steps[:i]) for i, step in enumerate(steps))
            if large or wrong or len(side) > self.k:
                raise VerificationError(
                    f"nobody contributes {brief(dict(side))}: {self.told(self.k)}"
                )
        shown = self.certificate
        if shown and not certifies(self.stream.exact_gram(list(shown)), list(shown.values())):
            raise VerificationError("the certificate is not shown to bound what vectors do")
        far = root(measure(self.stream, **self._pair))
        exact = self.status == "exact"
        return [
            ("lower bound", self.lower, round_down(far.bracket()[0])),
            ("upper bound", self.upper, far.upper() if exact else max(self.upper, far.upper())),
            ("value", self.value, far.nearest() if exact else self.upper),
            ("exact value", self.exact, far.exact if exact else None),
        ]

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        return NoiseContext(
            query=self.query,
            kind="global",
            norm=self.norm,
            neighbors=Neighbors(self.k, self.told(self.k)),
            exactly=False,
            sizes=(),
            size="",
            upper=self.upper,
            things=Things(data="stream", parts="steps", room="sl.streams"),
            public=("the matrix, and how often and how far apart a person can take part",),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects."""
        facts = {**vars(self), **vars(self.witness), "query": self.query}
        facts["exact"] = None if self.exact is None else number_text(self.exact)
        return {name: one for name, one in facts.items() if name not in ("stream", "witness")}

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the contributions over the steps; of vectors, the first of their numbers.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from sensitivity_lab.plotting._picture import Picture

        picture = Picture.on(ax, (7, 2.4))
        for (name, side), mark in zip(self._pair.items(), ("C0o", "C1s"), strict=True):
            if side:
                heights = [np.ravel(one)[0] for one in side.values()]
                picture.ax.stem([*side], heights, mark[:2], markerfmt=mark, basefmt=" ", label=name)
        picture.ax.set_xlim(-1, self.stream.given.shape[1])
        picture.name_axes("step", "contribution")
        picture.title(f"{self._title}\n{self.told(self.k)}", 60)
        picture.legend_beside()
        return picture.ax

    @property
    def _title(self) -> str:
        text = self._text()
        known = certainty(text, "exact", self.exact) if self.status == "exact" else "upper bound"
        return f"Sensitivity of {self.query}: {text} ({known})"

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        bounds = self.status == "bounds"
        return [
            *[("lower", f"{rounded_down(self.lower)}, attained by x and y")] * bounds,
            ("neighbors", f"{self.told(self.k)}; the matrix is public; L2 norm"),
            *((name, brief(dict(side))) for name, side in self._pair.items() if side),
            ("method", self.method),
        ]
