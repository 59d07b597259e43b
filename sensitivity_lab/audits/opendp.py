"""Audits of OpenDP: whether outputs differ by more than the map promises.

This needs the extra `opendp`. The shipped implementation of a transformation is called on ordered
vectors, so rounding, overflow and the order of records count.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_callable, check_flag, check_running, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics import METRICS, as_metric
from sensitivity_lab.metrics.cells import signed_key
from sensitivity_lab.results.literals import brief
from sensitivity_lab.universes.relations import show

from .claims import ROUNDING_ULPS, check_tolerance, claims_of
from .couplings import audit_coupling
from .maps import RandomisedError, farthest, rows_of
from .opendp_made import (
    OUR_NAMES,
    Asked,
    Subject,
    audit_law,
    audit_scale,
    check_subject,
    invoke,
    needed,
)
from .pairs import check_pairs, table_numbers, text_of
from .question import (
    Question,
    check_datasets,
    check_distances,
    check_left_out,
    check_one_source,
    check_order,
    check_several,
    check_values,
    sizes_in_words,
    vectors,
)
from .report import AuditReport

_OTHERS = {
    "Function": "a Function of OpenDP, which has no map: give the measurement that it follows",
    "Odometer": "an odometer of OpenDP, which has no map: give a measurement that it answers",
    "Context": "a Context of OpenDP, which has data of its own: give the measurement of a query",
    "Query": "a Query of OpenDP: give the measurement that its resolve() returns",
    "_PartialConstructor": "a constructor of OpenDP that waits for a domain and a metric: give "
    "(domain, metric) >> it",
}
"""What else OpenDP makes, by its class."""

_DRAWS = 400
"""How often a transformation that draws at random is called on a dataset."""

_ONLY_OF_A_SCALE = "applies only to a function of a scale that returns a measurement; leave it out"


@public_call
def audit_opendp(
    made: Any,
    universe: Iterable[Any] | None = None,
    size: int | Iterable[int] | None = None,
    *,
    datasets: Any = None,
    extremes: bool = False,
    neighbors: Callable[[Any, Any], Any] | None = None,
    distances: float | Iterable[float] | None = None,
    component: Literal["L0", "L1", "L2", "Linf"] | None = None,
    scale: float | None = None,
    outputs: Any = None,
    answer: Callable[[Any], Any] | None = None,
    every_order: bool = True,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    progress: bool | None = None,
) -> AuditReport:
    """Compare the map of an OpenDP transformation or measurement with the truth.

    The truth for a transformation at d_in is the largest distance of the answers on two inputs that
    are at most d_in apart, in its own metrics. For a measurement it is the privacy loss, by the
    exact law of its noise. The inputs are all vectors of the given sizes over the given values, or
    the datasets that you give.

    Parameters
    ----------
    made : Transformation, Measurement, or callable
        What to audit. A callable takes a scale and returns the measurement with noise of this
        scale, with nothing else changed; it can be a Polars pipeline of `make_private_lazyframe`.
        Then the sensitivity that the map assumes is compared with that of the exact answers, which
        the measurement with scale 0 returns.
    universe : iterable, optional
        The values of entries, for transformations of vectors, of single values, of texts, whose
        entries are lines, and of two-dimensional arrays of NumPy, whose entries are rows. Values
        that the input domain does not accept are left out, and the setting of the report says so.
    size : int or iterable of int, optional
        The lengths of the vectors; by default the size of the domain. Sizes that the input domain
        does not accept are left out. Do not give sizes where the input is a single value.
    datasets : iterable or callable, optional
        The inputs instead of `universe` and `size`, for any other domain: arrays, tables,
        LazyFrames, objects of a user domain. A callable takes nothing and returns an iterable.
        Inputs that the input domain does not accept are left out, and the setting says so; tables
        of Polars are not checked.
    extremes : bool, default False
        Whether to take extreme inputs instead of `universe`, `size` and `datasets`, for vectors and
        single values: of floats 1, 0.0, -0.0, 2^50, -2^50, the smallest subnormal number, both
        infinities and NaN; of whole numbers 0, 1 and the ends of their type; and the bounds of the
        domain, with the floats next to them. Those that the domain does not accept are left out.
        Vectors have up to two entries in every order, or 1,023 and 1,024 entries of which at most
        the first or the last one differs, or the size of the domain.
    neighbors : callable, optional
        The input metric as a symmetric function of two inputs: their distance, or whether they are
        neighbors (True is a distance of 1, False of infinity). Needed if the lab does not know the
        input metric.
    distances : number or iterable of numbers, optional
        The input distances d_in, at least 0, which are whole numbers unless OpenDP's own are
        floats. The report has a row for each. Distance 0 compares inputs that the input metric does
        not distinguish, such as two orders of the same records. By default 1 and 2; with
        `extremes` 0, 1, 2, 1,024 and 2^20.
    component : {"L0", "L1", "L2", "Linf"}, optional
        Which of the three numbers of L01InfDistance or L02InfDistance to audit. Required if one of
        these is the output metric, and refused otherwise.
    scale : float, default 1.0
        For a function of a scale: where to evaluate the map, from 1e-100 to 1e100. A power of two
        avoids rounding. The claim is ``map(d_in) * scale`` for Laplace noise, and
        ``sqrt(2 * map(d_in)) * scale`` for Gaussian noise.
    outputs : str or callable, optional
        For a function of a scale: the metric on exact answers; see `audit`. By default "L1" for
        pure and "L2" for zero-concentrated differential privacy.
    answer : callable, optional
        For a function of a scale: turns what the measurement returns into numbers, for the metrics
        on numbers. By default a table becomes a mapping from its texts and the name of a column to
        a number.
    every_order : bool, default True
        Whether to try vectors in every order of their entries, or only in the order of `universe`.
        With one order a violation is just as certain, but other orders may be worse.
    tolerance_ulps : int, float or Fraction, default 4
        The largest difference that counts as rounding, where the claim or the answers are floats,
        in units in the last place of the truth; see `audit`.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after one second.

    Returns
    -------
    AuditReport
        A row per input distance: `claimed` is the value of the map, `truth` the exact maximum. If
        the map fails at a distance, or returns NaN or a negative number, `claimed` is None,
        `reason` says why, and the verdict is "no claim".

    Raises
    ------
    InputError
        If an argument is invalid or does not apply, a metric, the domain, the privacy measure or
        the noise is not covered, or a transformation of the caller's answers one input twice
        otherwise.
    MissingExtraError
        An InputError: OpenDP is not installed.
    QueryError
        If the transformation fails, or two answers have no distance.
    TooLargeError
        If there are too many vectors or pairs; the message says how many.

    Notes
    -----
    With m values there are ``m**s`` vectors of size s, and the transformation is called once on
    each. To find out whether it is randomised, up to 2,048 more calls follow, which are the same in
    every audit: equal shares for all sizes, and up to 32 calls on one input. At the end there are
    256 calls on each dataset of the evidence.

    All pairs of inputs are compared; where the input metric ignores order, inputs with the same
    records and the same answer are compared once. Answers of any size are compared exactly, floats
    and roots included.

    A transformation of OpenDP that chooses rows at random, as `make_resize` does, is called 400
    times on each input, and its outputs are coupled; see `audit`.

    The records of an array are its entries or rows, those of a table its rows, those of a text its
    lines. As records, 0.0 and -0.0 differ, and NaN equals NaN. An answer that is NaN or infinite is
    infinitely far from all others, and so is a vector of another length.

    For scores (the metric `LInfDistance` with `monotonic`), the distance is the largest increase
    plus the largest decrease: "Linf" where all scores go one way, and the loss of a selection
    where they do not. OpenDP's own is infinite there, so its map would fail at a distance of 2 that
    adds a record and removes one.

    A measurement is judged by a *twin*: its transformation, followed by the noise that its last
    constructor documents (Laplace, geometric and Gaussian noise, thresholds on integers, and
    randomised response), drawn from a generator that the audit drives; see `audit_mechanism`. So
    epsilon, delta and rho are those of this noise, and OpenDP's own sampler is not tried. Noise on
    integers is taken without the ends of their type, where OpenDP's stays. It has endless support,
    whose cut law proves no pure epsilon: give a function of a scale
    for these. Its twin at scale 0 shows no delta, so under approximate differential privacy the
    verdict is at best "not judged". Groups below a threshold would be missing from the answer at
    scale 0, so give a pipeline with groups a threshold that drops nothing there. Selections
    (`make_noisy_max`) have no twin: audit the transformation that makes the scores.

    The universe is a part of the domain: "loose" and "tight" hold for this part, "violated" for the
    whole domain. The audit does not change OpenDP's features: constructing a transformation needs
    "contrib", auditing it needs none.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> import numpy as np
    >>> total = dp.t.make_user_transformation(
    ...     dp.user_domain("arrays", lambda x: isinstance(x, np.ndarray)),
    ...     dp.symmetric_distance(),
    ...     dp.vector_domain(dp.atom_domain(T=float)),
    ...     dp.l1_distance(T=float),
    ...     lambda x: x.clip(0, 1).sum(axis=0).tolist(),
    ...     lambda d_in: 2.0 * d_in,
    ... )
    >>> rows = [[0.0, 1.0], [5.0, 1.0]]
    >>> audit_opendp(total, datasets=[np.array(rows[:n]) for n in (1, 2)], distances=1)
    Audit of make_user_transformation: tight
      setting  SymmetricDistance() of at most k to L1Distance(f64); 2 datasets; implementation
      k  claimed  truth  verdict
      1  2        2      tight
      x  ((0.0, 1.0),)  ->  (0.0, 1.0)
      y  ((0.0, 1.0), (5.0, 1.0))  ->  (1.0, 2.0)

    The delta of a threshold on counts by key is too small (OpenDP issue 2922):

    >>> texts = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    >>> counts = texts >> dp.t.then_count_by(TV=dp.i32)
    >>> above = counts >> dp.m.then_laplace_threshold(1.0, 5)
    >>> report = audit_opendp(above, ["a"], range(3), distances=1)
    >>> report.verdict, round(report.rows[0].claimed, 6), round(report.rows[0].value, 6)
    ('violated', 0.004926, 0.01339)

    Extreme inputs: the claim at a distance of 0 misses that a sum of floats depends on their order.
    (Since Python 3.12, ``sum`` makes up for rounding.)

    >>> from functools import reduce
    >>> from operator import add
    >>> floats = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    >>> def in_order(x):
    ...     return reduce(add, (min(max(one, -1e16), 1e16) for one in x), 0.0)
    >>> naive_sum = dp.t.make_user_transformation(
    ...     floats,
    ...     dp.symmetric_distance(),
    ...     dp.atom_domain(T=float, nan=False),
    ...     dp.absolute_distance(T=float),
    ...     in_order,
    ...     lambda d_in: 1e16 * d_in,
    ... )
    >>> audit_opendp(naive_sum, extremes=True, distances=0).verdict
    'violated'

    A sum with Laplace noise of any scale:

    >>> ints = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    >>> def noisy_sum(scale):
    ...     return ints >> dp.t.then_clamp((0, 3)) >> dp.t.then_sum() >> dp.m.then_laplace(scale)
    >>> audit_opendp(noisy_sum, [0, 9], range(3), distances=1).verdict
    'tight'
    """
    transformations, measurements = needed("audit_opendp")
    order = "audit_opendp(made, universe, size, ...)"
    check_order(made, universe, "made and universe", order)
    check_running(None, progress)
    asked = partial(
        question_of,
        universe=universe,
        size=size,
        datasets=datasets,
        extremes=extremes,
        distances=distances,
        every_order=every_order,
        tolerance_ulps=tolerance_ulps,
        progress=progress,
    )
    of_a_scale = {"scale": scale, "outputs": outputs, "answer": answer}
    if isinstance(made, transformations):
        check_left_out(of_a_scale, _ONLY_OF_A_SCALE)
        return _audit_transformation(made, asked, component, neighbors)
    check_left_out({"component": component}, "applies only to a transformation; leave it out")
    if isinstance(made, measurements):
        check_left_out(of_a_scale, _ONLY_OF_A_SCALE)
        return audit_law(made, asked, neighbors)
    wanted = "a Transformation, a Measurement, or a function of a scale that returns one"
    if type(made).__module__.startswith("opendp.") and type(made).__name__ in _OTHERS:
        raise InputError(f"made must be {wanted}, got {_OTHERS[type(made).__name__]}")
    check_callable("made", made, wanted)
    scale = 1.0 if scale is None else scale
    answer = table_numbers if answer is None else answer
    return audit_scale(made, asked, neighbors, scale, outputs, answer)


def _audit_transformation(made: Any, asked: Asked, component: Any, neighbors: Any) -> AuditReport:
    """Compare the map of a transformation with the largest distance of its answers."""
    question = asked(check_subject(made, component, neighbors), made)
    if not question.inputs.unordered:
        check_pairs(len(question.datasets))
    call = partial(invoke, made)
    try:
        rows = rows_of(question, call, farthest(question, call))
    except RandomisedError:
        if "_user_" in question.subject:  # it may keep something between calls
            raise
        return audit_coupling(question, call, _DRAWS)
    return question.report(rows, "implementation")


def question_of(
    subject: Subject,
    transformation: Any,
    universe: Any,
    size: Any,
    datasets: Any,
    distances: Any,
    every_order: Any,
    tolerance_ulps: Any,
    progress: bool | None,
    extremes: Any,
) -> Question:
    """Return the question of an audit about a subject, or raise InputError.

    The subject has the claims and the metrics, the transformation decides which inputs it accepts.
    """
    every_order = check_flag("every_order", every_order)
    if check_flag("extremes", extremes):
        given = {"universe": universe, "size": size, "datasets": datasets}
        check_left_out(given, "is not for extremes=True, which has inputs of its own; leave it out")
        inputs, among = extremes_of(transformation)
    else:
        check_one_source(universe, size, datasets)
        inputs, among = (
            _inputs_of(transformation, universe, size, every_order)
            if datasets is None
            else _accepted_of(transformation, datasets)
        )
    if distances is None:
        distances = EXTREME_DISTANCES if extremes else (1, 2)
    limits = check_distances(distances, subject.real)
    return Question(
        subject=subject.name,
        datasets=inputs,
        among=among,
        inputs=as_metric("inputs", subject.inputs),
        outputs=as_metric("outputs", subject.outputs),
        metrics=subject.metrics,
        limits=limits,
        claims=claims_of(subject.claim, limits),
        tolerance=check_tolerance(tolerance_ulps),
        progress=progress,
        one_size=datasets is None and _own_size(transformation.input_domain) is not None,
    )


def _own_size(domain: Any) -> Any:
    """Return the size that all datasets of a domain have; None where they have several."""
    arrays = str(domain).startswith(_ARRAYS)
    return getattr(domain.descriptor if arrays else domain, "size", None)


_EXTREME_LENGTH = 1024
"""The length of long vectors: sums of so many floats of other signs and sizes lose digits."""

EXTREME_DISTANCES = (0, 1, 2, _EXTREME_LENGTH, 2**20)
"""Distances at which maps go wrong: none, some, that of a long vector, and a very large one."""

_EXTREME_ENTRIES: dict[str, tuple[Any, ...]] = {
    "f64": (1.0, 0.0, -0.0, 2.0**50, -(2.0**50), 5e-324, math.inf, -math.inf, math.nan),
    "f32": (1.0, 0.0, -0.0, 2.0**50, -(2.0**50), 2.0**-149, math.inf, -math.inf, math.nan),
    "bool": (False, True),
    "String": ("", "a"),
}
"""Entries by OpenDP's name of their type; the smallest numbers above 0 are subnormal.

