"""The calculator of the page: a request in plain JSON, and its answer in plain JSON.

The page in a browser and the page of this machine ask the same function. It checks every field,
since anyone can write a link or send a request. With an answer comes the Python that computes it.
What the page draws comes in plain Python objects: an axis, a pair of datasets, a strip, a fan.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from textwrap import fill
from typing import Any

import numpy as np

from sensitivity_lab.calls.curves import sensitivity_curves
from sensitivity_lab.calls.reach import reach
from sensitivity_lab.calls.sensitivity import global_sensitivity, local_sensitivity
from sensitivity_lab.calls.smooth_sensitivity import smooth_sensitivity
from sensitivity_lab.checks import (
    check_choice,
    check_kind,
    check_positive,
    check_text,
    names_of,
    rounded_up,
    whole_kind,
)
from sensitivity_lab.csv_files import written_number
from sensitivity_lab.errors import (
    DatasetUniverseWarning,
    InputError,
    PrivateSizeWarning,
    SensitivityLabError,
)
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.noise.scales import laplace_scale
from sensitivity_lab.noise.smooth import smooth_beta, smooth_cauchy_scale
from sensitivity_lab.queries import NAMED, as_query
from sensitivity_lab.results.literals import literal, plain
from sensitivity_lab.results.noise_context import has_private_size
from sensitivity_lab.results.reach_result import Bound, Reach, float_above, float_below
from sensitivity_lab.results.reprs import rounded_down
from sensitivity_lab.results.sensitivity_result import Sensitivity, blocks_of
from sensitivity_lab.results.witness import Unlisted, show_answer
from sensitivity_lab.universes import relations
from sensitivity_lab.universes.relations import SHOWN, Relation, multiplicities_of
from sensitivity_lab.universes.universe import AnyUniverse, FiniteUniverse, IntervalUniverse, finite

from .universes import Given, Made, few, given_of_text, records_of, universe_of

MOST_BLOCKS = 60
"""The most blocks of a strip that is drawn."""

MOST_TICKS = 200
"""The most records marked on an axis, beside the last one."""


def axis_of(universe: AnyUniverse) -> dict[str, Any] | None:
    """Return the ends of a universe and some of its values; None if they are beyond the floats."""
    try:
        if isinstance(universe, IntervalUniverse):
            low, high, ticks = float(universe.lower), float(universe.upper), []
        else:
            values = universe.values
            step = -(-len(values) // MOST_TICKS)
            ticks = [float(one) for one in (*values[:-1:step], values[-1])]
            low, high = ticks[0], ticks[-1]
    except OverflowError:
        return None
    return {"low": low, "high": high, "ticks": ticks}


def records_text(data: Sequence[Any]) -> list[str]:
    """Return records as texts; of many, the first and the last with "…" between."""
    if len(data) > SHOWN:
        half = SHOWN // 2
        return [*records_text(data[:half]), "…", *records_text(data[-half:])]
    return [*map(_decimal, data)]


def _decimal(record: Any) -> str:
    """Return a record as text, a fraction with its decimals."""
    fine = isinstance(record, Fraction) and record.denominator > 1
    return plain(record.numerator / Decimal(record.denominator) if fine else record)


def pair_of(result: Sensitivity) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the witness of a result, and the sorted universe in blocks; none if they are many."""
    held, witness = vars(result)["witness"], result.witness
    if isinstance(held, Unlisted):
        # By multiplicities: this takes milliseconds, sorting takes seconds.
        x, y, universe = held.pair.x, held.pair.y, held.universe
    else:
        universe = finite(result.universe, dict.fromkeys((*witness.x, *witness.y)))
        x, y = (multiplicities_of(one, universe) for one in (witness.x, witness.y))
    pair = {
        "x": records_text(witness.x),
        "y": records_text(witness.y),
        "only_x": records_text(universe.dataset(np.maximum(x - y, 0))),
        "only_y": records_text(universe.dataset(np.maximum(y - x, 0))),
        "size_x": len(witness.x),
        "size_y": len(witness.y),
        "shared": int(np.minimum(x, y).sum()),
        "answer_x": show_answer(witness.query_x),
        "answer_y": show_answer(witness.query_y),
        "value_x": as_float(witness.query_x),
        "value_y": as_float(witness.query_y),
    }
    blocks = blocks_of(x, y, universe)
    strip = [
        # Of a domain, values that neither dataset has are there without end.
        {
            "part": part,
            "count": int(count) if math.isfinite(count) else None,
            "first": _decimal(first),
            "last": _decimal(last),
        }
        for part, count, first, last in blocks
    ]
    return pair, strip if len(strip) <= MOST_BLOCKS else []


