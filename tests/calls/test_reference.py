"""Values that are known from elsewhere, as the reference suite cites them: the library's agree."""

from __future__ import annotations

import pytest
from paths import ROOT
from reference_entries import ENTRIES

import sensitivity_lab as sl

KNOWN = [one for one in ENTRIES if one["source"] != "enumerated"]


@pytest.mark.representative("source")
@pytest.mark.parametrize("source", sorted({one["source"]["from"] for one in KNOWN}))
def test_values_known_from_elsewhere(source, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    from make_reference import query_of, relation_of, universe_of

    for one in (one for one in KNOWN if one["source"]["from"] == source):
        found = sl.global_sensitivity(
            universe_of(one["universe"]),
            query_of(one["query"]),
            size=one["size"],
            neighbors=relation_of(one["neighbors"]),
            norm=one["norm"],
        )
        found.verify()
        assert (found.value, found.upper) == (one["value"], one["upper"]), one["id"]


def test_closed_form_of_the_mean_over_all_sizes():
    """(U - L) / 2, which only a dataset of one record attains."""
    found = sl.global_sensitivity(
        sl.Universe.from_domain([-2, 3]),
        "mean",
        size=range(1, 8),
        neighbors=sl.Unbounded(1, direction="add"),
    )
    assert found.value == 2.5
