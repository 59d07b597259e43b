"""Code that converts noisy numbers: judged by what these cost, where it only processes them."""

from __future__ import annotations

import json
import math
from functools import partial

import numpy as np
import pytest

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_mechanism
from sensitivity_lab.audits.driven import handed


@pytest.fixture(autouse=True)
def few_vectors(monkeypatch, few_runs):  # noqa: ARG001 - the refuter has few runs
    monkeypatch.setattr(handed, "MOST", 200)


HOLDS = "holds if post-processed"


def noisy(x, rng, scale=1):
    return sum(x) + rng.laplace(0, scale)


def counts(x, rng):
    return np.array([x.count(0), x.count(1)]) + rng.laplace(0, 1, 2)


def one_by_one(x, rng):
    made = np.zeros(2)
    for place in (0, 1):
        made[place] = x.count(place) + rng.laplace()
    return made


def around_a_noisy_size(x, rng):
    size = max(1.0, len(x) + rng.laplace())
    return size, (sum(x) + rng.laplace(0, 1)) / size


RIGHT = {
    "rounded": (lambda x, rng: round(noisy(x, rng), 2), 1),
    "cut": (lambda x, rng: int(noisy(x, rng)), 1),
    "a text": (lambda x, rng: f"{noisy(x, rng):.2f}", 1),
    "JSON": (lambda x, rng: json.dumps({"n": float(noisy(x, rng))}), 1),
    "a float of NumPy": (lambda x, rng: np.float64(noisy(x, rng)), 1),
    "a ratio": (lambda x, rng: noisy(x, rng, 2) / max(1.0, len(x) + rng.laplace(0, 2)), 1),
    "sorted": (lambda x, rng: sorted(counts(x, rng)), 1),
    "sorted by NumPy": (lambda x, rng: np.sort(counts(x, rng)), 1),
    "rounded by NumPy": (lambda x, rng: np.round(counts(x, rng)), 1),
    "as whole numbers": (lambda x, rng: counts(x, rng).astype(int), 1),
    "one by one": (one_by_one, 1),
    "adaptive": (around_a_noisy_size, 2),
    "twice": (lambda x, rng: (float(z := noisy(x, rng)), round(2 * z + 1, 3)), 1),
}


@pytest.mark.representative("case")
@pytest.mark.parametrize("case", RIGHT)
def test_what_processes_noisy_numbers_costs_what_these_cost(case):
    function, cost = RIGHT[case]
    setting = {"universe": [0, 1], "size": [1, 2], "neighbors": "unbounded"}
    for epsilon in (cost, 1.5 * cost):
        report = audit_mechanism(function, **setting, epsilon=epsilon)
        assert (report.verdict, report.sound, report.held) == (HOLDS, False, True)
        assert report.rows[0].value == cost
        report.raise_if_violated()
    assert audit_mechanism(function, **setting, epsilon=0.9 * cost).verdict != HOLDS


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ({"rho": 0.5}, 0.5),
        # The normal law: Phi(1/2 - 1) - e Phi(-1/2 - 1).
        ({"epsilon": 1, "delta": 0.13}, 0.126936737),
    ],
)
def test_gaussian_numbers_cost_rho_or_delta(claim, value):
    report = audit_mechanism(
        lambda x, rng: round(sum(x) + rng.normal(), 1), [0, 1], 1, neighbors="bounded", **claim
    )
    assert (report.verdict, report.rows[0].value) == (HOLDS, pytest.approx(value, rel=1e-6))
    (told,) = report.notes
    assert told == (
        "after 200 vectors of values of its noisy numbers, the function returned the same on all "
        "neighbors; what it does once in 200 may escape them"
    )


def caught(x, rng):
    made = np.array([float(sum(x))])
    try:
        made += rng.laplace(0, 1, 1)  # in an array of floats is no room for a symbol
    except Exception:  # noqa: BLE001 - what is tested
        return [0.0]
    return round(float(made[0]), 2) + sum(x)


def shared(x, rng):
    noise = rng.laplace()
    return float(noise), round(sum(x) + noise, 3)


def retried(x, rng):
    while (value := round(noisy(x, rng), 2)) <= 0:
        pass
    return value


WRONG = {
    "beside": lambda x, rng: (round(noisy(x, rng)), len(x)),
    "above": lambda x, rng: sum(x) if (v := round(noisy(x, rng), 1)) > 4.2 else v,
    "far out": lambda x, rng: sum(x) if (v := round(noisy(x, rng), 1)) > 25 else v,
    "over the size": lambda x, rng: round(noisy(x, rng) / len(x), 3),
    "by its type": lambda x, rng: sum(x) if isinstance(v := noisy(x, rng), float) else round(v),
    "the noise alone": lambda x, rng: sum(x) + int(rng.laplace()),
    "the scale": lambda x, rng: round(noisy(x, rng, 1 + sum(x)), 2),
    "both at full epsilon": lambda x, rng: noisy(x, rng) / max(1.0, len(x) + rng.laplace()),
    "caught": caught,
    "shared noise": shared,
    "retried": retried,
    "an error": lambda x, rng: [round(noisy(x, rng))][sum(x)],
    "no such noise": lambda x, rng: round(sum(x) + rng.gamma(1.0), 2),
    "two draws": lambda x, rng: round(sum(x) + rng.laplace() - 9 * rng.laplace(), 2),
    "Gaussian": lambda x, rng: round(sum(x) + rng.normal(), 2),
}


@pytest.mark.representative("case")
@pytest.mark.parametrize("case", WRONG)
def test_what_does_more_is_not_held(case):
    report = audit_mechanism(WRONG[case], [0, 1], [1, 2], neighbors="unbounded", epsilon=1)
    assert not report.held


def test_what_noisy_numbers_cost_together_is_told():
    report = audit_mechanism(
        WRONG["both at full epsilon"], [0, 1], [1, 2], neighbors="unbounded", epsilon=1.5
    )
    assert report.rows[0].verdict in ("not refuted", "violated (sampled)")
    why = report.rows[0].finding.reason + " ".join(report.notes)
    assert "its noisy numbers cost 2 if all are released" in why


def test_a_loop_that_converts_for_ever_ends(monkeypatch):
    monkeypatch.setattr(handed, "_NUMBERS", 20)

    def endless(x, rng):
        values = [round(noisy(x, rng)) for _ in range(21)]
        return math.fsum(values)

    report = audit_mechanism(endless, [0, 1], 1, neighbors="bounded", epsilon=100)
    assert report.verdict != HOLDS


def test_a_noisy_number_in_json_is_released():
    def told(data, rng):
        return json.dumps({"n": len(data) + rng.laplace(), "of": [1, "a"]})

    audit = partial(audit_mechanism, universe=[0], size=[1, 2], neighbors="unbounded")
    assert audit(told, epsilon=1).verdict == HOLDS
    assert audit(told, epsilon=0.25).verdict == "violated (sampled)"
    assert audit(lambda data, _: json.dumps(len(data)), epsilon=1).verdict == "violated"
    with pytest.raises(sl.errors.QueryError, match="Object of type set is not JSON serializable"):
        audit(lambda data, _: json.dumps(set(data)), epsilon=1)