def as_float(number: Any) -> float | None:
    """Return a number as JSON has it: None beyond the floats."""
    try:
        value = float(number)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def fan_of(reach: Reach, k: int) -> dict[str, Any]:
    """Return the answers near a dataset, as floats, with texts about distance k.

    `least` and `greatest` are rounded outward; `down` and `up`, how far they are from the
    dataset's own answer, are rounded up.
    """
    least, greatest = reach.lower[k], reach.upper[k]
    return {
        "lower": [float_below(one) for one in reach.lower],
        "upper": [float_above(one) for one in reach.upper],
        "least": rounded_down(float_below(least), exact=_rational(least)),
        "greatest": rounded_up(float_above(greatest), _rational(greatest)),
        "down": _move(reach.answer, least),
        "up": _move(reach.answer, greatest),
    }


def _rational(bound: Bound) -> Fraction | None:
    return None if isinstance(bound, Root) else bound


def _move(one: Bound, other: Bound) -> str:
    """Return the distance of two answers of one query as text."""
    first, second = (end.square if isinstance(end, Root) else end for end in (one, other))
    apart = Difference(first, second, root=isinstance(one, Root))
    return rounded_up(apart.upper(), apart.exact, 6)


_BOTH = ", direction='both'"

_OF_PART = {
    "sensitivity": """\
result = sl.global_sensitivity({asked}, size={size}, neighbors={neighbors})
print(result)""",
    "noise": """\
scale = sl.noise.laplace_scale(result, epsilon={epsilon})
print(f"Laplace noise of scale {{scale}}")""",
    "curve": """\
curves = sl.sensitivity_curves(
    {asked}, size={size}, distances={distances}, neighbors={neighbors}
)
print(curves)""",
    "local": """\
local = sl.local_sensitivity({asked}, dataset=x, neighbors={neighbors})
print(local)""",
    "smooth": """\
beta = sl.noise.smooth_beta({epsilon}, k={k})
smooth = sl.smooth_sensitivity(
    {asked}, dataset=x, beta=beta, neighbors={neighbors}
)
print(smooth)
cauchy = sl.noise.smooth_cauchy_scale(smooth, {epsilon})
print(f"Cauchy noise of scale {{cauchy}}")""",
    "reach": """\
reach = sl.reach(
    {asked}, dataset=x, distances={distances}, neighbors={neighbors}
)
print(reach)""",
}
"""The Python of each part."""


def code_of(
    made: str,
    query: str,
    size: int,
    relation: Relation,
    distances: range,
    epsilon: Any,
    x: str,
    parts: Sequence[str],
    remarks: Sequence[str] = (),
) -> str:
    """Return the code that computes parts of an answer, one of which is `noise`, after remarks.

    It never declares listed records public, so running it warns.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> made = "sl.Universe.from_domain(range(0, 11))"
    >>> print(code_of(made, "mean", 3, sl.Bounded(1), range(1, 3), 1, "", ["sensitivity", "curve"]))
    import sensitivity_lab as sl
    <BLANKLINE>
    universe = sl.Universe.from_domain(range(0, 11))
    result = sl.global_sensitivity(universe, "mean", size=3, neighbors=sl.Bounded(k=1))
    print(result)
    curves = sl.sensitivity_curves(
        universe, "mean", size=3, distances=range(1, 3), neighbors=sl.Bounded(k=1)
    )
    print(curves)
    """
    words = {
        "asked": f'universe, "{query}"',
        "size": size,
        "neighbors": f"sl.{relation!r}".replace(", exactly=False", "").replace(_BOTH, ""),
        "k": relation.k,
        "distances": distances,
        "epsilon": literal(epsilon),
    }
    # A universe that is not spelled out is the caller's own variable of that name.
    lines = [fill(one, 96, initial_indent="# ", subsequent_indent="# ") for one in remarks]
    lines += [f"universe = {made}"] * (made != "universe")
    lines += [f"x = {x}"] * bool(x)
    lines += [text.format_map(words) for part, text in _OF_PART.items() if part in parts]
    written = "\n".join(lines)
    return "\n".join([*_imports(written), "", written])


