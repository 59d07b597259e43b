"""Seeds that a function gives to its generators: what they reveal about the noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sensitivity_lab.errors import QueryError
from sensitivity_lab.results.literals import short_literal

_Seen = dict[str, tuple[str, ...]]
"""By site, the seeds of one run."""


class Seeds:
    """The seeds of all runs."""

    def __init__(self) -> None:
        self._runs: list[tuple[list[Any], _Seen]] = []

    def keep(self, x: list[Any], seeds: list[tuple[str, str]]) -> None:
        """Keep what a run on a dataset seeded, and where."""
        seen: _Seen = {}
        for site, seed in seeds:
            seen[site] = (*seen.get(site, ()), seed)
        if seen:
            self._runs.append((x, seen))

    def judged(self, run: Callable[[list[Any]], Any]) -> list[str]:
        """Return a note on each seed that is the same in all runs.

        A seed that differs from run to run on the same dataset is random, or a counter.

        Parameters
        ----------
        run : callable
            Calls the function on a dataset again, which keeps its seeds.

        Raises
        ------
        QueryError
            If a seed depends on the data.
        """
        notes = []
        for site in dict.fromkeys(site for _, seen in self._runs for site in seen):
            x, seed = next((x, seen[site]) for x, seen in self._runs if site in seen)
            others = (
                (y, seen[site])
                for y, seen in self._runs
                if site in seen and short_literal(y) != short_literal(x) and seen[site] != seed
            )
            y, other = next(others, (x, seed))
            if not all(self._again(run, z, site) == one for z, one in ((x, seed), (y, other))):
                continue
            if other != seed:
                raise QueryError(
                    f"the seed of the noise depends on the data: {site} gets {_shown(seed)} on "
                    f"{short_literal(x)} and {_shown(other)} on {short_literal(y)}, so anyone "
                    "can check a guess of the data; make the generator without a seed"
                )
            notes.append(
                f"the generator is seeded in the function ({site} gets {_shown(seed)}): anyone "
                "who knows the seed can remove the noise"
            )
        return notes

    def _again(self, run: Callable[[list[Any]], Any], x: list[Any], site: str) -> Any:
        run(x)
        return self._runs[-1][1].get(site)


def _shown(seeds: tuple[str, ...]) -> str:
    return ", ".join(seeds[:3]) + (", ..." if len(seeds) > 3 else "")