Whole numbers of any other type are 0, 1 and the ends of the type.
"""

_ARRAYS = "NPArray2Domain"

_FLOATS = {"f64": "f8", "f32": "f4"}


def extremes_of(transformation: Any) -> tuple[list[Any], str]:
    """Return extreme inputs that the domain accepts and their description, or raise InputError.

    Vectors have up to two entries, in every order, or `_EXTREME_LENGTH` and one fewer, of which all
    are equal, or the first or the last one differs. A domain with a size has vectors of that size.
    """
    domain = transformation.input_domain
    entry = getattr(domain, "element_domain", None)
    atom = domain if entry is None else entry
    kind = re.fullmatch(r"AtomDomain\(.*T=(\w+)\)", str(atom))
    if kind is None or _takes_lines(transformation):
        raise InputError(
            f"extremes=True is for vectors and single values, and the input domain is {domain}; "
            "give datasets="
        )
    bounds = re.search(r"bounds=\[(\S+), (\S+)\]", str(atom))
    ends = [*map(ast.literal_eval, bounds.groups())] if bounds else []
    if ends and kind[1] in _FLOATS:  # the least steps: a mean rounds them
        near, far = np.array(ends, _FLOATS[kind[1]])
        ends += [float(np.nextafter(near, far)), float(np.nextafter(far, near))]
    known = _EXTREME_ENTRIES.get(kind[1]) or _ends_of(kind[1])
    entries = {signed_key(one): one for one in (*known, *ends) if _member(atom, one)}
    accepted = tuple(entries.values())
    among = f"extreme values {accepted}".replace("nan", "NaN")
    if entry is None:
        return list(accepted), among
    sizes: tuple[int, ...] = (0, 1, 2, _EXTREME_LENGTH - 1, _EXTREME_LENGTH)
    if domain.size is not None:
        sizes = (domain.size,)
    made = [
        vector
        for size in sizes
        for vector in (vectors(accepted, (size,)) if size <= 2 else _long(accepted, size))
    ]
    return made, f"{among}, sizes {show(sizes)}"


def _ends_of(kind: str) -> tuple[int, ...]:
    """Return 0, 1 and the ends of a type of whole numbers, such as u8."""
    bits = int(kind[1:].replace("size", "64"))
    low, high = (0, 2**bits) if kind.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    return (0, 1, low, low + 1, high - 1)


def _long(entries: tuple[Any, ...], size: int) -> list[list[Any]]:
    """Return vectors of many entries, of which at most the first or the last one differs."""
    alike = [[one] * size for one in entries]
    pairs = list(itertools.permutations(entries, 2))
    first = [[one] + [other] * (size - 1) for one, other in pairs]
    return alike + first + [[other] * (size - 1) + [one] for one, other in pairs]


def _inputs_of(
    transformation: Any, given: Any, size: Any, every_order: bool
) -> tuple[list[Any], str]:
    """Return the inputs to try and their description, or raise InputError."""
    domain = transformation.input_domain
    if str(domain).startswith(_ARRAYS):
        return _arrays_of(domain, given, size, every_order)
    lines = _takes_lines(transformation)
    entry = domain if lines else getattr(domain, "element_domain", None)
    if entry is None and not str(domain).startswith("AtomDomain"):
        raise InputError(
            f"the input domain {domain} is not covered; vectors, atoms and arrays of rows are, and "
            "so is any other domain with datasets="
        )
    values = check_values(given)
    none = f"none of the values {brief(values)}; for datasets of your own, write datasets="
    members, left = _in_domain(entry or domain, values, none)
    accepted = tuple(members)
    among = f"values {brief(accepted)}{left}"
    if entry is None:
        if size is not None:
            raise InputError(f"size must be left out: {domain} holds single values")
        return members, among
    wanted = _lines(size, accepted) if lines else _sizes(size, domain, _own_size(domain))
    text = f"{among}, {sizes_in_words(wanted, every_order)}"
    made = vectors(accepted, wanted, every_order)
    return ([text_of(x) for x in made], f"texts of lines with {text}") if lines else (made, text)


def _arrays_of(domain: Any, given: Any, size: Any, every_order: bool) -> tuple[list[Any], str]:
    """Return arrays of given rows that a domain of OpenDP's extras accepts, or raise InputError."""
    rows = check_values(given)
    width = domain.descriptor.num_columns
    sizes = _sizes(size, domain, _own_size(domain))
    try:
        made = [
            np.array(x, dtype=_FLOATS.get(domain.descriptor.T)).reshape(len(x), len(rows[0]))
            for x in vectors(rows, sizes, every_order)
        ]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"universe must have the rows of arrays, with {width or 'equally many'} numbers each, "
            f"got {brief(rows)}"
        ) from error
    accepted, left = _in_domain(domain, made, f"no array of the rows {brief(rows)}")
    text = f"arrays of rows {brief(rows)}, {sizes_in_words(sizes, every_order)}"
    return accepted, f"{text}{left}"


