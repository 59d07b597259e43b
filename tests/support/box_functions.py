"""Forty functions as practitioners write them, with the least record that they are defined from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def midrange(x):
    return (x.min() + x.max()) / 2


def huber_loss(x):
    return np.mean(np.where(x < 0.5, x**2, x - 0.25))


def hill(x):
    """The mean log of the two largest records over the next one."""
    ordered = np.sort(x)
    return np.mean(np.log(ordered[-2:])) - np.log(ordered[-3])


def gini(x):
    return np.abs(x[:, None] - x[None, :]).sum() / (2 * len(x) ** 2 * (0.1 + x.mean()))


def skewness(x):
    return np.mean((x - x.mean()) ** 3) / (0.05 + x.std() ** 3)


def kurtosis(x):
    return np.mean((x - x.mean()) ** 4) / (0.05 + x.var() ** 2)


def autocovariance(x):
    d = x - x.mean()
    return np.mean(d[1:] * d[:-1])


def trend(x):
    """The slope of a line through sorted records."""
    t = np.arange(len(x)) - (len(x) - 1) / 2
    return np.dot(t, x) / np.dot(t, t)


def correlation(x):
    """Of sorted records with their ranks."""
    t = np.arange(len(x)) - (len(x) - 1) / 2
    return np.dot(t, x) / (np.sqrt(np.dot(t, t)) * (0.5 + np.sqrt(len(x)) * x.std()))


def entropy(x):
    p = x / x.sum()
    return -np.sum(p * np.log(p))


def winsorized(x):
    ordered = np.sort(x)
    return np.clip(x, ordered[1], ordered[-2]).mean()


def gaps(x):
    return np.diff(x).max()


FORTY: dict[str, tuple[Callable[[Any], Any], float]] = {
    "mean": (np.mean, 0),
    "std": (lambda x: x.std(ddof=1), 0),
    "variance": (np.var, 0),
    "coefficient of variation": (lambda x: x.std() / x.mean(), 0.1),
    "shifted variation": (lambda x: x.std() / (1 + x.mean()), 0),
    "index of dispersion": (lambda x: x.var() / x.mean(), 0.1),
    "signal to noise": (lambda x: x.mean() / (0.1 + x.std()), 0),
    "geometric mean": (lambda x: np.exp(np.log(x).mean()), 0.1),
    "geometric mean of product": (lambda x: np.prod(x) ** (1 / len(x)), 0.1),
    "harmonic mean": (lambda x: len(x) / np.sum(1 / x), 0.1),
    "root mean square": (lambda x: np.sqrt(np.mean(x**2)), 0),
    "power mean": (lambda x: np.mean(x**3) ** (1 / 3), 0.1),
    "softmax mean": (lambda x: np.sum(x * np.exp(x)) / np.sum(np.exp(x)), 0),
    "log-sum-exp": (lambda x: np.log(np.sum(np.exp(x))), 0),
    "soft maximum": (lambda x: np.log(np.mean(np.exp(4 * x))) / 4, 0),
    "entropy": (entropy, 0.1),
    "Herfindahl": (lambda x: np.sum((x / x.sum()) ** 2), 0.1),
    "Simpson": (lambda x: 1 - np.sum(x**2) / (1 + x.sum()) ** 2, 0),
    "third central moment": (lambda x: np.mean((x - x.mean()) ** 3), 0),
    "skewness": (skewness, 0),
    "kurtosis": (kurtosis, 0),
    "clipped sum": (lambda x: np.clip(x, 0.2, 0.8).sum(), 0),
    "winsorized mean": (winsorized, 0),
    "ratio of sums": (lambda x: x.sum() / (1 + np.sum(x**2)), 0),
    "ratio to the largest": (lambda x: x.mean() / x.max(), 0.1),
    "median": (np.median, 0),
    "interquartile range": (lambda x: np.percentile(x, 75) - np.percentile(x, 25), 0),
    "trimmed mean": (lambda x: np.sort(x)[1:-1].mean(), 0),
    "midrange": (midrange, 0),
    "range": (lambda x: x.max() - x.min(), 0),
    "norm": (np.linalg.norm, 0),
    "mean absolute deviation": (lambda x: np.abs(x - x.mean()).mean(), 0),
    "share above": (lambda x: np.mean(x > 0.5), 0),
    "huber loss": (huber_loss, 0),
    "log variance": (lambda x: np.log(0.1 + x.var()), 0),
    "gini": (gini, 0),
    "hill": (hill, 0.1),
    "autocovariance": (autocovariance, 0),
    "trend": (trend, 0),
    "correlation": (correlation, 0),
}
