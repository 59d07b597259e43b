"""From a table to its noise: the answers to release about one column, and code that computes them.

The answers are counts and sums, because their sensitivity does not depend on the number of rows.
That number is private: it depends on who is in the table, and on how many rows each person has.
Mean, standard deviation and median follow from the noisy counts and sums without further loss. The
printed text does not depend on the entries of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from sensitivity_lab import pipelines as pl
from sensitivity_lab.checks import check_choice, names_of, no_column, shown, whole_kind
from sensitivity_lab.errors import InputError
from sensitivity_lab.noise.table import noise_table
from sensitivity_lab.noise.table_result import NoiseTable

from .arguments import (
    COLUMNS,
    COPIES,
    DATA,
    DELTA,
    DIRECTION,
    DISTANCE,
    EMPTY,
    EPSILON,
    GROUP_BY,
    JOBS,
    MEMORY_LIMIT,
    METHOD,
    NEIGHBORS,
    PERSON,
    PUBLIC_UNIVERSE,
    REQUIRED_QUERIES,
    ROWS_PER_PERSON,
    SIZE,
    SPLIT,
)
from .given import Given
from .output import Answer
from .tables import MISSING, STANDARD_INPUT, exact_number, read_cells

MOST_BINS = 100
"""The most bins of a histogram; a domain of more values is grouped into these."""

ASKED = {
    "count": ("count",),
    "histogram": ("histogram",),
    "mean": ("count", "sum"),
    "median": ("histogram",),
    "std": ("count", "sum", "sum of squares"),
    "sum": ("sum",),
}
"""The statistics to choose from, and the noisy answers that each one needs."""

FOLLOWS = {
    "mean": "sum / count",
    "median": "the first bin at which the cumulative histogram reaches half of its total",
    "std": "the root of sum of squares / count - mean ** 2",
}
"""How to compute the statistics without noise of their own from the noisy answers."""

_ERRORS = (
    "The table has the errors of the noisy answers only. Step 5 of docs/how_to/noise.md estimates "
    "those of\nthe statistics above, with made-up data."
)
"""How far off the statistics without noise of their own are."""

_HIDDEN = (
    "The code gives NaN where the noise hides a statistic: the noisy count is below three times\n"
    "its scale, the mean is outside the domain, or the number under the root is negative."
)
"""Where there is no statistic."""

_TO_LIST = "...  # the names, as the file writes them"
"""What stands for the groups in the code, where their names are not given yet."""

_MISSING = [*MISSING, *map(str.upper, MISSING[1:]), "NaN", "None", "Null"]
"""Missing numbers in the cases that tables have."""

_HIDES = "noisy['count'] < 3 * scales['count'] * np.sqrt(added)"
"""Where a count is too small; noise that is added up grows with the root of the number of terms."""

_MEAN = [
    f"mean = (noisy['sum'] / noisy['count']).mask({_HIDES})",
    "mean = mean.where(mean.between(lower, upper))",
]

_PUBLISHED = {
    "count": ["published['count'] = noisy['count']"],
    "histogram": ["print(histogram.T.to_string())"],
    "mean": [*_MEAN, "published['mean'] = mean"],
    "median": [
        "up_to = histogram.cumsum(axis=1).to_numpy()",
        "middle = [int(np.argmax(row >= row[-1] / 2)) for row in up_to]",
        "published['median'] = [float(starts[place]) for place in middle]",
        "hides = 3 * scales['histogram'] * np.sqrt(added * len(starts))",
        "published['median'] = published['median'].mask(histogram.sum(axis=1) < hides)",
    ],
    "std": [
        *_MEAN,
        "variance = noisy['sum of squares'] / noisy['count'] - mean**2",
        "published['std'] = np.sqrt(variance.where(variance > 0))",
    ],
    "sum": ["published['sum'] = noisy['sum']"],
}
"""The code that publishes each statistic."""

_WITHOUT_PERSON = (
    " If no column identifies people, leave out --person; then something else must limit the rows "
    "of each, as the design of a study can"
)
"""What to do where the column of persons is not there."""

_OF_OTHERS = (
    *(COPIES, SIZE, EMPTY, PUBLIC_UNIVERSE, COLUMNS, NEIGHBORS, DIRECTION, DISTANCE),
    *(METHOD, MEMORY_LIMIT, JOBS),
)
"""Arguments that apply only to noise for a universe."""

_check_rows = whole_kind("the most rows that one person can have, at least 1")


def release(given: Given) -> Answer:
    """Find the noise for the counts and sums of one column, and write code that computes them."""
    for argument in _OF_OTHERS:
        if given.chose(argument) and (argument, given[argument]) != (NEIGHBORS, "unbounded"):
            raise InputError(
                f"{argument.name} does not apply to a table with a domain: there, neighbors add or "
                "remove one person, so the number of rows is private; set the most rows of one "
                "person with --rows-per-person"
            )
    found = Release.of(given)
    return Answer(
        text=found.text,
        data=lambda: {
            "column": found.column,
            "epsilon": found.noise.epsilon,
            "delta": found.noise.delta,
            "person": found.person,
            "rows_per_person": found.k,
            "group_by": found.by,
            "groups": found.groups,
            "rows": [vars(row) for row in found.noise],
            "follows": found.follows,
            "before": found.before,
            "code": found.code,
            "publish": found.publish,
        },
        table=lambda path, **_: found.noise.to_frame().to_csv(path, index=False),
        plot=found.noise.plot,
    )


@dataclass(frozen=True, kw_only=True)
class Release:
    """The answers to release about one column of a table.

    Attributes
    ----------
    path : str
        Of the CSV file.
    separator, decimal : str
        The character between columns, and the decimal point.
    column : str
        The column of numbers.
    domain : list of numbers
        Their possible values, ascending.
    person : str or None
        The column that identifies the person of each row.
    k : int
        The most rows of one person.
    by : str or None
        The column whose values are the groups.
    groups : list of str or None
        The groups, in the order of the answers; None also if their names are not given yet.
    asked : list of str
        The chosen keys of `ASKED`.
    epsilon, delta : exact number, or None for delta
        The privacy loss of all answers together.
    split : list of exact numbers, or None
        The weights of the answers' shares.
    """

    path: str
    separator: str
    decimal: str
    column: str
    domain: list[Any]
    person: str | None
    k: int
    by: str | None
    groups: list[str] | None
    asked: list[str]
    epsilon: Any
    delta: Any
    split: list[Any] | None

    @classmethod
    def of(cls, given: Given) -> Release:
        """Read the arguments, and of the table only the names and kinds of its columns."""
        column, domain = _one_domain(given)
        k = _rows_of_a_person(given)
        by, groups = _groups(given)
        queries = given[REQUIRED_QUERIES] or ASKED
        asked = [check_choice("queries", one, tuple(ASKED)) for one in queries]
        if given[DATA] == STANDARD_INPUT:
            raise InputError("give the name of a file, not -, because the code reads it again")
        given.doing(f"reading {given[DATA]}")
        cells = read_cells(given[DATA])
        for name in filter(None, (column, given[PERSON], by)):
            if name not in cells.columns:
                advice = _WITHOUT_PERSON if name == given[PERSON] else ""
                raise InputError(f"{no_column(name, list(cells.columns))}{advice}")
        for argument, name in ((PERSON, given[PERSON]), (GROUP_BY, by)):
            if name == column:
                raise InputError(
                    f"{argument.name} cannot be {shown(column)}, the column of numbers that the "
                    "domain is of; choose another column"
                )
        wrong = next((e for e in cells.entries(column) if isinstance(e, str | bool)), None)
        if wrong is not None:
            raise InputError(
                f"column {shown(column)} has {shown(wrong)}, but --domain is for numbers; choose a "
                "column of numbers, or leave such entries empty"
            )
        return cls(
            path=str(given[DATA]),
            separator=cells.separator,
            decimal="," if cells.has_decimal_commas(column) else ".",
            column=column,
            domain=sorted(domain),
            person=given[PERSON],
            k=k,
            by=by,
            groups=groups,
            asked=list(dict.fromkeys(asked)),
            epsilon=given[EPSILON],
            delta=given[DELTA],
            split=given[SPLIT],
        )

    # The public choices.

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value; others are clipped to them."""
        return _plain(self.domain[0]), _plain(self.domain[-1])

    @cached_property
    def squares(self) -> tuple[float, float]:
        """The smallest and the largest square."""
        low, high = self.ends
        return 0 if low <= 0 <= high else min(low * low, high * high), max(low * low, high * high)

    @cached_property
    def starts(self) -> list[float]:
        """The lower ends of the histogram's bins."""
        return [_plain(value) for value in self.domain[:: -(-len(self.domain) // MOST_BINS)]]

    # The answers.

    @cached_property
    def released(self) -> list[str]:
        """The answers that get noise."""
        needed = {answer for one in self.asked for answer in ASKED[one]}
        return [one for one in ("count", "sum", "sum of squares", "histogram") if one in needed]

    @cached_property
    def follows(self) -> dict[str, str]:
        """The statistics that follow from them, and how to compute each."""
        return {one: FOLLOWS[one] for one in self.asked if one in FOLLOWS}

    @cached_property
    def noise(self) -> NoiseTable:
        """The noise of each answer, from the stability of its chain."""
        norm = pl.L1Distance() if self.delta is None else pl.L2Distance()
        rows = pl.start(pl.AddMaxRows(self.k))
        # The noise does not depend on the names: a row belongs to one group.
        each = rows >> pl.group_by("group", self.groups or ["any"], norm) if self.by else rows
        in_bins = rows >> pl.group_by("cell", self._cells, norm)

        def total(column: str, low: float, high: float) -> Any:
            return each >> pl.select(column) >> pl.clamp(low, high) >> pl.sum_(low, high)

        chains: dict[str, Callable[[], Any]] = {
            "count": lambda: each >> pl.count(),
            "sum": lambda: total("value", *self.ends),
            "sum of squares": lambda: total("square", *self.squares),
            "histogram": lambda: in_bins >> pl.count(),
        }
        return noise_table(
            {name: chains[name]() for name in self.released},
            epsilon=self.epsilon,
            delta=self.delta,
            split=self.split,
        )

    @cached_property
    def _cells(self) -> list[Any]:
        """The bins, or those of each group."""
        places = range(len(self.starts))
        names = self.groups or ["any"]
        return [f"{group} {place}" for group in names for place in places] if self.by else [*places]

    @property
    def _of_groups(self) -> list[str]:
        """The code for the group of each row: if all names are numbers, 0 is also 0.0."""
        column = f"table[{self.by!r}]"
        if not self.groups or any(exact_number(name) is None for name in self.groups):
            return [f"rows['group'] = {column}"]
        # A column is read as texts, and texts between semicolons or tabs can have decimal commas.
        texts = column if self.separator == "," else f"{column}.str.replace(',', '.')"
        return [
            "names = dict(zip(pd.to_numeric(groups).tolist(), groups, strict=True))",
            f"numbers = pd.to_numeric({texts}, errors='coerce')",
            "rows['group'] = [names.get(number) for number in numbers]",
        ]

    # The text and the code.

    @cached_property
    def before(self) -> list[str]:
        """The steps that prepare the table."""
        low, high = self.ends
        steps = ["drop rows with a missing entry in " + names_of(self._used)]
        if self.person:
            rows = "row" if self.k == 1 else "rows"
            steps.append(f"keep at most {self.k} {rows} of each {self.person}")
        steps.append(f"clip {self.column} at {low!r} and {high!r}")
        if self.by:
            names = ", ".join(self.groups or ["the groups that you list"])
            steps.append(f"drop rows whose {self.by} is not one of {names}")
        return steps

    @property
    def _used(self) -> list[str]:
        return [one for one in (self.person, self.by, self.column) if one]

    @property
    def text(self) -> str:
        """The text to print."""
        per = f" by {self.by}" if self.by else ""
        per += f" ({', '.join(self.groups)})" if self.groups else ""
        rows = "1 row" if self.k == 1 else f"{self.k} rows"
        trusted = (
            f"\n  {self.person} must identify people: with row numbers, the noise is too small"
            if self.person
            else f"\n  The code does not limit a person to {rows}; with --person COLUMN it does. "
            "That column\n  must identify real people. Omit it only if no one can exceed the "
            "limit by design."
        )
        low, high = self.ends
        lines = [
            f"{self.column} of {self.path}{per}, {len(self.domain):,} values from {low!r} to "
            f"{high!r}",
            # What the answers are for follows in the words of the options.
            f"{self.noise}".rsplit("\n  neighbors", 1)[0],
            f"  neighbors  a person joins or leaves, with at most {rows}; the number of rows is "
            f"private{trusted}",
            *([f"\n{_name_the_groups(self.by)}"] if self.by and not self.groups else []),
            *(["\nFrom the noisy answers, without further loss:"] if self.follows else []),
            *(f"  {name}: {how}" for name, how in self.follows.items()),
            *([_HIDDEN, _ERRORS] if self.follows else []),
            "\nBefore the noise:",
            *(f"  {place}. {step}" for place, step in enumerate(self.before, 1)),
            "\nThe epsilon above is the loss of all answers together. Every other release about "
            "these people\nadds to it. Nothing here depends on the entries of the table.",
            f"\nThe same in Python:\n\n{self.code}\n\n{self.publish}",
        ]
        return "\n".join(lines)

    @cached_property
    def code(self) -> str:
        """The code that computes the answers."""
        low, high = self.ends
        raw = [f"sep={self.separator!r}"] * (self.separator != ",")
        raw += [f"decimal={self.decimal!r}"] * (self.decimal != ".")
        texts = [one for one in (self.person, self.by) if one]
        raw += [f"dtype={dict.fromkeys(texts, 'str')!r}"] * bool(texts)
        # Of persons and groups only an empty cell is missing: NA and None can be names.
        missing = {**{name: [""] for name in texts}, self.column: _MISSING}
        raw += ["keep_default_na=False", f"na_values={missing!r}"]
        of_l2 = ", pl.L2Distance()" if self.delta is not None else ""
        grouped = self.by is not None
        square = f"{self.squares[0]!r}, {self.squares[1]!r}"
        lines = [
            "from fractions import Fraction",
            "",
            *(["import numpy as np"] if "histogram" in self.released else []),
            "import pandas as pd",
            "",
            "import sensitivity_lab as sl",
            "from sensitivity_lab import pipelines as pl",
            "",
            "# Public: chosen without looking at the data.",
            f"lower, upper = {low!r}, {high!r}",
            *([f"starts = {_listed(self.starts)}"] if "histogram" in self.released else []),
            *([f"groups = {self.groups or _TO_LIST}"] if grouped else []),
            "",
            "# Rows without missing entries, their values clipped to the bounds.",
            f"table = pd.read_csv({', '.join([repr(self.path), *raw])})",
            f"table = table.dropna(subset={self._used!r})",
            f"rows = pd.DataFrame({{'value': table[{self.column!r}].clip(lower, upper)}})",
            *([f"rows['person'] = table[{self.person!r}]"] if self.person else []),
            *(self._of_groups if grouped else []),
        ]
        if "sum of squares" in self.released:
            lines.append("rows['square'] = rows['value'] ** 2")
        if "histogram" in self.released:
            lines.append("rows['cell'] = np.searchsorted(starts, rows['value'], side='right') - 1")
            if grouped:
                lines.append(
                    "rows['cell'] = rows['group'].astype(str) + ' ' + rows['cell'].astype(str)"
                )
        if self.person:
            lines += [
                "",
                f"# At most {self.k} rows of each person.",
                f"kept = pl.start(pl.AddRowsWithID('person')) >> pl.max_rows_per_id({self.k})",
                "rows = kept(rows)",
            ]
        each = f"each = start >> pl.group_by('group', groups{of_l2})" if grouped else "each = start"
        cells = (
            "cells = [f'{group} {place}' for group in groups for place in range(len(starts))]"
            if grouped
            else "cells = list(range(len(starts)))"
        )
        chains = {
            "count": "each >> pl.count()",
            "sum": "each >> pl.select('value') >> pl.clamp(lower, upper) >> pl.sum_(lower, upper)",
            "sum of squares": f"each >> pl.select('square') >> pl.clamp({square}) "
            f">> pl.sum_({square})",
            "histogram": f"start >> pl.group_by('cell', cells{of_l2}) >> pl.count()",
        }
        lines += [
            "",
            f"# A person who joins or leaves adds or removes at most {self.k} rows.",
            f"start = pl.start(pl.AddMaxRows({self.k}))",
            *([each] if set(self.released) - {"histogram"} else []),
            *([cells] if "histogram" in self.released else []),
            "chains = {",
            *(f"    {name!r}: {chains[name]}," for name in self.released),
            "}",
            "",
            "# The noise for each number of each answer.",
            "noise = sl.noise.noise_table(",
            "    chains,",
            f"    epsilon={_exactly(self.epsilon)},",
            *([] if self.delta is None else [f"    delta={_exactly(self.delta)},"]),
            *([f"    split=[{', '.join(map(_exactly, self.split))}],"] if self.split else []),
            ")",
            "print(noise)",
            "",
            "# The exact answers are private: never publish them without noise.",
            "answers = {name: chain(rows) for name, chain in chains.items()}",
        ]
        if not any("Fraction(" in line for line in lines):
            lines = lines[2:]
        return "\n".join(lines)

    @cached_property
    def publish(self) -> str:
        """The code that adds the noise, and computes what follows; it continues `code`."""
        draw = "make_laplace" if self.delta is None else "make_gaussian"
        stem, index = Path(self.path).stem, "groups" if self.by else "['all']"
        of_table = [one for one in self.asked if one != "histogram"]
        by_row = [one for one in self.released if one != "histogram"]
        lines = [
            "# The noise: every number of an answer gets its own, of the scale in the table above.",
            "# It needs OpenDP: pip install '.[opendp]' in the checkout. Run it once: a second run",
            "# is a second release, and the losses add up. With mode='x' no file is overwritten.",
            "import math",
            "from fractions import Fraction",
            "",
            "import numpy as np",
            "import opendp.prelude as dp",
            "",
            "dp.enable_features('contrib')",
            "space = dp.atom_domain(T='i64'), dp.absolute_distance(T='i64')",
            "# The most that a row adds. Answers are rounded down to parts of it,",
            "# which brings none farther apart than the sensitivity; rounding to floats could.",
            f"most = {self._most}",
            "released = {}",
            "for row in noise:",
            "    unit = (Fraction(most[row.name]) or 1) / 2**30",
            "    scale = float(Fraction(row.scale) / unit)",
            "    scale = math.nextafter(scale, math.inf) if scale else scale",
            f"    add_noise = dp.m.{draw}(*space, scale=scale)",
            "    exact = [math.floor(Fraction(one) / unit) for one in np.ravel(answers[row.name])]",
            "    noisy = [float(add_noise(one) * unit) for one in exact]",
            "    released[row.name] = np.array(noisy)",
            "",
            "# Computed from the noisy answers, so it can be published as they can.",
        ]
        if by_row:
            lines += [
                f"columns = {{name: released[name] for name in {by_row}}}",
                f"noisy = pd.DataFrame(columns, index={index})",
            ]
        if "histogram" in self.released:
            lines += [
                "# The last bin also holds the values that were clipped.",
                "bins = released['histogram'].reshape(-1, len(starts))",
                f"histogram = pd.DataFrame(bins, index={index}, columns=starts)",
            ]
        frames = ["noisy"] * bool(by_row) + ["histogram"] * ("histogram" in self.released)
        if self.by:
            lines += [f"{frame}.loc[{self._together!r}] = {frame}.sum()" for frame in frames]
        lines += [f"{frame}.to_csv('{stem}_{frame}.csv', mode='x')" for frame in frames]
        if of_table:
            lines += ["", f"published = pd.DataFrame(index={frames[0]}.index)"]
            if self.follows:
                lines += [
                    "# NaN where the noise hides a statistic; a sum over groups has more noise.",
                    "scales = {row.name: row.scale for row in noise}",
                    "added = pd.Series(1, index=published.index)",
                    *([f"added[{self._together!r}] = len(groups)"] if self.by else []),
                ]
            statements = [line for one in of_table for line in _PUBLISHED[one]]
            lines += list(dict.fromkeys(statements))
            lines += [f"published.to_csv('{stem}_published.csv', mode='x')", "print(published)"]
        lines += _PUBLISHED["histogram"] if "histogram" in self.asked else []
        return "\n".join(lines)

    @property
    def _most(self) -> dict[str, float]:
        """The largest absolute value that a row can add to each answer."""
        ends = {"sum": self.ends, "sum of squares": self.squares}
        return {name: max(map(abs, ends.get(name, (1,)))) for name in self.released}

    @property
    def _together(self) -> str:
        """The name of the row that adds up all groups; no group has it."""
        name = "all groups"
        while name in (self.groups or ()):
            name = f"({name})"
        return name


def _one_domain(given: Given) -> tuple[str, list[Any]]:
    """Return the column of numbers and its domain."""
    domains = given.domains()
    if len(domains) > 1:
        raise InputError(
            "a release covers one column of numbers, got domains of "
            f"{names_of(domains)}; give one, and groups as --group-by COLUMN=NAMES"
        )
    ((column, domain),) = domains.items()
    return column, domain


def _rows_of_a_person(given: Given) -> int:
    """Return the most rows of one person; raise InputError if it was not given."""
    if given[ROWS_PER_PERSON] is None:
        raise InputError(
            "give the most rows that one person can have, chosen without looking at the data: "
            "--person COLUMN --rows-per-person 5 keeps at most five rows of each person; "
            "--rows-per-person 1 alone states that every row is another person's"
        )
    return _check_rows("rows_per_person", given[ROWS_PER_PERSON])


def _groups(given: Given) -> tuple[str | None, list[str] | None]:
    """Return the column of the groups, and their names."""
    written: str | None = given[GROUP_BY]
    if written is None:
        return None, None
    column, equals, names = written.partition("=")
    if column and not equals:
        return column, None
    groups = names.split(",")
    numbers = [exact_number(name) for name in groups]
    distinct = len(set(groups if None in numbers else numbers))
    if len(groups) == 1 and ":" in names:
        raise InputError(f"name each group: --group-by {column}=0,25,50, got {shown(written)}")
    if not (column and all(groups)) or distinct < len(groups):
        raise InputError(
            "the names of the groups in the data are private, so give a list that does not depend "
            f"on them, each name once: --group-by {column or 'COLUMN'}=a,b,c, got {shown(written)}"
        )
    return column, groups


def _name_the_groups(by: str) -> str:
    """Return advice for groups whose names are not given yet."""
    return (
        f"The noise does not depend on the groups, but which ones occur is private. To complete "
        f"the code\nbelow, give a list that does not depend on the data: --group-by {by}=a,b,c."
    )


def _plain(value: Any) -> float:
    """Return a number of a domain for use in code: an int, or the nearest float."""
    return int(value) if value == int(value) else float(value)


def _listed(numbers: list[float]) -> str:
    """Return a list of numbers as code."""
    first = numbers[0]
    step = numbers[1] - first if len(numbers) > 1 else 1
    if all(isinstance(one, int) for one in numbers) and isinstance(step, int):
        several = range(int(first), int(numbers[-1]) + 1, step)
        if list(several) == numbers:
            return f"list({several!r})"
    return repr(numbers)


def _exactly(given: Any) -> str:
    """Return an exact number as code."""
    number = Fraction(given)
    return str(number) if number.denominator == 1 else f"Fraction({str(number)!r})"
