"""One picture per idea of the pages *Start* and *Understand*."""

from __future__ import annotations

from itertools import combinations_with_replacement as multisets

import numpy as np
from matplotlib.figure import Figure

import sensitivity_lab as sl
from pictures.style import BLUE, GREEN, MEANING, ORANGE, bare, cell, new_figure

DAYS = sl.Universe.from_domain(range(61))
BOTH_WAYS = {"arrowstyle": "<->", "color": ORANGE, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}


def draw_noise() -> Figure:
    """Noise on two neighbors' means: too little, scaled to the sensitivity, too much."""
    size, epsilon = 100, 1
    worst = sl.global_sensitivity(DAYS, "mean", size=size, neighbors=sl.Bounded(5))
    right = sl.noise.laplace_scale(worst, epsilon)
    answers = (8.0, 8.0 + worst.value)
    figure = new_figure(7.6, 2.9)
    panels = figure.subplots(1, 3, sharex=True)
    cases = (
        (right / 8, "an eighth of the sensitivity:\nthe datasets can be told apart"),
        (right, "the sensitivity:\nboth could have given any answer"),
        (right * 4, "four times the sensitivity:\nprivate, and of little use"),
    )
    at = np.linspace(-8, 26, 1200)
    for ax, (scale, title) in zip(panels, cases, strict=True):
        for answer, color, dash, name in zip(
            answers, (BLUE, ORANGE), ("-", "--"), ("x", "y"), strict=True
        ):
            density = np.exp(-np.abs(at - answer) / scale) / (2 * scale)
            ax.plot(at, density, color=color, linestyle=dash, label=f"from {name}")
            ax.fill_between(at, density, color=color, alpha=0.15)
        ax.set_title(title, fontsize=9.5)
        ax.set_yticks([])
        ax.set_xlabel("published mean (days)")
    panels[0].legend(fontsize=9)
    panels[0].set_ylabel("how likely")
    return figure


def draw_universes() -> Figure:
    """What the median of a column can do: among its own rows, and among all possible values."""
    generator = np.random.default_rng(7)
    days = generator.gamma(1.5, 8, 300).round().clip(0, 60)
    figure = new_figure(7.6, 3.9)
    panels = figure.subplots(2, 1)
    for ax, universe, title in (
        (panels[0], sl.Universe.from_dataset(days), "from_dataset(column): the rows themselves"),
        (panels[1], DAYS, "from_domain(range(61)): what a row can be"),
    ):
        worst = sl.global_sensitivity(universe, "median", size=250, neighbors=sl.Bounded(5))
        witness = worst.witness
        low, high = sorted([float(witness.query_x), float(witness.query_y)])
        ax.hist(universe.values, bins=np.arange(62) - 0.5, weights=_weights(universe), color="0.8")
        top = ax.get_ylim()[1]
        ax.annotate("", (low, top * 1.12), (high, top * 1.12), arrowprops=BOTH_WAYS)
        for end in (low, high):
            ax.axvline(end, color=ORANGE, linewidth=1)
        ax.set_xlim(-1, 61)
        ax.set_ylim(0, top * 1.25)
        ax.set_yticks([])
        ax.set_title(f"{title}\nthe median moves by up to {worst.value:g} days", fontsize=10)
    panels[1].set_xlabel("days")
    return figure


def _weights(universe: sl.Universe) -> np.ndarray:
    counts = universe.counts
    return np.ones(len(universe.values)) if counts is None else np.asarray(counts)


def draw_relations() -> Figure:
    """A dataset, and a neighbor of it at distance 1 or 2 under each relation."""
    rows = (
        ("Unbounded(1)", "CCCA", "one record leaves (or joins)"),
        ("Bounded(1)", "CCCAB", "one record is replaced, n stays"),
        ("Edit(1)", "CCCAB", "one is replaced, leaves or joins"),
        ("SymmetricDifference(2)", "CCCAB", "one leaves, one joins: two steps"),
        ("Unbounded(2)", "CCAA", "two records leave (or join)"),
    )
    figure = new_figure(7.6, 3.8)
    ax = figure.add_subplot()
    for row, (name, labels, meaning) in enumerate(rows):
        ax.text(-0.7, -row, name, ha="right", va="center", family="monospace", fontsize=9.5)
        for place, label in enumerate(labels):
            cell(ax, place, -row, label)
        ax.text(5.0, -row, meaning, va="center", fontsize=10)
    for number, label in enumerate("CAB"):
        x = 3.2 * number - 3.0
        cell(ax, x, -len(rows) - 0.2, label)
        ax.text(x + 0.55, -len(rows) - 0.2, MEANING[label], va="center", fontsize=9.5)
    ax.set_xlim(-5.6, 11)
    ax.set_ylim(-len(rows) - 0.7, 0.6)
    bare(ax)
    return figure


