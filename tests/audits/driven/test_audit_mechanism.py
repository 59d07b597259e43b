"""`audit_mechanism` on mechanisms whose laws are known in closed form."""

from __future__ import annotations

import copy
import itertools
import math
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from checks import refused, refused_with
from scipy import stats

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_mechanism
from sensitivity_lab.audits.driven import laws as of_laws

pytestmark = pytest.mark.usefixtures("few_runs")


def respond(data, rng):
    """Tell the truth with probability 3/4."""
    return data[0] if rng.random() < 0.75 else 1 - data[0]


def noisy_sum(data, rng):
    """Two-sided geometric noise with ratio 1/2: epsilon log 2 for a step of 1."""
    return sum(data) + rng.geometric(0.5) - rng.geometric(0.5)


def clipped_noise(data, rng):
    """Noise that is clipped, and not what is released: the largest release gives its data away."""
    return sum(data) + int(np.clip(rng.geometric(0.5) - rng.geometric(0.5), -3, 3))


@pytest.mark.parametrize("trials", [0, 1, 3])
def test_a_multinomial_draw_has_its_law(trials):
    """By hand: an event's probability is n! / (a! b! c!) p**a q**b r**c."""
    chances = {0: [0.5, 0.25, 0.25], 1: [0.125, 0.625, 0.25]}

    def function(data, rng):
        return rng.multinomial(trials, chances[data[0]]).tolist()

    report = audit_mechanism(function, [0, 1], 1, epsilon=5, neighbors="bounded")
    expected = 0.0
    for counts in itertools.product(range(trials + 1), repeat=3):
        if sum(counts) == trials:
            ways = math.factorial(trials) / math.prod(map(math.factorial, counts))
            laws = [ways * math.prod(map(pow, chances[one], counts)) for one in (0, 1)]
            expected += max(0.0, laws[0] - laws[1])
    assert report.delta(0) == pytest.approx((expected, expected))
    assert report.epsilon() == pytest.approx((trials * math.log(4),) * 2)


@pytest.mark.parametrize("down", [int, math.floor, math.trunc, lambda u: int(np.floor(u))])
@pytest.mark.parametrize("draw", [lambda u: u * 5, lambda u: 5 - 5 * u])
def test_a_uniform_draw_is_rounded_down(draw, down):
    def function(data, rng):
        return data[0] if rng.random() < 0.5 else down(draw(rng.random()))

    report = audit_mechanism(function, range(5), 1, epsilon=math.log(6), neighbors="bounded")
    assert report.verdict == "tight"  # 1/2 + 1/10 against 1/10