def _imports(code: str) -> list[str]:
    """Return the imports that the code needs."""
    found = [
        f"from {module} import {name}"
        for module, name in (("decimal", "Decimal"), ("fractions", "Fraction"))
        if name in code
    ]
    found += [""] * bool(found) + ["import pandas as pd", ""] * ("pd." in code)
    return [*found, "import sensitivity_lab as sl"]


FARTHEST = 50
"""The largest distance to choose."""

CURVE = 10
"""A curve goes at least to this distance, if that is feasible."""

UNLIMITED = 1_000_000
"""The largest size to choose if a universe has no largest one."""

QUERIES = (
    *NAMED,
    *(f"percentile_{q}" for q in (5, 10, 25, 75, 90, 95, 99) if f"percentile_{q}" not in NAMED),
)
"""The queries to choose from, by name; a request may name other percentiles and trimmed means."""

RELATIONS: dict[str, Relation] = {
    f"{relation.name}: {variant.does}": variant
    for relation in relations.RELATIONS.values()
    for variant in relation.variants()
}
"""The relations to choose from, by their names on the page; all mean at most k."""

PARTS = ("sensitivity", "curve", "local", "smooth", "reach")
"""What a request can ask for."""

_WITHOUT_X = {"sensitivity", "curve"}
"""The parts that need no dataset."""

FIRST = {
    "universe": {"kind": "domain", "text": "0:60"},
    "query": "mean",
    "relation": next(iter(RELATIONS)),
    "size": 20,
    "k": 1,
    "epsilon": "1",
}
"""The first state of the page. It must not depend on data, which may be private."""

PRIVATE = (
    "The universe is the records themselves. If they are private, this number is not safe to use: "
    "type what a record can be, as a domain."
)

PRIVATE_SIZE = (
    "The number is for n = {n:,} alone, but these neighbors differ in n, so n is private: noise "
    "for one n would reveal it, and be too small for others. No noise is given. If n is public, "
    "choose bounded neighbors; else publish a sum and a count, whose noise is the same at every n "
    "(sl.noise.noise_table gives it). In Python, pass every size that the data can have, "
    "size=range({first}, {stop})."
)

_WORDS = (
    (r"(Decimal|Fraction)\('([^']*)'\)", r"\2"),
    (r"(?s).*got ''( \(str\))?\Z", "type a number, such as 20"),
    (r", Universe.from_domain\(values\)", ", as a domain"),
    (r"use Bounded\(.*", "choose another relation than add only and remove only"),
    (r"sizes must be two sizes from (\d+) .*", r"x needs at least \1 records"),
    ("use neighbors='bounded'", "choose bounded neighbors"),
    ("direction='(add|remove)'", r"unbounded: \1 only"),
    ("column 'records': |;\\Z", ""),
    ("or say the answer for fewer,", "or in Python say the answer for fewer,"),
    ("; give sizes=", "; in Python, give sizes="),
    (r" \(the error's `reasons` say why\)", ""),
)
"""What messages say about calls, as patterns, and how the page says it."""

_SIZE = whole_kind("a number of records, from 1 to 1,000,000,000,000", most=10**12)
_DISTANCE = whole_kind(f"a distance from 1 to {FARTHEST}", most=FARTHEST)

_FIELDS = {
    "domain": ("text",),
    "interval": ("text",),
    "records": ("text",),
    "csv": ("text", "column", "name"),
    "given": ("column",),
    "unread": ("text",),
}
"""The fields beside `kind` of a universe or a dataset; all but the first two are records."""


def _in_words(text: str) -> str:
    for call, words in _WORDS:
        text = re.sub(call, words, text)
    return text


