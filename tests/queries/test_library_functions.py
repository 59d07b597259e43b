"""Statistics of other libraries as a caller's functions: the right value, or a reason why not.

What is right was measured by brute force for docs/reference/whose.md.
"""

from __future__ import annotations

import sys
import warnings
from fractions import Fraction

import pytest
from paths import ROOT

import sensitivity_lab as sl
from sensitivity_lab.errors import QueryError
from sensitivity_lab.queries.order import ORDER

sys.path.insert(0, str(ROOT / "tools"))
from make_whose import STATISTICS, data_of, known, measure

sys.path.remove(str(ROOT / "tools"))

LIBRARIES = ("NumPy", "pandas", "Polars", "Arrow", "SciPy", "statsmodels")
CELLS = [
    cell
    for cell in known(STATISTICS)["cells"]
    if cell["library"] in LIBRARIES and "Reg" not in cell["call"] and not cell["chunks"]
][::3]


def test_there_are_forty():
    assert len(CELLS) >= 40


@pytest.mark.exhaustive
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell['library']}: {cell['call']}")
def test_a_function_of_a_library_has_its_sensitivity_or_a_reason(cell):
    if cell["library"] not in data_of.installed():
        pytest.skip("needs the pinned version: make .venv-whose/installed")
    function = data_of.function_of(cell["library"], cell["call"])

    def quiet(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(list(x), len(x))

    query = sl.from_function(quiet, name="theirs")
    grid = sl.Universe.from_domain(measure.GRID)
    if cell["missing"]:
        with pytest.raises(QueryError, match=r"returned (nan|None); a query returns one finite"):
            sl.global_sensitivity(grid, query, size=4, neighbors="bounded")
        return
    result = sl.global_sensitivity(grid, query, size=4, neighbors="bounded")
    assert result.value == pytest.approx(float(Fraction(cell["sensitivity"]["4"])), rel=1e-5)
    assert (ORDER in " ".join(str(result).split())) == cell["order"]