def test_a_uniform_draw_below_0_is_rounded_down_but_not_towards_0():
    def function(data, rng, how=math.floor):
        return (how(rng.uniform(-2, 2)) + data[0]) % 4

    report = audit_mechanism(function, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert (report.verdict, report.epsilon()) == ("loose", (0.0, 0.0))
    towards = partial(function, how=int)
    report = audit_mechanism(towards, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert not report.sound


def test_randomised_response_is_tight_at_log_3():
    report = audit_mechanism(respond, [0, 1], 1, epsilon=math.log(3), neighbors="bounded")
    assert report.verdict == "tight"
    assert report.sound
    low, high = report.epsilon()
    assert low <= math.log(3) <= high
    assert high - low < 1e-15


@pytest.mark.exhaustive
def test_a_cut_law_proves_no_pure_epsilon():
    report = audit_mechanism(noisy_sum, [0, 1], 2, epsilon=1, neighbors="bounded")
    assert report.verdict == "not judged"
    assert not report.sound
    assert report.decisive.reason == (
        "the tails of the draws are cut, and delta at epsilon 1 is at most 1.08e-18; pass "
        "delta=1e-10 to judge the claim"
    )
    with_delta = audit_mechanism(noisy_sum, [0, 1], 2, epsilon=1, delta=1e-15, neighbors="bounded")
    assert with_delta.verdict == "loose"
    assert with_delta.sound


def test_clipped_noise_is_violated_with_the_outcome_that_shows_it():
    report = audit_mechanism(clipped_noise, [0, 1], 1, epsilon=1, delta=0.01, neighbors="bounded")
    assert report.verdict == "violated"
    # Noise of 3 or more has probability 2**-3 * 2 / 3, and makes 4, which is impossible from 0.
    assert report.delta(10) == (pytest.approx(1 / 12, abs=1e-12),) * 2
    assert report.decisive.sentence == (
        "a delta at epsilon 1 of 0.01 is claimed at distance 1, the truth is 0.08333333333: "
        "violated (claim / truth = 0.12)"
    )


@pytest.mark.exhaustive
def test_a_script_shows_the_violation_without_the_lab(tmp_path):
    report = audit_mechanism(respond, [0, 1], 1, epsilon=0.5, neighbors="bounded")
    script = report.script
    assert "sensitivity_lab" not in script
    path = tmp_path / "violation.py"
    path.write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", str(path)], capture_output=True, text=True, check=True
    )
    first, second, allowed = (float(part.split(": ")[1]) for part in done.stdout.split(", "))
    assert first == pytest.approx(0.75, abs=0.02)
    assert second == pytest.approx(0.25, abs=0.02)
    assert first > allowed


@dataclass
class Flip:
    chance: float

    def tells(self, rng: Any) -> bool:
        return rng.random() < self.chance


def flipped(data: list[int], rng: Any) -> dict[str, Any]:
    return {"a": Counter(data)[1 if Flip(0.75).tells(rng) else 0], "b": Fraction(len(data))}


@pytest.mark.exhaustive
def test_a_script_needs_numpy_alone(tmp_path):
    path = tmp_path / "violation.py"
    report = audit_mechanism(flipped, [0, 1], 1, epsilon=0.5, neighbors="bounded")
    path.write_text(report.script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("event on x: 0.7")
    # Whatever it names is imported, so a linter has nothing to say of it.
    for line in ("from typing import Any", "from collections import Counter", "class Flip:"):
        assert line in report.script
    assert "Iterator" not in report.script


def test_a_script_leaves_methods_to_the_reader():
    class Responder:
        def release(self, data, rng):
            return respond(data, rng)

    report = audit_mechanism(Responder().release, [0, 1], 1, epsilon=0.5, neighbors="bounded")
    assert "# Put the function here, or import it." in report.script
    assert "def release" not in report.script


def test_a_script_is_for_violations_only():
    report = audit_mechanism(respond, [0, 1], 1, epsilon=2, neighbors="bounded")
    with pytest.raises(sl.errors.InputError) as caught:
        _ = report.script
    assert str(caught.value) == "script is for a violation, and the verdict is 'loose'"


def own_generator(data, _):
    return sum(data) + np.random.default_rng().laplace()


def global_generator(data, _):
    return sum(data) + np.random.laplace()  # noqa: NPY002


@pytest.mark.parametrize(
    ("function", "name"),
    [(own_generator, "np.random.default_rng"), (global_generator, "np.random.laplace")],
)
def test_a_generator_of_its_own_is_refused_with_the_lines_to_change(function, name):
    refused(
        lambda: audit_mechanism(function, [0, 1], 1, epsilon=1, neighbors="bounded"),
        f"the function draws from a generator of its own ({name}). Take the generator as the "
        "second argument:\n    def function(data, rng):\nand draw from it, as in\n    noise = "
        "rng.laplace(0, scale)",
        sl.errors.QueryError,
    )
    assert np.random.default_rng().random() < 1  # NumPy's functions are back


def test_a_function_of_the_data_alone_is_refused():
    def plain(data):
        return sum(data)

    refused(
        lambda: audit_mechanism(plain, [0, 1], 1, epsilon=1, neighbors="bounded"),
        "function must take a dataset and a generator, as in def function(data, rng), got "
        "plain(data)",
    )


def test_a_function_that_always_fails_is_refused():
    def mistaken(data, rng):
        return sum(data) + rng.integers(3) + undefined  # noqa: F821

    refused(
        lambda: audit_mechanism(mistaken, [0, 1], 1, epsilon=1, neighbors="bounded"),
        "the function fails in every run; on [0]: NameError: name 'undefined' is not defined",
        sl.errors.QueryError,
    )


def test_state_between_calls_is_told():
    calls = []

    def counting(data, rng):
        calls.append(1)
        return sum(data) + len(calls) + rng.integers(3)

    with pytest.raises(sl.errors.QueryError) as caught:
        audit_mechanism(counting, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert str(caught.value).startswith("the function is not a function of data and draws: on [")


CALLED = []


def first_call_tells(data, rng):
    """The first dataset of a process gets an answer that depends on it; later ones do not."""
    CALLED.append(tuple(data))
    return (sum(data) if CALLED[0] == tuple(data) else 0) + rng.integers(2)


class FirstLeast:
    """A mechanism that keeps the least value of the first dataset that it sees."""

    def __init__(self):
        self.least = None

    def release(self, data, rng):
        self.least = min(data) if self.least is None else self.least
        return sum(data) - self.least + rng.laplace()


def around():
    seen = []

    def release(data, rng):
        seen.append(len(data))
        return sum(data) + rng.laplace()

    return release


class Highest:
    """A class that keeps the first bound for all of its objects."""

    high = None

    def release(self, data, rng):
        if Highest.high is None:
            Highest.high = max(data)
        return min(sum(data), Highest.high) + rng.laplace(scale=10)

    @classmethod
    def of_class(cls, data, rng):
        return Highest.release(cls, data, rng)


def defaults(data, rng, memo={}):  # noqa: B006 - the state of a mechanism
    return min(sum(data), memo.setdefault("high", max(data))) + rng.laplace(scale=10)


def names_a_class(data, rng):
    return Highest().release(data, rng)


KEEPING = [
    (FirstLeast().release, "least"),
    (around(), "seen"),
    (Highest().release, "Highest.high"),
    (Highest.of_class, "Highest.high"),
    (names_a_class, "Highest.high"),
    (defaults, "memo"),
]


@pytest.mark.parametrize(("function", "name"), KEEPING)
def test_what_a_function_keeps_leaves_it_open(function, name):
    Highest.high = None
    report = audit_mechanism(function, [0, 1], 2, epsilon=1, neighbors="bounded")
    assert report.verdict == "not judged"
    assert not report.sound
    assert report.unjudged == (
        f"the function keeps {name} from one call to the next; pass fresh=True, which gives each "
        "dataset a process of its own",
    )
    [row] = report.rows
    assert (row.verdict, row.truth) == ("not judged", None)


def test_no_script_shows_a_rho():
    def noisy(data, rng):
        return sum(data) + rng.normal(scale=2)

    report = audit_mechanism(noisy, [0, 1], 1, rho=0.12, neighbors="bounded")
    assert report.verdict == "violated"
    with pytest.raises(sl.errors.InputError, match="prove nothing about rho"):
        _ = report.script


@dataclass
class Scaled:
    """An object that keeps what it has computed, and is still the same object."""

    bounds: tuple[int, int]

    @cached_property
    def width(self):
        return self.bounds[1] - self.bounds[0]


def test_what_an_object_computes_once_is_not_kept():
    scaled = Scaled((0, 5))

    def release(data, rng):
        return sum(data) + rng.laplace(scale=scaled.width)

    report = audit_mechanism(release, [0, 1, 5], 1, epsilon=1, neighbors="bounded")
    assert (report.verdict, report.unjudged) == ("tight", ())


@pytest.mark.stress
def test_what_a_function_keeps_does_not_count_in_fresh_processes():
    release = FirstLeast().release
    report = audit_mechanism(release, [0, 1], 1, epsilon=1, neighbors="bounded", fresh=True)
    assert not report.unjudged


def test_probes_need_neighbors():
    def noisy(data, rng):
        return float(len(data) + rng.laplace())

    refused_with(
        lambda: audit_mechanism(noisy, [0, 1], 2, epsilon=1, neighbors="unbounded"),
        "no two datasets of size 2 are neighbors",
    )


def test_a_law_of_which_nothing_is_known_has_no_truth_and_no_pair():
    def largest(data, rng):
        return int(np.argmax([data.count(value) + rng.normal(scale=2.0) for value in (0, 1)]))

    report = audit_mechanism(largest, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert repr(report) == (
        "Audit of largest: not refuted\n"
        "  setting  Bounded of at most k; values (0, 1), sizes (1,) in every order; no law is "
        "known\n"
        "  k  claimed  truth    verdict\n"
        "  1  1        unknown  not refuted (the function compares Gaussian noise; draw whole "
        "numbers as noise, such as discrete Gaussian noise by rng.choice(values, p=weights), whose "
        "exact law is found; see test_audit_mechanism.py:"
        f"{largest.__code__.co_firstlineno + 1} (return int(np.argmax([data.count(value) + "
        "rng.normal(scale=2.0) for value in (0, 1)])))"
        ")"
    )
    assert " x " not in report.counterexample(report.decisive)


def test_a_sampled_violation_shows_its_pair_and_line():
    def told(data, rng):
        total = sum(data) + rng.laplace(scale=9)
        return f"{total:.0f} of {len(data)}"

    report = audit_mechanism(told, [0], [1, 2], epsilon=1, neighbors="unbounded")
    assert report.verdict == "violated (sampled)"
    assert report.notes[0] == "event: release['number 2 in the text'] <= 1.0"
    line = told.__code__.co_firstlineno + 2
    assert report.notes[1].endswith(
        f'; see test_audit_mechanism.py:{line} (return f"{{total:.0f}} of {{len(data)}}")'
    )
    *_, x, y = repr(report).splitlines()
    assert (x, y) == ("  x  (0,)  ->  {'P(event)': 1.0}", "  y  (0, 0)  ->  {'P(event)': 0.0}")
    # What is plain to see takes a tenth of the runs.
    assert report.sampled.runs < 10_000
    assert "[0]" in report.counterexample(report.decisive)


def test_where_no_pair_is_known_none_is_shown():
    report = audit_mechanism(
        lambda data, rng: round(sum(data) + rng.laplace()), [0, 1], 1, epsilon=1,
        neighbors="bounded",
    )  # fmt: skip
    assert report.verdict == "holds if post-processed"
    assert "None" not in repr(report) + report.counterexample(report.decisive)


@pytest.mark.exhaustive
def test_a_fresh_process_for_each_dataset():
    CALLED[:] = [(7,)]
    kept = audit_mechanism(first_call_tells, [0, 5], 1, epsilon=1, neighbors="bounded")
    assert kept.verdict == "not judged"
    fresh = audit_mechanism(first_call_tells, [0, 5], 1, epsilon=1, neighbors="bounded", fresh=True)
    assert fresh.verdict == "violated"


@pytest.mark.exhaustive
def test_too_many_paths_are_refused():
    def printed(_, rng):
        return str([rng.integers(100) for _ in range(5)])

    with pytest.raises(sl.errors.TooLargeError) as caught:
        audit_mechanism(printed, [0, 1], 1, epsilon=1, neighbors="bounded", branches=500)
    assert str(caught.value).startswith("on [0] the draws lead to more than 500 paths")


def _redrawn(rejects):
    """Redraw two-sided geometric noise until a count is from 0 to 3."""

    def redrawn(data, rng):
        while True:
            y = len(data) + rng.geometric(0.5) - rng.geometric(0.5)
            if not rejects(y):
                return int(y)

    return redrawn


@pytest.mark.exhaustive
def test_a_loop_that_rejects_in_two_ways_ends_in_bounds_or_is_refused_with_advice():
    """2**k paths after k rejections: what is left at the limit is part of the bounds."""
    two_ways = _redrawn(lambda y: y < 0 or y > 3)
    refused_with(
        lambda: audit_mechanism(
            two_ways, [1], [1, 2], epsilon=1, neighbors="unbounded", branches=20
        ),
        "reject by one comparison, such as abs",
        sl.errors.TooLargeError,
    )
    one_way = _redrawn(lambda y: abs(y - 1.5) > 1.5)
    exact = audit_mechanism(one_way, [1], [1, 2], epsilon=1, neighbors="unbounded", branches=200)
    # On n records P(y) is in proportion to 2 ** -abs(y - n): (2, 4, 2, 1) / 9 and (1, 2, 4, 2) / 9.
    assert exact.delta(0) == pytest.approx((3 / 9, 3 / 9), abs=1e-9)


@pytest.mark.exhaustive
def test_a_script_lists_what_it_needs():
    def halved(data, rng):
        return int(rng.integers(300 * (1 + data[0])))

    report = audit_mechanism(halved, [0, 1], 1, epsilon=0.5, neighbors="bounded", branches=700)
    assert len(report.event()) == 300
    assert report.script.count("    {(): (") == 150  # half of the event
    rarely = audit_mechanism(
        halved, [0, 1], 1, epsilon=0.5, delta=0.4, neighbors="bounded", branches=700
    )
    assert rarely.verdict == "violated"
    with pytest.raises(sl.errors.InputError, match="lists at most 200 outcomes"):
        rarely.script  # noqa: B018


def keys_of_data(data, rng):
    return {key: data.count(key) + rng.geometric(0.5) - rng.geometric(0.5) for key in set(data)}


def nan_if_empty(data, rng):
    return float("nan") if not data else sum(data) + rng.integers(10)


def raises_if_empty(data, rng):
    return sum(data) / len(data) + rng.integers(10)


def exact_if_all_agree(data, rng):
    return data[0] if len(set(data)) == 1 else sum(data) + rng.integers(100)


@pytest.mark.parametrize(
    ("function", "sizes", "delta"),
    [
        (keys_of_data, [1, 2], 1),
        (nan_if_empty, [0, 1], 1),
        (raises_if_empty, [0, 1], 1),
        (exact_if_all_agree, [2], 0.99),
    ],
)
def test_leaks_are_violations_with_their_probability(function, sizes, delta):
    neighbors = "bounded" if len(sizes) == 1 else "unbounded"
    report = audit_mechanism(function, [0, 1], sizes, epsilon=1, delta=1e-6, neighbors=neighbors)
    assert report.verdict == "violated"
    assert report.delta(1)[1] >= delta - 0.05


def with_laplace(data, rng):
    return sum(data) + rng.laplace(scale=2.0)


def with_gauss(data, rng):
    return sum(data) + rng.normal(0, 2)


def two_scales(data, rng):
    return sum(data) + (1 + len(data)) * rng.laplace()


def one_draw_twice(data, rng):
    noise = rng.laplace(scale=2)
    return sum(data) + noise, len(data) + noise


def gaussian_delta(epsilon):
    """Balle and Wang 2018, theorem 5, for a shift of half a standard deviation."""

    def below(z):
        return math.erfc(-z / math.sqrt(2)) / 2

    return below(0.25 - 2 * epsilon) - math.exp(epsilon) * below(-0.25 - 2 * epsilon)


@pytest.mark.representative("function")
@pytest.mark.parametrize("epsilon", [0, 0.1, 0.3, 0.5, 0.69, 2])
@pytest.mark.parametrize(
    ("function", "curve"),
    [
        (respond, lambda epsilon: 0.75 - math.exp(epsilon) * 0.25),
        (noisy_sum, lambda epsilon: -math.expm1(epsilon - math.log(2)) / 1.5),
        (with_laplace, lambda epsilon: -math.expm1((epsilon - 0.5) / 2)),
        (with_gauss, gaussian_delta),
    ],
)
def test_the_curve_of_a_mechanism(function, curve, epsilon):
    report = audit_mechanism(function, [0, 1], 1, epsilon=1, delta=0.1, neighbors="bounded")
    assert report.delta(epsilon) == (pytest.approx(max(0.0, curve(epsilon)), abs=1e-12),) * 2


@pytest.mark.parametrize(
    ("function", "rho", "verdict"),
    [
        (with_gauss, 0.125, "tight"),
        (with_gauss, 0.12, "violated"),
        (with_gauss, 0.2, "loose"),
        (with_laplace, 0.1, "violated"),
        (with_laplace, 0.125, "not judged"),
        (with_laplace, 0.126, "loose"),
        (two_scales, 5, "violated"),
        (noisy_sum, 1, "not judged"),
    ],
)
def test_claims_of_rho(function, rho, verdict):
    sizes, neighbors = (2, "bounded") if function is not two_scales else ([1, 2], "unbounded")
    report = audit_mechanism(function, [0, 1], sizes, rho=rho, neighbors=neighbors)
    assert report.verdict == verdict


def test_rho_takes_the_place_of_epsilon():
    for given in ({"epsilon": 1}, {"delta": 0.1}):
        refused(
            partial(audit_mechanism, with_gauss, [0, 1], 2, rho=1, neighbors="bounded", **given),
            "rho takes the place of epsilon and delta; leave these out",
        )


def test_gaussian_noise_gives_no_pure_epsilon():
    report = audit_mechanism(with_gauss, [0, 1], 2, epsilon=5, neighbors="bounded")
    assert (report.verdict, report.rows[0].value) == ("violated", math.inf)


def test_unequal_scales_have_no_pure_epsilon_in_one_order():
    report = audit_mechanism(two_scales, [0, 1], [1, 2], epsilon=5, neighbors="unbounded")
    assert (report.verdict, report.rows[0].value) == ("violated", math.inf)
    assert len(report.rows[0].evidence.x) == 2  # the wider noise reaches where the other does not


def test_one_draw_in_two_answers_is_a_leak():
    report = audit_mechanism(one_draw_twice, [0, 1], 2, epsilon=5, neighbors="bounded")
    assert report.verdict == "violated"
    assert report.delta(100) == (1, 1)
    assert report.notes == ("event: release[0] - release[1] is -2",)


@pytest.mark.parametrize(
    ("factor", "event"), [(-0.1, "release > -0.125"), (2, "release < 2.5"), (-1, "release > -1.25")]
)
def test_events_of_one_number_are_in_terms_of_the_release(factor, event):
    """At a noisy sum of 1.25, the logarithm of the ratio is (0.75 - 0.25) / 0.5 = 1."""

    def scaled(data, rng):
        return factor * (1 + sum(data) + rng.laplace(scale=0.5))

    report = audit_mechanism(scaled, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert report.notes == (f"event: {event}",)


def noisy_count(data, rng):
    return len(data) + rng.geometric(0.5) - rng.geometric(0.5)


@pytest.mark.parametrize(
    ("epsilon", "delta", "verdict"),
    [
        (math.log(2), 1e-10, "tight"),
        (math.log(2) * (1 + 1e-6), 1e-10, "loose"),
        (math.log(2), 0.1, "loose"),  # epsilon 0.54 is enough
        (math.log(2) * (1 - 1e-6), 1e-10, "violated"),
    ],
)
def test_a_delta_for_the_tails_alone_leaves_epsilon_tight(epsilon, delta, verdict):
    report = audit_mechanism(
        noisy_count, [0], [1, 2], epsilon=epsilon, delta=delta, neighbors="unbounded"
    )
    assert report.verdict == verdict
    row = report.rows[0]
    assert row.quantity == (
        "an epsilon at delta 1e-10"
        if verdict == "tight"
        else f"a delta at epsilon {sl.results.literals.brief(epsilon)}"
    )
    kind = "epsilons" if verdict == "tight" else "deltas"
    assert f"claimed and truth are {kind};" in report.setting


@pytest.mark.exhaustive
def test_draws_that_are_turned_into_too_many_numbers_are_refused():
    """Three draws of some fifty likely values each; a run is counted by its draws."""
    runs = []

    def as_numbers(data, rng):
        runs.append(data)
        return [int(rng.geometric(0.3) - rng.geometric(0.3)) + len(data) for _ in range(3)]

    refused_with(
        lambda: audit_mechanism(
            as_numbers, [0], [1, 2], epsilon=1, delta=1e-6, neighbors="unbounded"
        ),
        r"do not wrap draws in int\(\)",
        sl.errors.TooLargeError,
    )
    assert len(runs) < 10_000


@pytest.mark.exhaustive
def test_noise_that_is_compared_runs_many_times():
    def redrawn(data, rng):
        while abs(noise := rng.laplace()) > 3:
            pass
        return sum(data) + noise

    report = audit_mechanism(redrawn, [0, 1], 1, epsilon=5, neighbors="bounded")
    assert report.verdict == "not refuted"
    assert not report.sound
    line = redrawn.__code__.co_firstlineno + 1
    assert report.decisive.sentence.endswith(
        " s found no violation: not refuted (the function compares noise so that its exact law has "
        f"more than 1,024 paths; test_audit_mechanism.py:{line} compares draws (while abs(noise := "
        "rng.laplace()) > 3:))"
    )
    with pytest.raises(sl.errors.InputError) as caught:
        report.delta(1)
    assert str(caught.value).startswith("no law of ")


def test_ends_of_clipped_noise_tell_neighbors_apart():
    """Below -2 is only one of two neighbors, with probability 0.068."""

    def clipped(data, rng):
        return sum(data) + np.clip(rng.laplace(), -3, 3)

    report = audit_mechanism(clipped, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert (report.verdict, report.rows[0].value) == ("violated", math.inf)
    assert report.delta(1)[0] > math.exp(-2) / 2


def test_a_coin_beside_continuous_noise():
    """The noisy branch has probability 0.5 and 0.6: its loss is 1 and log(1.2) together."""

    def coin(data, rng):
        if rng.random() < (0.5 if data[0] else 0.6):
            return sum(data) + rng.laplace()
        return "none"

    report = audit_mechanism(coin, [0, 1], 1, epsilon=2, neighbors="bounded")
    assert report.epsilon() == (pytest.approx(1 + math.log(1.2), abs=1e-14),) * 2


# Mistakes planted in the driver: each is seen by a curve above, or by masses that do not add up.


def test_one_direction_of_delta_is_not_enough():
    """P(1) is 1/2 on one dataset and 0 on the other: only one order shows delta(10) = 1/2."""

    def one_sided(data, rng):
        return int(rng.random() < 0.5) if data[0] else 0

    for values in ([0, 1], [1, 0]):
        report = audit_mechanism(one_sided, values, 1, epsilon=10, delta=1e-3, neighbors="bounded")
        assert report.delta(10) == (0.5, 0.5)


def test_options_of_probability_0_do_not_run():
    def choosing(_, rng):
        option = rng.choice(["a", "b", "never"], p=[0.5, 0.5, 0.0])
        assert option != "never"
        return str(option)

    report = audit_mechanism(choosing, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert report.epsilon() == (0.0, 0.0)


@pytest.mark.exhaustive
def test_masses_sum_to_one_with_what_is_left():
    from sensitivity_lab.audits.driven.runs import explore

    def redrawn(data, rng):
        while True:
            noise = rng.geometric(0.5) - rng.geometric(0.5)
            if abs(noise) <= 1:
                return sum(data) + noise

    found = explore(redrawn, [1])
    total = sum((leaf.whole_mass for leaf in found.leaves), Fraction(0))
    assert total + found.unexplored == 1
    assert 0 < found.unexplored < Fraction(1, 10**12)


def test_large_laws_are_compared_part_by_part():
    """Four noisy counts of which one moves cost what one does, and have its curve."""

    def counts(data, rng):
        noise = rng.geometric(0.5, size=4) - rng.geometric(0.5, size=4)
        return np.bincount(data, minlength=4) + noise

    report = audit_mechanism(
        counts, datasets=[[0, 1], [0, 1, 2]], epsilon=0.6, delta=1e-9, neighbors="unbounded"
    )
    true = -math.expm1(0.6 - math.log(2)) / 1.5
    assert report.delta(0.6) == (pytest.approx(true, abs=1e-12),) * 2


@pytest.mark.parametrize(
    "exponent", [Fraction(1), Fraction(-3, 7), Fraction(40), Fraction(1, 10**9)]
)
def test_bounds_of_exponentials_hold(exponent):
    low, high = of_laws.exp_bounds(exponent)
    assert low < high
    series, term = Fraction(0), Fraction(1)
    for step in range(1, 400):
        series += term
        term *= exponent / step
    assert low <= series <= high


def two_draws(scale):
    return lambda data, rng: sum(data) + rng.laplace(0, scale) + rng.laplace(0, scale)


def hidden(data, rng):
    """Some pairs have a law that is known, and some have none."""
    if sum(data) < 2:
        return sum(data) + rng.laplace(0, 1)
    return sum(data) + rng.laplace(0, 2) + rng.laplace(0, 2)


@pytest.mark.usefixtures("few_runs")
@pytest.mark.parametrize("claim", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-5}, {"rho": 1}])
def test_a_pair_without_a_law_is_not_hidden_by_one_that_has_one(claim):
    """It was: a claim that the other pairs hold was "loose" or "tight", and sound."""
    report = audit_mechanism(hidden, [0, 1], [1, 2, 3], neighbors="unbounded", **claim)
    assert report.verdict in ("not refuted", "violated (sampled)")  # its tails are unlike
    assert "no law is known" in report.setting


@pytest.mark.usefixtures("few_runs")
def test_a_sum_of_laplace_draws_is_sampled():
    report = audit_mechanism(two_draws(0.1), [0, 1], [1, 2], neighbors="unbounded", epsilon=1)
    assert report.verdict == "violated (sampled)"
    report = audit_mechanism(two_draws(1), [0, 1], [1, 2], neighbors="unbounded", epsilon=1)
    assert (report.verdict, report.sound) == ("not refuted", False)
    assert report.decisive.finding.reason == (
        "Laplace draws are added to other draws in one released number"
    )


@pytest.mark.exhaustive
def test_an_upper_bound_violates_nothing():
    """What is cut off was taken for a delta that the mechanism needs."""
    chance = 1 - math.exp(-1)

    def counted(data, rng):
        return len(data) + int(rng.geometric(chance)) - int(rng.geometric(chance))

    for delta in (1e-12, 1e-13):
        asked = {"epsilon": 1, "delta": delta, "neighbors": "unbounded"}
        report = audit_mechanism(counted, [0], [0, 1], **asked)
        assert (report.verdict, report.rows[0].truth) == ("not judged", None)
        assert "is between 0 and 2" in report.rows[0].reason
    assert audit_mechanism(counted, [0], [0, 1], **(asked | {"delta": 1e-10})).sound


def test_a_rare_leak_is_seen():
    def rare(data, rng):
        if data[0] == 2 and rng.random() < 1e-13:
            return "leak"
        return int(data[0] == 0) if rng.random() < 0.8 else int(data[0] != 0)

    report = audit_mechanism(rare, [0, 1, 2], 1, epsilon=1.5, neighbors="bounded")
    assert (report.verdict, report.rows[0].value) == ("violated", math.inf)


SCALE = 0.5


def noisier(number, rng):
    return number + rng.laplace(0, SCALE)


def nested(data, rng):
    """It uses a constant and a function of this module."""
    return {"total": [noisier(sum(data), rng), 3]}


def shared(data, rng):
    noise = rng.laplace(0, 1)
    return [sum(data) + noise, noise]


@pytest.mark.exhaustive
@pytest.mark.parametrize("function", [nested, shared])
def test_a_script_shows_violations_of_continuous_noise(function, tmp_path):
    """Its event used to be empty, so it showed none."""
    report = audit_mechanism(function, [0, 1], [1, 2], epsilon=1, neighbors="unbounded")
    assert report.verdict == "violated"
    path = tmp_path / "script.py"
    path.write_text(report.script)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    on_x, on_y, allowed = (float(number) for number in re.findall(r": ([\d.e-]+)", done.stdout))
    assert on_x > 1.5 * allowed
    assert on_y < on_x


def test_a_dataset_beside_itself_is_not_told_apart():
    """It was "violated", with a delta of 2."""

    def noisy(data, rng):
        return sum(data) + rng.laplace(0, 2)

    asked = {"epsilon": 0.5, "neighbors": "hamming", "distances": [0, 1]}
    report = audit_mechanism(noisy, [0, 1], 1, **asked)
    assert [(row.verdict, row.value) for row in report.rows] == [("loose", 0), ("tight", 0.5)]
    assert report.delta(0.5, 0) == (0, 0)


def test_a_value_that_can_be_minus_zero_is_zero():
    """The sign of the one value of the example run counted for all."""

    def mirrored(data, rng):
        return -0.5 * (sum(data) + rng.geometric(0.5) - rng.geometric(0.5))

    report = audit_mechanism(mirrored, [0, 1], 1, epsilon=1, delta=1e-6, neighbors="bounded")
    assert report.sound
    assert report.delta(0.5)[1] < 0.2


@pytest.mark.usefixtures("few_runs")
def test_one_draw_released_twice_with_rounded_factors_is_no_leak():
    """The mean is a third of the sum but for what floats round."""

    def twice(data, rng):
        noise = rng.laplace(0, 1)
        return sum(data) + noise, np.mean(data) + noise / 3

    given = {"datasets": [[0, 0, 1], [0, 1, 1]], "epsilon": 1, "neighbors": "bounded"}
    assert audit_mechanism(twice, **given).verdict == "not refuted"


@pytest.mark.parametrize("weights", [(0.3, 0.7), (2**58 + 1, -(2**58))])
def test_weights_that_are_no_small_numbers_are_refused(weights):
    """They used to end in a MemoryError."""

    def weighted(data, rng):
        return weights[0] * rng.integers(4) + weights[1] * rng.integers(4) + data[0]

    asked = {"epsilon": 3, "delta": 1e-6, "neighbors": "bounded"}
    refused_with(
        lambda: audit_mechanism(weighted, [0, 1], 1, **asked),
        "decimal weights",
        sl.errors.TooLargeError,
    )


def test_names_of_entries_may_be_draws():
    def named(data, rng):
        return {data[0] + rng.integers(2): rng.integers(2)}

    report = audit_mechanism(named, [0, 1], 1, epsilon=3, delta=1e-6, neighbors="bounded")
    assert (report.verdict, report.rows[0].value) == ("violated", 0.5)


def test_a_long_binomial_draw_is_refused():
    def drawn(data, rng):
        return rng.binomial(9000, 0.5) + data[0]

    refused_with(
        lambda: audit_mechanism(drawn, [0, 1], 1, epsilon=3, delta=1e-6, neighbors="bounded"),
        "at most 2,000 trials, got 9,000",
        sl.errors.TooLargeError,
    )


@pytest.mark.runs_of_refuter(60_000)
def test_ties_of_decimals_have_no_law():
    """In floats 7 / 10 <= 0.7, and the fraction 7/10 is above the float 0.7; it needs log(4)."""

    def tied(data, rng):
        beside = rng.integers(2)
        return int(data[0] if rng.integers(10) / 10 <= 0.7 else 1 - data[0]), beside

    report = audit_mechanism(tied, [0, 1], 1, epsilon=0.9, neighbors="bounded")
    assert report.verdict == "violated (sampled)"
    assert "so that ties are not certain" in report.notes[1]


def test_a_large_epsilon_is_no_infinite_one():
    def rarely(data, rng):
        return 1 if rng.random() < (1e-250 if data[0] else 0.5) else 0

    report = audit_mechanism(rarely, [0, 1], 1, epsilon=600, neighbors="bounded")
    assert report.rows[0].value == pytest.approx(math.log(0.5 / 1e-250))
    assert report.verdict != "violated"


@pytest.mark.parametrize("epsilon", [1e-6, 0.001, 0.01, 0.1, 0.5])
def test_chances_in_floats_are_as_fine_as_floats_near_1(epsilon):
    """A chance near 1 / 2 is off by up to 2**-54, and so epsilon by up to 2**-52, small or not."""
    chance = math.exp(epsilon) / (1 + math.exp(epsilon))

    def answer(data, rng):
        return data[0] if rng.random() < chance else 1 - data[0]

    report = audit_mechanism(answer, [0, 1], 1, epsilon=epsilon, neighbors="bounded")
    assert report.verdict in ("tight", "tight up to rounding")

    def too_much(data, rng):
        return data[0] if rng.random() < chance + 1e-13 else 1 - data[0]

    report = audit_mechanism(too_much, [0, 1], 1, epsilon=epsilon, neighbors="bounded")
    assert report.verdict == "violated"


def test_an_event_is_printed_in_short_and_stays_as_it_is():
    def noisy_length(x, rng):
        return len(x) + rng.geometric(0.5) - rng.geometric(0.5)

    report = audit_mechanism(
        noisy_length, [0], [0, 1], neighbors="unbounded", epsilon=0.1, delta=1e-10
    )
    event = report.event()
    before = report.script
    assert max(map(len, map(repr, event))) < 100
    assert re.fullmatch(r"Atom\(release = -?\d+; p=[\d.e-]+, q=[\d.e-]+\)", repr(event[0]))
    assert len(repr(event[0].outcome.leaf)) < 1000
    assert report.script == before


@pytest.mark.exhaustive
def test_a_loop_with_two_ways_to_draw_again_is_cut():
    def drawn_again(x, rng):
        while True:
            y = len(x) + rng.geometric(0.5) - rng.geometric(0.5)
            if 0 <= y <= 3:
                return int(y)

    report = audit_mechanism(
        drawn_again, [0], [2, 3], neighbors="unbounded", epsilon=1, branches=1000
    )
    # Given the four values that are kept, 3 has 8/15 on three records, and 2/9 on two.
    assert report.epsilon()[0] == pytest.approx(math.log(12 / 5), abs=1e-3)


def test_two_tails_of_noise_with_another_scale_are_told_and_shown():
    def scaled(x, rng):
        return rng.laplace(scale=max(x))

    report = audit_mechanism(scaled, [1, 2], [1], neighbors="bounded", epsilon=0.1, delta=0.01)
    assert re.search(r"release < -[\d.]+ or release > [\d.]+", report.notes[0])
    assert " or release > " in report.script


def test_a_draw_of_an_earlier_audit_is_state():
    kept = []

    def coin(data, rng):
        kept.append(rng.integers(0, 2))
        return data[0] + kept[-1]

    def again(data, _rng):
        return data[0] + kept[0]

    audit_mechanism(coin, [0, 1], [1], neighbors="bounded", epsilon=1)
    refused_with(
        lambda: audit_mechanism(again, [0, 1], [1], neighbors="bounded", epsilon=1),
        "the same draws led to two releases",
        sl.errors.QueryError,
    )


def test_too_many_paths_name_the_line_that_converts_draws():
    def counts(data, rng):
        return [data.count(v) + int(rng.geometric(0.5)) - int(rng.geometric(0.5)) for v in (0, 1)]

    with pytest.raises(sl.errors.TooLargeError) as caught:
        audit_mechanism(counts, [0, 1], 1, epsilon=1, neighbors="bounded", branches=50)
    line = counts.__code__.co_firstlineno + 1
    told = str(caught.value).partition("; ")[2]
    assert told == (
        f"most of them begin where test_audit_mechanism.py:{line} turns draws into numbers (return "
        "[data.count(v) + int(rng.geometric(0.5)) - int(rng.geometric(0.5)) for v in (0, 1)]): do "
        "not wrap draws in int() or float(): whole-number draws stay whole; nor print or hash "
        "them; or take fewer records or values, or a larger epsilon; branches= allows more"
    )


def test_too_many_paths_name_the_line_that_compares_draws():
    def above(_, rng):
        noisy = [rng.geometric(0.5) for _ in range(20)]
        return [one > 3 for one in noisy]

    with pytest.raises(sl.errors.TooLargeError) as caught:
        audit_mechanism(above, [0, 1], 1, epsilon=1, neighbors="bounded", branches=50)
    line = above.__code__.co_firstlineno + 2
    assert f"begin where test_audit_mechanism.py:{line} compares draws (return [one > 3" in str(
        caught.value
    )
    assert "int()" not in str(caught.value)


def test_many_counts_that_are_compared_are_refused_after_few_runs():
    runs = []

    def frequent(data, rng):
        runs.append(1)
        noise = {key: rng.geometric(0.4) - rng.geometric(0.4) for key in range(30)}
        return {key: data.count(key) + own for key, own in noise.items() if own > 1}

    line = frequent.__code__.co_firstlineno + 3
    refused(
        lambda: audit_mechanism(frequent, [0, 1], [1], epsilon=1, neighbors="bounded"),
        "on [0] the draws lead to more than 2,222 paths (64 were run, and have probability "
        f"0.00411); most of them begin where test_audit_mechanism.py:{line} compares draws (return "
        "{key: data.count(key) + own for key, own in noise.items() if own > 1}); take fewer "
        "records or values, or a larger epsilon; branches= allows more",
        sl.errors.TooLargeError,
    )
    assert len(runs) == 64


@pytest.mark.exhaustive
def test_a_loop_that_adds_draws_is_refused_where_the_sum_takes_long():
    runs = []

    def added(data, rng):
        runs.append(1)
        return sum(data) + sum(rng.geometric(0.1) for _ in range(rng.geometric(0.3)))

    refused(
        lambda: audit_mechanism(added, [0, 1], [1], epsilon=1, neighbors="bounded"),
        "a sum of 9 draws takes 69,441,395 products, more than 50,000,000; add up fewer draws, "
        "draw from fewer values, or take a larger epsilon",
        sl.errors.TooLargeError,
    )
    assert len(runs) == 9


def test_clipped_gaussian_noise_proposes_discrete_gaussian_noise():
    def clipped(data, rng):
        return sum(data) + min(rng.normal(), 3)

    advice = (
        "the function compares Gaussian noise; draw whole numbers as noise, such as discrete "
        "Gaussian noise by rng.choice(values, p=weights), whose exact law is found"
    )
    report = audit_mechanism(clipped, [0, 1], 1, epsilon=1, neighbors="bounded")
    line = clipped.__code__.co_firstlineno + 1
    advice += f"; see test_audit_mechanism.py:{line} (return sum(data) + min(rng.normal(), 3))"
    assert report.decisive.reason == advice
    report = audit_mechanism(clipped, [0, 1], 1, rho=1, neighbors="bounded")
    assert report.decisive.reason == (
        f"{advice}; rho is judged only for continuous noise that is not cut; claim epsilon and "
        "delta"
    )


@pytest.mark.exhaustive
def test_of_discrete_noise_delta_is_known_and_rho_where_the_table_ends():
    values = np.arange(-30, 31)
    weights = np.exp(-(values**2) / (2 * 3**2))

    def noisy(data, rng):
        return sum(data) + rng.choice(values, p=weights / weights.sum())

    # Only one of two neighbors reaches the ends of the table.
    report = audit_mechanism(noisy, [0, 1], 1, rho=1, neighbors="bounded")
    assert (report.verdict, report.rows[0].value) == ("violated", math.inf)
    report = audit_mechanism(noisy, [0, 1], 1, epsilon=1, delta=1e-3, neighbors="bounded")
    # The sum of the law's differences, by floats that share nothing with the audit.
    p = weights / weights.sum()
    true = np.maximum(np.append(p, 0) - math.e * np.append(0, p), 0).sum()
    assert report.delta(1) == (pytest.approx(true, rel=1e-9),) * 2
    assert report.verdict == "loose"


def test_noise_on_one_neighbor_and_no_noise_at_times_on_the_other():
    """From the dataset of noise alone, no outcome without noise has a probability."""

    def noisy(data, rng):
        return "none" if rng.random() < data[0] / 2 else rng.laplace()

    report = audit_mechanism(noisy, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert report.verdict == "violated"
    assert (report.epsilon(), report.delta(1)) == ((math.inf, math.inf), (0.5, 0.5))


def test_a_dtype_that_tells_two_datasets_apart_is_told():
    def noisy(data, rng):
        noise = np.array([sum(data) + rng.laplace()])
        return noise.astype(object) if sum(data) else noise

    report = audit_mechanism(noisy, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert report.verdict == "violated"
    assert report.notes == (
        "event: release[0] is a number with continuous noise",
        "the dtype of release is float64 on x and object on y",
    )


@pytest.mark.exhaustive
def test_an_object_that_keeps_its_noise_is_judged_by_first_calls():
    class Cached:
        noise = None

        def release(self, data, rng):
            if self.noise is None:
                self.noise = rng.laplace()
            return sum(data) + self.noise

    report = audit_mechanism(Cached().release, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert report.verdict == "not judged"
    assert report.unjudged == (
        "the function keeps noise from one call to the next; pass fresh=True, which gives each "
        "dataset a process of its own",
    )
    report = audit_mechanism(
        Cached().release, [0, 1], 1, epsilon=1, neighbors="bounded", fresh=True
    )
    assert report.verdict == "tight"


def test_numbers_that_no_float_holds_are_numbers():
    """A claim as a long double, and releases of 400 digits, as Python's whole numbers can have."""
    report = audit_mechanism(
        lambda x, _: 10**400 * len(x),
        *([0], range(2)),
        epsilon=np.longdouble("0.5"),
        neighbors="unbounded",
    )
    assert (report.verdict, report.rows[0].claimed) == ("violated", 0.5)


def test_rho_may_be_a_long_double():
    def release(x, rng):
        return sum(x) + rng.normal(0, 2)

    report = audit_mechanism(*(release, [0, 1], 1), rho=np.longdouble("0.125"), neighbors="bounded")
    assert report.verdict == "tight"


def leaks(data, _):
    return data[0]


def leaks_beside_noise(data, rng):
    return [data[0], rng.normal()]


def leaks_by_chance(data, rng):
    return data[0] if rng.integers(4) == 0 else 7


def noise_on_one_side(data, rng):
    return rng.normal() if data[0] else 0.5


def twice_the_same_noise(data, rng):
    noise = rng.normal()
    return [noise, noise + data[0]]


RHO_LEAKS = [leaks, leaks_beside_noise, leaks_by_chance, noise_on_one_side, twice_the_same_noise]


@pytest.mark.parametrize("function", RHO_LEAKS)
def test_what_only_one_neighbor_releases_has_no_rho(function):
    report = audit_mechanism(function, [0, 1], 1, rho=1, neighbors="bounded")
    assert (report.verdict, report.rows[0].value) == ("violated", math.inf)
    assert report.notes[0].startswith("event: ")
    first, second = (
        seen["P(event)"]
        for seen in (report.rows[0].evidence.answer_x, report.rows[0].evidence.answer_y)
    )
    assert first > 0 == second


def test_rho_of_outcomes_that_both_neighbors_have_is_not_judged():
    report = audit_mechanism(respond, [0, 1], 1, rho=1, neighbors="bounded")
    assert (report.verdict, report.decisive.reason) == (
        "not judged",
        "rho is judged only for continuous noise that is not cut; claim epsilon and delta, and "
        "draw discrete Gaussian noise with rng.choice(values, p=weights)",
    )


def test_what_was_left_out_may_hold_what_one_law_lacks():
    """Cut tails: the largest number of one neighbor is beyond those that were explored."""
    report = audit_mechanism(noisy_sum, [0, 1], 1, rho=1, neighbors="bounded")
    assert report.verdict == "not judged"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (
            lambda data, rng: sum(data) + rng.gamma(2),
            "the function draws by rng.gamma; covered are integers, choice, permutation, shuffle, "
            "binomial, multinomial, geometric, poisson, random and uniform, and the continuous "
            "laplace, exponential, standard_exponential, gumbel, normal and standard_normal",
        ),
        (
            lambda data, rng: sum(data) + copy.deepcopy(rng).integers(3),
            "the function copies its generator, so that the copy repeats its draws; draw all from "
            "one",
        ),
        # Rounded noise is told from a rounded release.
        (
            lambda data, rng: sum(data) + int(rng.laplace()),
            "the function does more with continuous noise than add numbers and multiply by them, "
            "such as float(), int(), round() or exp(). Where that is done with the sum of the "
            "exact answer and the noise, return the sum as it is: what is done with it later "
            "costs no privacy. Noise that is truncated or rounded before it is added is other "
            "noise, which can lose more: round the sum instead, or draw whole numbers as noise, "
            "such as rng.geometric(p) - rng.geometric(p), whose exact law is found",
        ),
    ],
)
def test_what_is_not_covered_is_never_certified(function, reason):
    report = audit_mechanism(function, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert report.verdict == "violated (sampled)"  # as all three are
    assert report.notes[1].split("; see ")[0] == f"no law is known: {reason}"


def test_the_truth_of_a_violation_is_the_largest():
    """It was that of the pair with the largest delta at the claim: ln(3), not ln(9)."""

    def respond(data, rng):
        kept = 0.9 if data[0] > 1 else 0.75
        return data[0] % 2 if rng.random() < kept else 1 - data[0] % 2

    report = audit_mechanism(respond, [0, 1, 2, 3], 1, neighbors="bounded", epsilon=1)
    assert report.rows[0].value == pytest.approx(math.log(9))


def test_skellam_noise_has_the_delta_of_its_law():
    def skellam(data, rng):
        return sum(data) + rng.poisson(30) - rng.poisson(30)

    report = audit_mechanism(skellam, [0, 1], 2, neighbors="bounded", epsilon=0.5, delta=1e-5)
    at = np.arange(-300, 301)
    p, q = stats.skellam.pmf([at, at - 1], 30, 30)
    truth = float(np.maximum(p - math.exp(0.5) * q, 0).sum())
    assert report.verdict == "loose"
    assert report.delta(0.5) == pytest.approx((truth, truth), rel=1e-8)
    with pytest.raises(sl.errors.QueryError, match="lam < 0 or lam is NaN"):
        audit_mechanism(
            lambda data, rng: sum(data) + rng.poisson(-1), [0, 1], 1, neighbors="bounded", epsilon=1
        )


def wraps(data, rng):
    drawn = rng.integers(0, 10, dtype=np.uint8)
    with np.errstate(over="ignore"):
        return bool(np.uint8(250 + data[0]) + drawn < 100)


@pytest.mark.parametrize(
    ("function", "verdict"),
    [
        (lambda data, rng: data[0] + round(rng.integers(0, 100), -1), "violated"),
        (lambda data, rng: data[0] + round(rng.geometric(0.1) - 1, -1), "violated"),
        (lambda data, rng: data[0] + pd.Series(rng.integers(0, 100, 1)).round(-1)[0], "violated"),
        (
            lambda data, rng: data[0] + pd.DataFrame([rng.integers(0, 100, 1)]).round(-1)[0][0],
            "violated (sampled)",
        ),
        (wraps, "violated (sampled)"),
    ],
)
def test_what_is_done_otherwise_with_few_numbers_is_seen(function, verdict):
    """Each of these was "sound": a symbol was compared with one number, which was often 0."""
    report = audit_mechanism(function, [0, 1], 1, epsilon=0.01, delta=0.01, neighbors="bounded")
    assert report.verdict in (verdict, "not refuted" if "sampled" in verdict else verdict)


def test_the_curve_is_that_of_all_neighbors():
    """At other losses another order than the deciding one needs more: "c" is impossible on x."""

    def released(data, rng):
        drawn = rng.integers(0, 100)
        if data[0] == 0:
            return "a" if drawn < 60 else "b"
        return "a" if drawn < 20 else "b" if drawn < 99 else "c"

    report = audit_mechanism(released, [0, 1], 1, epsilon=1, delta=0.5, neighbors="bounded")
    assert report.epsilon() == report.epsilon(0.005) == (math.inf, math.inf)
    assert report.delta(3) == pytest.approx((0.01, 0.01))
    assert report.delta(1)[1] == pytest.approx(max(0.6 - math.e * 0.2, 0.8 - math.e * 0.4))


def test_a_script_takes_tuples():
    def noisy(data, rng):
        return data[0] + int(rng.integers(0, 2))

    report = audit_mechanism(noisy, datasets=[(0,), (3,)], neighbors="bounded", epsilon=1)
    told = subprocess.run(
        [sys.executable, "-c", report.script], capture_output=True, text=True, check=True
    ).stdout
    assert re.fullmatch(r"event on x: (0\.[45]\d*|1), on y: 0, allowed on x: 0\n", told)
