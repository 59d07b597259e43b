"""What audits without a law take: here they run for a part of a second, so that tests end soon."""

import pytest

from sensitivity_lab.audits.driven.refuter import refute


@pytest.fixture(autouse=True)
def seconds_of_refuter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many seconds as the marker says; as many as users get for exhaustive tests."""
    if request.node.get_closest_marker("exhaustive"):
        return
    marker = request.node.get_closest_marker("seconds_of_refuter")
    monkeypatch.setitem(refute.__kwdefaults__, "seconds", marker.args[0] if marker else 0.3)
