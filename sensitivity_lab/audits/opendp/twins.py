"""Twins of OpenDP's measurements: the same answer, with noise from a generator that is driven.

A measurement draws its noise inside OpenDP, where no audit sees it. Its twin calls the same
transformation, and adds the noise that the documentation of the last constructor states. So the
twin shows what the map promises too little of; it says nothing of OpenDP's own sampler.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.audits.driven.laws import exp_bounds
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics.cells import signed_key

from .answers import invoke

Noise = Callable[[Any, Any], Any]
"""Takes the exact answer and a generator, and returns the release."""


def twin_of(measurement: Any) -> Callable[[Any, Any], Any]:
    """Return a function of a dataset and a generator that releases as a measurement does.

    Raises
    ------
    InputError
        If no twin is known, with the reason.
    """
    before, last = _parts(measurement)
    noise = _noise_of(last)
    answers: dict[Any, Any] = {}

    def twin(data: Any, rng: Any) -> Any:
        # The exact answer is the same in all runs on a dataset: OpenDP is called once.
        key = signed_key(data)
        if key not in answers:
            answers[key] = data if before is None else invoke(before, data)
        return noise(answers[key], rng)

    return twin


def _parts(measurement: Any) -> tuple[Any, dict[str, Any]]:
    """Return the transformation before the noise, or None, and how the noise was made."""
    made = getattr(measurement, "__opendp_dict__", {})
    if made.get("__function__") == "make_chain_mt":
        arguments = made["__kwargs__"]
        last = arguments["measurement1"]
        return arguments["transformation0"], getattr(last, "__opendp_dict__", {})
    return None, made


def _noise_of(made: dict[str, Any]) -> Noise:
    """Return the noise of a constructor, or raise InputError."""
    name, arguments = made.get("__function__", ""), made.get("__kwargs__", {})
    if name not in _NOISES:
        raise InputError(
            f"no twin of {name or 'this measurement'} is known; those of {', '.join(_NOISES)} are. "
            "To compare sensitivities, give a function of a scale that returns the measurement"
        )
    return _NOISES[name](arguments)


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
