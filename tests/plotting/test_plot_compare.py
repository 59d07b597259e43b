"""Curves of an interval laid over those of a dataset."""

from __future__ import annotations

import pytest

import sensitivity_lab as sl

INTERVAL = sl.Universe.from_interval(0, 120)


def curves_of(
    universe: sl.Universe | sl.IntervalUniverse, size: int = 4
) -> sl.results.SensitivityCurves:
    return sl.sensitivity_curves(
        {"days": universe}, ["mean", "var"], size=size, distances=[1, 2], neighbors="bounded"
    )


EMPIRICAL = sl.Universe.from_dataset([1, 2, 5, 9, 20, 93])
THEORY = sl.Universe.from_interval(0, 93)


@pytest.mark.exhaustive
def test_theory_is_laid_over_the_empirical_curves():
    figure = curves_of(EMPIRICAL).plot(
        compare=curves_of(THEORY), units={"days": "days"}, legend="box", sharey=True
    )
    (axes,), (legend,) = figure.axes, figure.legends
    names = ["mean, empirical", "var, empirical", "mean, theory", "var, theory"]
    assert [text.get_text() for text in legend.get_texts()] == names
    assert axes.get_ylabel() == "global sensitivity (days)\nvar: days²"
    drawn = {line.get_label(): line for line in axes.lines}
    assert list(drawn) == names
    expected = curves_of(THEORY).result("mean", distance=2).value
    assert drawn["mean, theory"].get_ydata().tolist()[1] == expected
    for query in ("mean", "var"):
        one, other = (drawn[f"{query}, {source}"] for source in ("empirical", "theory"))
        assert one.get_color() == other.get_color()
        assert one.get_linestyle() != other.get_linestyle()
        assert (one.get_ydata() <= other.get_ydata()).all()
    figure.canvas.draw()
    box, whole = legend.get_window_extent(), figure.bbox
    assert box.x1 <= whole.x1
    assert box.y0 >= whole.y0


def test_local_and_global_curves_are_compared_by_kind_and_source():
    here = sl.local_curves(
        EMPIRICAL, "mean", dataset=[1, 2, 5, 9], distances=[1], neighbors="bounded"
    )
    there = sl.sensitivity_curves(THEORY, "mean", size=4, distances=[1], neighbors="bounded")
    figure = here.plot(compare=there, legend="box")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "local, empirical",
        "global, theory",
    ]
    assert figure.axes[0].get_ylabel() == "sensitivity"


COMPARED = {
    "no curves": (
        lambda: INTERVAL,
        "compare must be SensitivityCurves, got IntervalUniverse; "
        "make them with sensitivity_curves",
    ),
    "another size": (
        lambda: curves_of(THEORY, 3),
        "compare: the curves are for size 4, those to "
        "compare with for size 3; compute both for one size",
    ),
    "another column": (
        lambda: sl.sensitivity_curves(THEORY, "mean", size=4, distances=[1], neighbors="bounded"),
        "compare: records, bounded, at most is not among the curves (days, bounded, at most); "
        "give both the same column names and relations",
    ),
}


@pytest.mark.parametrize("name", COMPARED)
def test_curves_that_do_not_fit_are_not_compared(name):
    make, message = COMPARED[name]
    with pytest.raises(sl.errors.InputError) as raised:
        curves_of(EMPIRICAL).plot(compare=make())
    assert str(raised.value) == message