def draw_three() -> Figure:
    """Local sensitivities of the median around one dataset, the smooth one, and the global one."""
    scores = sl.Universe.from_domain(range(101))
    x = [30] * 4 + list(range(45, 60)) + [70] * 6
    smooth = sl.smooth_sensitivity(
        scores, "median", dataset=x, beta=sl.noise.smooth_beta(1), neighbors="bounded"
    )
    whole = sl.global_sensitivity(scores, "median", size=len(x), neighbors=sl.Bounded(1))
    local = np.array([float(value) for value in smooth.local_at_distance])
    away = np.arange(len(local))
    figure = new_figure(7.6, 3.6)
    ax = figure.add_subplot()
    ax.plot(away, local, "s-", color=BLUE, label="largest local sensitivity, d records from x")
    damped = local * np.exp(-float(smooth.beta) * away)
    ax.plot(away, damped, ".--", color=GREEN, label="the same, damped by exp(-beta d)")
    ax.plot(smooth.distance, smooth.value, "o", color=ORANGE, markersize=11, label="smooth")
    ax.axhline(whole.value, color="black", linewidth=1)
    for name, value, place in (
        ("global", f"{whole:.3g}", (0, whole.value + 3)),
        ("smooth", f"{smooth:.3g}", (smooth.distance, smooth.value + 5)),
        ("local at x", f"{local[0]:.3g}", (0, local[0] + 6)),
    ):
        ax.text(*place, f"{name}: {value}", weight="bold")
    ax.set_ylim(-4, whole.value * 1.15)
    ax.set_xlabel("d, the records of x that are replaced")
    ax.set_ylabel("points")
    figure.legend(loc="outside upper center", ncols=2, fontsize=9)
    return figure


def draw_lattice() -> Figure:
    """How the largest answer comes down from datasets of three records to cores of two."""
    universe = (1, 2, 5)
    figure = new_figure(7.6, 3.2)
    ax = figure.add_subplot()
    top, cores = list(multisets(universe, 3)), list(multisets(universe, 2))
    where = {one: 1.15 * place for place, one in enumerate(top)}
    shift = (where[top[-1]] - 2.0 * (len(cores) - 1)) / 2
    below = {one: 2.0 * place + shift for place, one in enumerate(cores)}
    for core in cores:
        for added in universe:
            above = tuple(sorted((*core, added)))
            ax.plot([below[core], where[above]], [0.28, 1.72], color="0.75", linewidth=0.9)
    for one, x in where.items():
        ax.text(x, 2, f"{one[0]} {one[1]} {one[2]}", ha="center", fontsize=9)
        ax.text(x, 2.3, f"{np.median(one):g}", ha="center", fontsize=9, color=BLUE)
    for core, x in below.items():
        answers = [np.median((*core, added)) for added in universe]
        gap = max(answers) - min(answers)
        ax.text(x, 0, f"{core[0]} {core[1]}", ha="center", fontsize=9)
        ax.text(x, -0.32, f"{max(answers):g} - {min(answers):g}", ha="center", fontsize=8.5)
        ax.text(
            x, -0.64, f"= {gap:g}", ha="center", fontsize=9, weight="bold" if gap == 4 else "normal"
        )
    ax.text(-1.0, 2.3, "median", ha="right", color=BLUE, fontsize=9.5)
    ax.text(-1.0, 2, "dataset", ha="right", fontsize=9.5)
    ax.text(-1.0, 0, "core", ha="right", fontsize=9.5)
    ax.text(-1.0, -0.32, "highest - lowest", ha="right", fontsize=9.5)
    ax.set_xlim(-3.6, where[top[-1]] + 0.8)
    ax.set_ylim(-0.9, 2.7)
    ax.set_axis_off()
    return figure