def _accepted_of(transformation: Any, datasets: Any) -> tuple[list[Any], str]:
    """Return the datasets that the input domain accepts and their description, or raise InputError.

    OpenDP refuses every table of Polars if its domain knows the number of rows, so those are taken
    as they are.
    """
    given = check_datasets(datasets)
    none = f"none of the {len(given):,} datasets"
    accepted, left = _in_domain(transformation.input_domain, given, none)
    return accepted, f"{len(accepted):,} datasets{left}"


def _in_domain(domain: Any, given: Sequence[Any], none: str) -> tuple[list[Any], str]:
    """Return what a domain accepts, and how many it does not in words, or raise InputError."""
    accepted = [x for x in given if hasattr(x, "lazy") or _member(domain, x)]
    if not accepted:
        raise InputError(f"{domain} accepts {none}")
    left = len(given) - len(accepted)
    return accepted, f", {left:,} outside the domain left out" if left else ""


def _takes_lines(transformation: Any) -> bool:
    """Tell whether the input is a text whose lines are the records."""
    if str(transformation.input_domain) != "AtomDomain(T=String)":
        return False
    name = OUR_NAMES.get(str(transformation.input_metric).partition("(")[0])
    return name is not None and METRICS[name].sees == "records"


def _lines(size: Any, lines: tuple[str, ...]) -> tuple[int, ...]:
    """Return the given numbers of lines; raise InputError if a line has an end."""
    broken = [line for line in lines if "\n" in line]
    if broken:
        raise InputError(
            f"universe has the lines of texts, so none has a line break: {shown(broken[0])}"
        )
    if size is None:
        raise InputError("size must be given: the numbers of lines of the texts")
    return check_several("size", size, "a number of records, at least 0")


def _sizes(size: Any, domain: Any, own: int | None) -> tuple[int, ...]:
    """Return the given sizes that a domain accepts, which may have a size of its own."""
    if size is None and own is None:
        raise InputError(f"size must be given: {domain} has vectors of every size")
    wanted = check_several("size", own if size is None else size, "a number of records, at least 0")
    if own is None:
        return wanted
    if own not in wanted:
        raise InputError(f"{domain} accepts none of the sizes {show(wanted)}")
    return (own,)


def _member(domain: Any, value: Any) -> bool:
    """Tell whether a domain accepts a value."""
    with warnings.catch_warnings():
        # OpenDP also warns about a value of another type, which is not a member.
        warnings.simplefilter("ignore")
        try:
            return bool(domain.member(value))
        except Exception:  # noqa: BLE001 - OpenDP cannot convert it, so it is not a member
            return False
