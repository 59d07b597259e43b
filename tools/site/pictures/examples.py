"""The figures of the examples in the README and in the how-to guides."""

from __future__ import annotations

from matplotlib.figure import Figure

import sensitivity_lab as sl

from .style import BLUE, ORANGE, new_figure


def draw_curves() -> Figure:
    """The article's ten queries against the distance, as the front page asks for them."""
    columns = {
        "absences": sl.Universe.from_dataset([1, 2, 3, 4, 5, 6, 7, 8, 15, 20]),
        "driving": sl.Universe.from_domain([1, 2, 3]),
    }
    curves = sl.sensitivity_curves(columns, size=6, distances=range(1, 5), neighbors="bounded")
    return curves.plot(units={"absences": "days", "driving": "points"}, subplots=False)


def draw_rows_per_person() -> Figure:
    """Sensitivity against the rows that one person may own."""
    curves = sl.sensitivity_curves(
        {"days": sl.Universe.from_domain(range(61))},
        ["mean", "median", "std", "percentile_90"],
        size=1000,
        distances=range(1, 6),
        neighbors="bounded",
    )
    return curves.plot(units={"days": "days"})


def draw_strip() -> Figure:
    """The worst case of a standard deviation among a million records."""
    records = sl.Universe.from_dataset([i * i // 2_000_000 for i in range(1_000_000)])
    result = sl.global_sensitivity(records, "std", size=500_000, neighbors=sl.Bounded(3))
    return result.plot().figure


def draw_two_witnesses() -> Figure:
    """Return the worst pairs for a median, as docs/how_to/pictures.md draws them."""
    days = sl.Universe.from_domain(range(21))
    figure = new_figure(8, 7.2)
    for k, ax in enumerate(figure.subplots(2, 1), start=1):
        result = sl.global_sensitivity(days, "median", size=6, neighbors=sl.Bounded(k))
        result.plot("witness", unit="days", ax=ax)
    return figure


def draw_clipping() -> Figure:
    """Bias and noise of a clipped sum against the bound."""
    incomes = [round(15 * 1.0125**i) for i in range(300)]
    bounds = [10 * 1.5**i for i in range(14)]
    return sl.noise.clipping_sweep(incomes, bounds, epsilon=0.1, neighbors="unbounded").plot()


def draw_reach() -> Figure:
    """Return reach of a median of stays, as docs/how_to/worst_case.md has it."""
    stay = sl.Universe.from_domain(range(61))
    patients = [1, 2, 2, 3, 4, 4, 5, 9, 30]
    reach = sl.reach(stay, "median", dataset=patients, neighbors="bounded", distances=5)
    everywhere = sl.global_sensitivity(stay, "median", size=9, neighbors="bounded")
    damped = sl.smooth_sensitivity(stay, "median", dataset=patients, beta=0.2, neighbors="bounded")
    table, answer = reach.to_frame("stay"), float(reach.answer)
    k, lower, upper = (table[name] for name in ("distance", "lower", "upper"))
    figure = new_figure(6.6, 4.2)
    ax = figure.subplots()
    ax.fill_between(k, lower, upper, color=BLUE, alpha=0.2, linewidth=0)
    ax.plot(k, upper, ".-", color=BLUE, label="greatest answer within k")
    ax.plot(k, lower, ".--", color=BLUE, label="least answer within k")
    ax.axhline(answer, color="black", linewidth=1, label="f(x)")
    for place, half in ((6, float(everywhere)), (7, float(damped))):
        ends = (answer - half, answer + half)
        ax.plot((place, place), ends, "_-", color=ORANGE, markersize=14, linewidth=2)
    ax.axvline(5.5, color="0.6", linewidth=0.8, linestyle=":")
    ax.set_xticks([*range(6), 6, 7], [*map(str, range(6)), "f(x) ±\nglobal", "f(x) ±\nsmooth"])
    ax.set_xlabel("Hamming distance k from x")
    ax.set_ylabel("median (days)")
    ax.set_title("stay: reach of median\nbounded, at most k; n = 9")
    ax.grid(color="0.9")
    ax.set_axisbelow(True)
    ax.legend(loc="best", frameon=False, fontsize="small")
    return figure
