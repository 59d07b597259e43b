"""Code that draws its noise from a sampler: where its answer is, and what its scale claims."""

# ruff: noqa: NPY002 - code in the field calls the samplers of the module

from __future__ import annotations

import numpy as np
import pytest

import sensitivity_lab as sl
from sensitivity_lab.audits.samplers.quiet import quiet

GENERATOR = np.random.default_rng(5)


def laplace_noise(scale, center=0.0):
    raise NotImplementedError("no noise in a test")


ADDED = {
    "a function of one's own": lambda x: sum(x) + laplace_noise(3.0),
    "the module of NumPy": lambda x: sum(x) + np.random.laplace(0, 3.0),
    "a new generator": lambda x: sum(x) + np.random.default_rng(1).laplace(scale=3.0),
    "a generator of the module": lambda x: sum(x) + GENERATOR.laplace(0.0, 3.0),
    "around the total": lambda x: np.random.laplace(sum(x), 3.0),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", ADDED)
@pytest.mark.parametrize(("epsilon", "verdict"), [(1, "tight"), (0.5, "violated"), (2, "loose")])
def test_noise_of_a_sampler_is_left_out_and_its_scale_is_the_claim(case, epsilon, verdict):
    samplers = ("numpy.random.laplace", np.random.default_rng, laplace_noise, GENERATOR)
    report = sl.audits.audit_sampled(
        ADDED[case], [0, 3], [1, 2], *samplers, neighbors="unbounded", epsilon=epsilon
    )
    (row,) = report.rows
    assert (row.claimed, row.exact, row.compared) == (3.0 * epsilon, 3, verdict)
    assert report.verdict == ("violated" if verdict == "violated" else "not judged")


def test_the_answer_is_where_the_caller_says():
    def rounded(x):
        return 100 * round(np.random.laplace(sum(x), 3.0) / 100)

    options = {"neighbors": "unbounded", "epsilon": 1, "subject": "rounded"}
    report = sl.audits.audit_sampled(rounded, [0, 3], [1, 2], value="location", **options)
    assert (report.rows[0].exact, report.rows[0].compared) == (3, "tight")
    assert "perhaps" not in report.setting
    with pytest.raises(sl.errors.QueryError, match="pass value='location'"):
        sl.audits.audit_sampled(rounded, [0, 3], [1, 2], **options)


def test_noise_alone_says_that_perhaps_the_wrong_thing_was_recorded():
    report = sl.audits.audit_sampled(
        lambda _: np.random.laplace(0, 3.0), [0, 3], 2, neighbors="bounded", epsilon=1
    )
    assert (report.rows[0].exact, report.rows[0].compared) == (0, "loose")
    assert report.setting.endswith(
        "implementation; the truth is 0 and the claim is not, so perhaps the wrong thing was "
        "recorded: see value="
    )


def test_own_names_of_parameters():
    report = sl.audits.audit_sampled(
        lambda x: laplace_noise(2.0, center=max(x)),
        [0, 2],
        2,
        laplace_noise,
        neighbors="bounded",
        epsilon=1,
        value="location",
        location="center",
    )
    assert (report.rows[0].claimed, report.rows[0].exact) == (2.0, 2)


def used_and_failing():
    samplers = ("numpy.random.laplace", GENERATOR)
    before = np.random.laplace, GENERATOR
    with quiet(samplers, "loc", "scale") as tap, tap.open():
        assert np.random.laplace is not before[0]
        assert GENERATOR.laplace(4.0, 2.0) == 4.0
        assert GENERATOR.bit_generator is before[1].bit_generator
        raise ArithmeticError("while samplers are quiet")


def test_everything_is_put_back():
    before = np.random.laplace, np.random.default_rng, GENERATOR
    with pytest.raises(ArithmeticError, match="while samplers are quiet"):
        used_and_failing()
    assert (np.random.laplace, np.random.default_rng, GENERATOR) == before


NO_PURE_EPSILON = (
    "the function draws Gaussian noise (normal), which gives no pure epsilon, however large it is: "
    "pass delta=, the chance of a larger loss that the code promises, and the L2 sensitivity is "
    "compared with what the noise is enough for"
)
NO_DELTA = (
    "the function draws Laplace noise (laplace), which epsilon alone describes: leave out delta=; "
    "where Gaussian noise is drawn as well, audit the two parts one by one"
)
DELTA = {"delta": 1e-6}

REFUSED = {
    "no noise": (
        {"function": sum},
        "on [0], the function drew no noise from a sampler; name its sampler, or give the "
        "generator itself that its module, its object or its closure holds",
    ),
    "two kinds of noise": (
        {"function": lambda x: np.random.laplace(0, 1) + np.random.normal(len(x), 2)},
        f"on [0], {NO_PURE_EPSILON}",
    ),
    "two kinds of noise, with a delta": (
        {"function": lambda x: np.random.laplace(0, 1) + np.random.normal(len(x), 2), **DELTA},
        f"on [0], {NO_DELTA}",
    ),
    "Gaussian noise and no delta": (
        {"function": lambda x: len(x) + np.random.default_rng().normal(0, 2)},
        f"on [0], {NO_PURE_EPSILON}",
    ),
    "Laplace noise and a delta": (DELTA, f"on [0], {NO_DELTA}"),
    "another norm": (
        {"norm": "Linf"},
        "norm must be 'L1' for Laplace noise, which is its default, got 'Linf'",
    ),
    "another norm of Gaussian noise": (
        {"norm": "L1", **DELTA},
        "norm must be 'L2' for Gaussian noise, which is its default, got 'L1'",
    ),
    "Gaussian noise of two scales": (
        {"function": lambda x: [len(x) + np.random.normal(0, s) for s in (1, 2)], **DELTA},
        "the function draws Gaussian noise of several scales, or whose answer or scale depends on "
        "what was released before; its losses cannot be added here: audit the draws one by one, "
        "each with its own epsilon and delta",
    ),
    "several scales in a call": (
        {"function": lambda x: np.random.laplace([len(x), 1], [1, 2])},
        "on [0], one call of laplace draws noise of 2 scales, so it has no single sensitivity; "
        "draw each number in a call of its own",
    ),
    "no sampler": (
        {"samplers": ["numpy.random.no"]},
        "a sampler must be a function, a generator of NumPy, or the dotted "
        "name of one, such as 'numpy.random.laplace', got 'numpy.random.no'",
    ),
    "no scale": (
        {"samplers": [laplace_noise], "scale": "b"},
        "scale must be the name of a parameter of laplace_noise(scale, center=0.0), got 'b'",
    ),
    "no loss": ({"epsilon": 0}, "epsilon must be a finite number above 0, got 0"),
    "no place": ({"value": "sum"}, "value must be one of 'returns', 'location', got 'sum'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    options, message = REFUSED[case]
    options = {"function": ADDED["around the total"], "epsilon": 1, **options}
    with pytest.raises((sl.errors.InputError, sl.errors.QueryError)) as caught:
        sl.audits.audit_sampled(
            options.pop("function"),
            [0],
            1,
            *options.pop("samplers", ()),
            neighbors="bounded",
            **options,
        )
    assert str(caught.value) == message