class _RefusedError(Exception):
    """A field of a request is wrong."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


@contextmanager
def _field(name: str) -> Any:
    """Say in which field of the request a fault is."""
    try:
        yield
    except SensitivityLabError as error:
        raise _RefusedError(name, _in_words(str(error))) from None


def answer(request: Any, given: Given | None = None) -> dict[str, Any]:
    """Answer a request of the page.

    Parameters
    ----------
    request : dict
        ``{"ask": "choices"}``: what there is to choose, and the first state.
        ``{"ask": "columns", "text": ..., "name": ...}``: the columns of a CSV file and its name.
        ``{"ask": "answer", "parts": [...], ...}``: some of `PARTS`; and with ``"code"`` in place of
        ``"answer"`` the Python that computes these. Both have the fields of `FIRST`, and can have a
        dataset `x`. A universe is ``{"kind": "domain" or "interval", "text": ...}``, or records,
        which are ``{"kind": "records", "text": ...}``, ``{"kind": "csv", "text": ..., "column":
        ..., "name": ...}`` or ``{"kind": "given", "column": ...}``. A dataset is records, or
        ``{"kind": "unread", "text": ...}``, which says why there are none.
    given : Given, optional
        Columns that stay where the page is served from.

    Returns
    -------
    dict
        With ``"ok": True``; or with ``"ok": False``, the ``"field"`` that is wrong and a
        ``"message"``. A part that cannot be computed is None, and has a line in ``"messages"``.

    Notes
    -----
    What is not feasible is reduced: ``"state"`` says which size and distance were taken. Parts that
    need no dataset are computed for any `x`, but without noise where ``"withheld"`` says why.

    Examples
    --------
    >>> asked = {"ask": "answer", "parts": ["sensitivity"], **FIRST, "size": 30}
    >>> answer(asked)["sensitivity"]["text"]
    '2'
    >>> answer({**asked, "k": 0})["message"]
    'k must be a whole number (a distance from 1 to 50), got 0, below 1'
    """
    try:
        if not isinstance(request, dict):
            raise _RefusedError("ask", "a request must be an object")
        with _field("ask"):
            ask = check_choice("ask", request.get("ask"), _ASKED)
        return {"ok": True, **_ASKED[ask](request, given or Given())}
    except _RefusedError as error:
        return {"ok": False, "field": error.name, "message": str(error)}
    except MemoryError:
        return {
            "ok": False,
            "field": "size",
            "message": "this needs more memory than there is; choose a smaller size or domain",
        }


def _choices(_: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """Return what there is to choose, and what to begin with."""
    first = dict(FIRST)
    if given.columns:
        first |= {"universe": {"kind": "given", "column": next(iter(given.columns))}}
    return {
        "queries": list(QUERIES),
        "relations": list(RELATIONS),
        "given": {"universes": list(given.columns), **_named(given)},
        "first": first,
    }


def _of_file(request: Mapping[str, Any], _: Given) -> dict[str, Any]:
    """Return the numeric columns of a CSV file."""
    with _field("text"):
        text, name = (check_text(one, request.get(one), "a text") for one in ("text", "name"))
        return _named(given_of_text(text, name))


def _named(given: Given) -> dict[str, Any]:
    """Return the names of records, the one to begin with, and what to say about them."""
    return {"records": list(given.records), "first": given.first, "told": given.told}


def _described(request: Mapping[str, Any], name: str, kinds: Any) -> dict[str, str]:
    """Return the description of a universe or of a dataset."""
    value = check_kind(name, request.get(name), dict, "an object with a kind")
    kind = check_choice(f"{name}'s kind", value.get("kind"), kinds)
    texts = {one: check_text(f"{name}'s {one}", value.get(one), "a text") for one in _FIELDS[kind]}
    return {"kind": kind, **texts}


@dataclass(frozen=True)
class _Asked:
    """A checked request.

    Attributes
    ----------
    made : Made
        The universe.
    query : str
    relation : Relation
        At distance k.
    size : int
        Limited to a feasible one.
    most : dict of str to int
        The largest size and distance that are feasible.
    epsilon : int or Decimal
    x : list
        The dataset; empty if there is none.
    x_code : str
        The Python that makes it.
    unread : str
        Why x cannot be read; "" if it can.
    parts : tuple of str
    messages : list of dict
        What could not be computed.
    """

    made: Made
    query: str
    relation: Relation
    size: int
    most: Mapping[str, int]
    epsilon: Any
    x: list[Any]
    x_code: str
    unread: str
    parts: tuple[str, ...]
    messages: list[dict[str, str]] = field(default_factory=list)

    @property
    def distances(self) -> range:
        """Those of curves."""
        return range(1, max(min(self.most["k"], CURVE), self.relation.k) + 1)

    @property
    def of_records(self) -> bool:
        """Whether the universe is the records of a dataset, and no declared domain."""
        universe = self.made.universe
        return isinstance(universe, FiniteUniverse) and universe.lists_records

    def withheld(self) -> list[str]:
        """Return why no noise is given: x is no dataset of the number, or n is private."""
        size, query = self.size, as_query(self.query)
        outside = dict.fromkeys(str(one) for one in self.x if one not in self.made.universe)
        records = f"{len(self.x):,} record{'s' * (len(self.x) != 1)}"
        faults = (
            self.unread and f"cannot be read: {self.unread}",
            self.x and len(self.x) != size and f"has {records}, but n is {size:,}",
            outside and f"has records that are not in the universe: {few(outside, 3)}",
        )
        told = "Your dataset x {}. The number is not for it, so no noise is given."
        found = [told.format(fault) for fault in faults if fault]
        if has_private_size(query, self.relation, self.made.universe, (size,)):
            stop = min(1000, self.most["size"]) + 1
            found.append(PRIVATE_SIZE.format(n=size, first=query.least_size, stop=stop))
        return found

    def call(self, function: Callable[..., Any], **given: Any) -> Any:
        """Call a function of the package on the universe and the query."""
        return function(self.made.universe, self.query, neighbors=self.relation, **given)


def _checked(request: Mapping[str, Any], given: Given) -> _Asked:
    """Check every field of a request, and reduce what is not feasible."""
    with _field("universe"):
        made = universe_of(_described(request, "universe", _FIELDS), given)
    with _field("query"):
        query = check_text("query", request.get("query"), "the name of a query")
        least = as_query(query).least_size
    with _field("relation"):
        relation = RELATIONS[check_choice("relation", request.get("relation"), RELATIONS)]
    with _field("size"):
        size = _SIZE("size", request.get("size"))
    with _field("k"):
        k = _DISTANCE("k", request.get("k"))
    with _field("epsilon"):
        epsilon = check_positive("epsilon", written_number(str(request.get("epsilon"))))
    with _field("parts"):
        parts = check_kind("parts", request.get("parts"), list, f"a list of {names_of(PARTS)}")
        for one in parts:
            check_choice("parts", one, PARTS)
    x, x_code, unread = list[Any](), "", ""
    try:
        with _field("x"):
            if request.get("x") is not None:
                x, x_code = records_of(_described(request, "x", [*_FIELDS][2:]), given)
    except _RefusedError as error:
        if not _WITHOUT_X.issuperset(parts):
            raise
        unread = str(error)
    limit = made.universe.size
    most = UNLIMITED if limit == np.inf else max(1, int(limit) - 1)
    size = min(size, most)
    farthest = next(
        (
            at
            for at in range(FARTHEST, 1, -1)
            if any(relation.at(at).changes_at(at, size, made.universe, least))
        ),
        1,
    )
    return _Asked(
        made,
        query,
        relation.at(min(k, farthest)),
        size,
        {"size": most, "k": farthest},
        epsilon,
        x,
        x_code,
        unread,
        tuple(parts),
    )


# The answer.


def _answer(request: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """Return the parts of an answer that a request asks for."""
    asked = _checked(request, given)
    found: dict[str, Any] = {
        "state": {"size": asked.size, "k": asked.relation.k},
        "most": asked.most,
        "universe": {
            "records": asked.of_records,
            "axis": axis_of(asked.made.universe),
        },
        "warnings": [],
    }
    for part in asked.parts:
        try:
            if part not in _WITHOUT_X and not asked.x:
                raise InputError("it needs a dataset x")
            found |= _FOUND[part](asked)
        except SensitivityLabError as error:
            found[part] = None
            asked.messages.append({"part": part, "text": _in_words(str(error))})
    return {**found, "messages": asked.messages}


def _sensitivity(asked: _Asked) -> dict[str, Any]:
    """Return the number, with its witness and the noise that it asks for."""
    result = asked.call(global_sensitivity, size=asked.size)
    witness, strip = pair_of(result)
    told = {
        "text": result._text(6),
        "value": as_float(result.value),
        "claim": (
            f"global sensitivity of {asked.query}, L1 norm, exact; {asked.relation}; "
            f"n = {asked.size:,}; {asked.made.universe.extent}"
        ),
    }
    noise, cautions = _noise(asked, result)
    withheld = asked.withheld()
    return {
        "sensitivity": told,
        "witness": witness,
        "strip": strip,
        "noise": None if withheld else noise,
        "warnings": [PRIVATE] * asked.of_records + cautions,
        "withheld": withheld,
        "size_of_x": len(asked.x),
        "notes": _notes(asked),
    }


def _notes(asked: _Asked) -> list[str]:
    """Return why a number may not be the one that was expected."""
    # Without one of n records, the mean moves by 1/n of how far that one is from the other mean.
    either = relations.Bounded(1), relations.Unbounded(1)
    found = {
        "The median's sensitivity is larger than the mean's: where one half of the records is at "
        "the lowest value and the other at the highest, one record moves the median across the gap "
        "between them, and the mean by a share of it alone.": (
            asked.query == "median" and asked.size > 2
        ),
        "For the mean, bounded and unbounded neighbors give the same number at k = 1: one of n "
        "records that is removed moves it as far as one that is replaced.": (
            asked.query == "mean" and asked.size > 1 and asked.relation in either
        ),
    }
    return [note for note, holds in found.items() if holds and not asked.of_records]


def _noise(asked: _Asked, result: Any) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the Laplace noise for epsilon, and what must be public for it to protect anyone."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scale = laplace_scale(result, asked.epsilon)
    except InputError as error:
        asked.messages.append({"part": "noise", "text": str(error)})
        return None, []
    cautions = [
        _in_words(str(one.message).removeprefix("sensitivity: "))
        for one in caught
        if not issubclass(one.category, (DatasetUniverseWarning, PrivateSizeWarning))
    ]
    # Of a Laplace distribution, |noise| has the median b ln 2, and exceeds b ln 20 in 5 %.
    return {
        "scale": as_float(scale),
        "text": rounded_up(scale, digits=6),
        "half": rounded_up(math.log(2) * scale, digits=3),
        "most": rounded_up(math.log(20) * scale, digits=3),
    }, cautions


def _curve(asked: _Asked) -> dict[str, Any]:
    curves = asked.call(sensitivity_curves, size=asked.size, distances=asked.distances)
    values = curves.to_frame()["sensitivity"]
    return {
        "curve": [
            {"k": k, "value": as_float(value), "text": rounded_up(float(value), digits=6)}
            for k, value in zip(asked.distances, values, strict=True)
        ]
    }


def _local(asked: _Asked) -> dict[str, Any]:
    found = asked.call(local_sensitivity, dataset=asked.x)
    return {
        "local": {
            "records": records_text(found.witness.x),
            "size": len(asked.x),
            "answer": show_answer(found.witness.query_x),
            "text": found._text(6),
            "value": as_float(found.value),
        }
    }


def _smooth(asked: _Asked) -> dict[str, Any]:
    if not isinstance(asked.made.universe, FiniteUniverse):
        raise InputError("its universe is an interval; type a domain")
    beta = smooth_beta(asked.epsilon, k=asked.relation.k)
    found = asked.call(smooth_sensitivity, dataset=asked.x, beta=beta)
    with warnings.catch_warnings():  # the warnings of the global sensitivity say it already
        warnings.simplefilter("ignore")
        scale = smooth_cauchy_scale(found, asked.epsilon)
    return {
        "smooth": {
            "text": found._text(6),
            "value": as_float(found.value),
            "beta": rounded_up(float(beta), digits=3),
            "scale": rounded_up(scale, digits=6),
        }
    }


def _reach(asked: _Asked) -> dict[str, Any]:
    found = asked.call(reach, dataset=asked.x, distances=asked.distances)
    return {"reach": fan_of(found, asked.relation.k)}


def _code(request: Mapping[str, Any], given: Given) -> dict[str, Any]:
    asked = _checked(request, given)
    withheld = asked.withheld()
    return {
        "code": code_of(
            asked.made.code,
            asked.query,
            asked.size,
            asked.relation,
            asked.distances,
            asked.epsilon,
            asked.x_code,
            [*asked.parts, *["noise"] * (not withheld)],
            [PRIVATE] * asked.of_records + withheld,
        )
    }


_ASKED: dict[str, Callable[[Mapping[str, Any], Given], dict[str, Any]]] = {
    "choices": _choices,
    "columns": _of_file,
    "answer": _answer,
    "code": _code,
}

_FOUND: dict[str, Callable[[_Asked], dict[str, Any]]] = {
    "sensitivity": _sensitivity,
    "curve": _curve,
    "local": _local,
    "smooth": _smooth,
    "reach": _reach,
}
