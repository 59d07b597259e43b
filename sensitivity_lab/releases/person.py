"""Who is protected: the unit of privacy, and how many rows of a table are one person's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from sensitivity_lab.boundary import warn_caller
from sensitivity_lab.checks import check_text_column, is_of_data, names_of, shown, whole_kind
from sensitivity_lab.errors import InputError

_LIMITS = (
    "give max_rows=, the most rows that count of one person, or both max_groups= and "
    "max_rows_per_group=; choose them without looking at the data"
)

_OF_PEOPLE = re.compile(
    r"(.*[ _.-])?(id|uid|ssn|person|patient|participant|subject|respondent|user|customer|client|"
    r"member|member[ _.-]?(no|number)|student|employee|household|name|phone|e?mail)",
    re.I,
)
"""Names of columns that most likely say whose a row is."""

_OF_ROWS = re.compile(
    r"rows?|row[ _.-]?(id|number|num|nr|names?)|index|line|unnamed: 0|(visit|order|event|record|"
    r"transaction|session|stay)[ _.-]?(id|no|number)|time(stamp)?|date",
    re.I,
)
"""Names of columns that most likely tell rows apart, and not people."""

_check_rows = whole_kind("a number of rows, from 1 to 2**20", most=2**20)
_check_groups = whole_kind("a number of groups, from 1 to 2**20", most=2**20)


@dataclass(frozen=True)
class Person:
    """The person who joins or leaves a table, with a limited number of rows.

    Parameters
    ----------
    column : str, optional
        The column that says whose row it is. It must identify people: a different number in each
        row limits nobody. Leave it out only if nobody can have more than `max_rows` rows by design,
        as in a study with one visit a year; nothing checks that.
    max_rows : int
        The most rows that count per person, from 1 to 2**20. Further rows are dropped.
    max_groups, max_rows_per_group : int
        Instead of `max_rows`: the most groups in which a person counts, and the most rows in each.
        With Gaussian noise this can take less noise: the counts of all groups move by
        ``max_rows_per_group * sqrt(max_groups)`` in L2.

    Raises
    ------
    InputError
        If a limit is no whole number in its range, or the limits are not one of these two.

    Notes
    -----
    A hash of a row's contents decides which rows of a person are kept, never their place in the
    table.

    Examples
    --------
    >>> print(Person("id", max_rows=5))
    a person (column id) joins or leaves, with at most 5 rows
    >>> print(Person("id", max_groups=2, max_rows_per_group=3))
    a person (column id) joins or leaves, with at most 3 rows in each of at most 2 groups
    """

    column: str | None = None
    max_rows: int | None = None
    max_groups: int | None = None
    max_rows_per_group: int | None = None

    def __post_init__(self) -> None:
        """Check the limits."""
        if self.column is not None:
            check_text_column("column", self.column)
        for name, check in (
            ("max_rows", _check_rows),
            ("max_groups", _check_groups),
            ("max_rows_per_group", _check_rows),
        ):
            check.or_none(name, getattr(self, name))
            if is_of_data(getattr(self, name)):
                raise InputError(
                    f"{name} comes from an array or a table; write a number that was chosen "
                    "without looking at the data"
                )
        by_group = [one is None for one in (self.max_groups, self.max_rows_per_group)]
        if by_group != [self.max_rows is not None] * 2:
            raise InputError(_LIMITS)
        if self.max_rows is None and self.column is None:
            raise InputError(
                "max_groups= needs the column that says whose a row is: Person('id', "
                "max_groups=2, max_rows_per_group=3)"
            )

    def warn_of(self, columns: Iterable[object]) -> None:
        """Warn if the names of other columns do not fit: one of people, or a person of rows."""
        if self.column is not None:
            if _OF_ROWS.fullmatch(self.column):
                warn_caller(
                    f"Person({shown(self.column)}): a column of this name mostly tells rows apart, "
                    "and then it limits nobody; name the column that identifies people"
                )
            return
        found = [one for one in map(str, columns) if _OF_PEOPLE.fullmatch(one)]
        if found:
            warn_caller(
                f"Person without a column, and the table has {names_of(found)}: if that says whose "
                f"a row is, name it, as in Person({shown(found[0])}, max_rows={self.max_rows}); "
                "without it nothing limits the rows of a person"
            )

    def l1(self, groups: int) -> int:
        """Return the most rows of a person, who can be in so many groups."""
        if self.max_rows is not None:
            return self.max_rows
        return self.max_rows_per_group * min(self.max_groups, groups)  # type: ignore[operator,type-var]

    def l2_square(self, groups: int) -> Fraction:
        """Return the square of the L2 norm of a person's rows, counted by group.

        All rows may be in one group, unless only some of each group count.
        """
        # m rows in one group are the worst: m**2. With limits by group G groups of g rows: G g**2.
        if self.max_rows is not None:
            return Fraction(self.max_rows**2)
        return Fraction(self.l1(groups) * self.max_rows_per_group)  # type: ignore[operator]

    def __str__(self) -> str:
        whose = f" (column {self.column})" if self.column else ""
        most = self.max_rows if self.max_rows is not None else self.max_rows_per_group
        rows = f"{most} row{'s' * (most != 1)}"
        if self.max_rows is None:
            several = f"{self.max_groups} group{'s' * (self.max_groups != 1)}"
            rows += f" in each of at most {several}"
        return f"a person{whose} joins or leaves, with at most {rows}"
