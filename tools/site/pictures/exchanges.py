"""From any pair of neighbors to the worst one, by exchanging the labels of two records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

import sensitivity_lab as sl
from pictures.style import MEANING, bare, cell, new_figure

RECORDS = (1, 2, 4, 5, 7, 8, 11, 13, 16, 20)
"""The universe of these pictures, ascending."""

Labels = tuple[str, ...]
"""A label per record: C in both datasets, A only in x, B only in y, O in neither."""


def difference(labels: Labels, query: Callable[[Sequence[int]], float]) -> float:
    """How far the answers on x and y are apart."""
    x = [record for record, label in zip(RECORDS, labels, strict=True) if label in "CA"]
    y = [record for record, label in zip(RECORDS, labels, strict=True) if label in "CB"]
    return abs(query(x) - query(y))


def exchanges(start: Labels, query: Callable[[Sequence[int]], float]) -> list[Labels]:
    """From the start, make the exchange that gains most, until none gains anything."""
    steps = [start]
    while True:
        options = []
        for first, second in combinations(range(len(start)), 2):
            labels = list(steps[-1])
            labels[first], labels[second] = labels[second], labels[first]
            options.append(tuple(labels))
        best = max(options, key=lambda labels: difference(labels, query))
        if difference(best, query) <= difference(steps[-1], query) + 1e-12:
            return steps
        steps.append(best)


def draw_exchanges(name: str, query: Callable[[Sequence[int]], float], start: str) -> Figure:
    """Draw every step as a row, the start on top, and the difference of the answers beside it."""
    steps = exchanges(tuple(start), query)
    worst = sl.global_sensitivity(
        sl.Universe.from_dataset(RECORDS),
        name,
        size=start.count("C") + start.count("A"),
        neighbors=sl.Bounded(start.count("A"), exactly=True),
    )
    found = difference(steps[-1], query)
    if abs(found - worst.value) > 1e-9:
        raise ValueError(f"{name}: the exchanges end at {found}, the engine at {worst.value}")
    figure = new_figure(7.6, 0.47 * len(steps) + 0.75)
    ax = figure.add_subplot()
    for row, labels in enumerate(steps):
        y = -row
        before = steps[row - 1] if row else labels
        for place, (label, old) in enumerate(zip(labels, before, strict=True)):
            cell(ax, place, y, label, changed=label != old)
        ax.text(-0.75, y, f"step {row}" if row else "any pair", ha="right", va="center")
        ax.text(
            len(RECORDS) - 0.2,
            y,
            f"{difference(labels, query):.2f}",
            va="center",
            weight="bold" if labels == steps[-1] else "normal",
        )
    for place, record in enumerate(RECORDS):
        ax.text(place, 0.62, str(record), ha="center", fontsize=9)
    ax.text(-0.75, 0.62, "record", ha="right", fontsize=9)
    ax.text(len(RECORDS) - 0.2, 0.62, f"difference of the {name}s", fontsize=9)
    _legend(ax, -len(steps) - 0.15)
    ax.set_xlim(-2.4, len(RECORDS) + 3.9)
    ax.set_ylim(-len(steps) - 0.6, 1)
    bare(ax)
    return figure


def _legend(ax: Axes, y: float) -> None:
    """What the labels mean, below the rows."""
    for number, (label, meaning) in enumerate(MEANING.items()):
        x = 3.4 * number - 1.6
        cell(ax, x, y, label)
        ax.text(x + 0.55, y, meaning, va="center", fontsize=9.5)
