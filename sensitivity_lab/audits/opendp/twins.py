"""Twins of OpenDP's measurements: the same answer, with noise from a generator that is driven.

A measurement draws its noise inside OpenDP, where no audit sees it. Its twin calls the same
transformation, and adds the noise that the documentation of the last constructor states. So the
twin shows what the map promises too little of; it says nothing of OpenDP's own sampler.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.audits.driven.laws import exp_bounds
from sensitivity_lab.audits.returned import Part
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics.cells import signed_key

from .subject import invoke, made_by

Noise = Callable[[Any, Any], Any]
"""Takes the exact answer and a generator, and returns the release."""


def twin_of(measurement: Any) -> Callable[[Any, Any], Any]:
    """Return a function of a dataset and a generator that releases as a measurement does.

    Raises
    ------
    InputError
        If no twin is known, with the reason.
    """
    name, arguments = made_by(measurement)
    if name == "make_composition":
        twins = [twin_of(one) for one in arguments["measurements"]]
        return lambda data, rng: [one(data, rng) for one in twins]
    if name == "make_chain_pm":
        first, then = twin_of(arguments["measurement0"]), arguments["postprocess1"]
        return lambda data, rng: then(_as_numbers(first(data, rng)))
    if name in _SAME_RELEASE:
        return twin_of(arguments["measurement"])
    before, name, arguments = _parts(measurement)
    if name not in _NOISES:
        raise InputError(
            f"no twin of {name or 'this measurement'} is known; those of {', '.join(_NOISES)} are: "
            "audit the transformation before it"
        )
    noise = _NOISES[name](arguments)
    answers: dict[Any, Any] = {}

    def twin(data: Any, rng: Any) -> Any:
        # The exact answer is the same in all runs on a dataset: OpenDP is called once.
        key = signed_key(data)
        if key not in answers:
            answers[key] = data if before is None else invoke(before, data)
        return noise(answers[key], rng)

    return twin


def _as_numbers(release: Any) -> Any:
    """Return a release as OpenDP takes it, whose functions see no symbols."""
    if isinstance(release, list):
        return list(map(_as_numbers, release))
    if isinstance(release, dict):
        return {key: _as_numbers(entry) for key, entry in release.items()}
    return release.decided() if isinstance(release, Part) else release


def _parts(measurement: Any) -> tuple[Any, str, dict[str, Any]]:
    """Return the transformation before the noise, or None; who made the noise, and of what."""
    name, arguments = made_by(measurement)
    if name == "make_chain_mt":
        return arguments["transformation0"], *made_by(arguments["measurement1"])
    return None, name, arguments


def _has_whole_numbers(arguments: dict[str, Any]) -> bool:
    """Tell whether the numbers that get noise are whole: the last type of the domain is theirs."""
    *_, kind = re.findall(r"T=(\w+)", str(arguments["input_domain"]))
    return not kind.startswith("f")


def _each(release: Callable[[Any, Any], Any]) -> Noise:
    """Apply noise to a number, or to each entry of a list."""

    def noisy(answer: Any, rng: Any) -> Any:
        if isinstance(answer, list):
            return [release(number, rng) for number in answer]
        return release(answer, rng)

    return noisy


def _two_sided(scale: float) -> Callable[[Any, Any], Any]:
    """Return noise with probabilities in proportion to e ** -(abs(z) / scale), of whole z."""
    if scale == 0:
        return lambda number, _: number
    # With more digits than a float: for small scales they are what counts.
    low, high = exp_bounds(-1 / Fraction(scale))
    chance = 1 - (low + high) / 2
    return lambda number, rng: number + rng.geometric(chance) - rng.geometric(chance)


def _discrete_normal(scale: float, threshold: float) -> Callable[[Any, Any], Any]:
    """Return noise with probabilities in proportion to e ** -(z**2 / (2 scale**2)), of whole z.

    It reaches ten standard deviations, and as far again as the threshold; beyond, less than 2**-60
    is left.
    """
    if scale == 0:
        return lambda number, _: number
    reach = math.ceil(10 * scale + abs(threshold))
    values = np.arange(-reach, reach + 1)
    weights = np.exp(-((values / scale) ** 2) / 2)
    chances = weights / weights.sum()
    return lambda number, rng: number + rng.choice(values, p=chances)


def _laplace(arguments: dict[str, Any]) -> Noise:
    scale = arguments["scale"]
    for name in ("bounds", "k"):
        if arguments.get(name) is not None:
            raise InputError(f"no twin of noise with {name}= is known; leave it out")
    if _has_whole_numbers(arguments):
        return _each(_two_sided(scale))
    return _each(lambda number, rng: number + rng.laplace(0, scale))


def _gaussian(arguments: dict[str, Any]) -> Noise:
    scale = arguments["scale"]
    if arguments.get("k") is not None:
        raise InputError("no twin of noise with k= is known; leave it out")
    if _has_whole_numbers(arguments):
        raise InputError(
            "no twin of make_gaussian on whole numbers is known; to compare sensitivities, give a "
            "function of a scale that returns the measurement"
        )
    return _each(lambda number, rng: number + rng.normal(0, scale))


def _laplace_threshold(arguments: dict[str, Any]) -> Noise:
    return _above(arguments, _two_sided(arguments["scale"]))


def _gaussian_threshold(arguments: dict[str, Any]) -> Noise:
    return _above(arguments, _discrete_normal(arguments["scale"], arguments["threshold"]))


def _above(arguments: dict[str, Any], noise: Callable[[Any, Any], Any]) -> Noise:
    """Keep the keys whose noisy value is at least the threshold."""
    least = arguments["threshold"]
    if not _has_whole_numbers(arguments):
        raise InputError("no twin of a threshold on floats is known; count in integers")

    def kept(answer: dict[Any, Any], rng: Any) -> dict[Any, Any]:
        noisy = {key: noise(answer[key], rng) for key in sorted(answer, key=repr)}
        return {key: number for key, number in noisy.items() if number >= least}

    return kept


def _one_of_two(arguments: dict[str, Any]) -> Noise:
    truthful = arguments["prob"]
    return lambda answer, rng: answer if rng.random() < truthful else not answer


def _one_of_several(arguments: dict[str, Any]) -> Noise:
    truthful, categories = arguments["prob"], list(arguments["categories"])

    def answered(answer: Any, rng: Any) -> Any:
        if answer not in categories:
            return categories[int(rng.integers(len(categories)))]
        if rng.random() < truthful:
            return answer
        others = [one for one in categories if one != answer]
        return others[int(rng.integers(len(others)))]

    return answered


_SAME_RELEASE = {"make_approximate", "make_fix_delta", "make_pureDP_to_zCDP",
                 "make_zCDP_to_approxDP", "make_fixed_approxDP_to_approxDP"}  # fmt: skip
"""What measures the loss otherwise, and releases the same."""

_OF_PLANS = {"dp_sum": 2, "dp_len": 0, "dp_frame_len": 0, "dp_count": 0, "dp_n_unique": 0,
             "dp_null_count": 0, "noise": 0}  # fmt: skip
"""What adds noise in a plan of Polars, and the place of its scale among its numbers."""

_ON_THE_WAY = {"Alias", "Select", "expr", "GroupBy", "aggs", "input", "Join", "input_left",
               "input_right", "Sort", "Filter", "Slice"}  # fmt: skip
"""What stands above noise that comes last; anything else computes with it."""


def check_adds_last(measurement: Any, scale: float) -> None:
    """Raise InputError unless a measurement adds noise of a scale to its answer, and ends there.

    Only then the loss that its map promises, times the scale, is a sensitivity.
    """
    _, name, arguments = _parts(measurement)
    if name == "make_composition":
        for one in arguments["measurements"]:
            check_adds_last(one, scale)
        return
    if name == "make_approximate":
        check_adds_last(arguments["measurement"], scale)
        return
    scales = [arguments.get("scale") if name in _NOISES else None]
    if name == "make_private_lazyframe" and arguments["global_scale"] in (None, 1):
        scales = list(_scales_of(arguments["lazyframe"]))
    if None in scales or not scales:
        called = name if name != "make_private_lazyframe" else "this plan of Polars"
        raise InputError(
            "a function of the scale is audited where noise of that scale is added last, as by "
            "make_laplace and make_gaussian, or by sum, len and count with scale= in a plan; the "
            f"loss of {called or 'this measurement'} tells nothing of its answer at scale 0: audit "
            "the transformation before it"
        )
    if any(one != scale for one in scales):
        raise InputError(
            f"make must add noise of the scale that it gets, but make({scale}) adds noise of scale "
            f"{next(one for one in scales if one != scale)}; pass the scale on as it is"
        )


def _scales_of(frame: Any) -> Iterator[float | None]:
    """Yield the scales of the noise in a plan of Polars; None for what is no noise at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Polars warns that another version may read no such text
        plan = json.loads(frame.serialize(format="json"))
    yield from _plugins(plan, True)


def _plugins(node: Any, last: bool) -> Iterator[float | None]:
    if isinstance(node, list):
        for one in node:
            yield from _plugins(one, last)
    if not isinstance(node, dict):
        return
    function = node.get("Function", {})
    made = function.get("function", "") if isinstance(function, dict) else ""
    if isinstance(made, dict) and "FfiPlugin" in made:
        name = made["FfiPlugin"]["symbol"]
        numbers = [
            number
            for one in function["input"]
            for number in one.get("Literal", {}).get("Dyn", {}).values()
        ]
        place = _OF_PLANS.get(name, len(numbers))
        yield numbers[place] if last and place < len(numbers) else None
        return
    for name, one in node.items():
        yield from _plugins(one, last and name in _ON_THE_WAY)


_NOISES: dict[str, Callable[[dict[str, Any]], Noise]] = {
    "make_gaussian": _gaussian,
    "make_gaussian_threshold": _gaussian_threshold,
    "make_geometric": _laplace,
    "make_laplace": _laplace,
    "make_laplace_threshold": _laplace_threshold,
    "make_randomized_response": _one_of_several,
    "make_randomized_response_bool": _one_of_two,
}
"""By the constructor that draws."""
