"""What `make test` leaves out, `make check` or `make stress` runs; what stays represents it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from paths import ROOT, TESTS

CONTRACT = TESTS / "search" / "test_contract.py"


def collected(*options: str) -> set[str]:
    """The cases of one test that pytest would run."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *options, str(CONTRACT)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    test = "::test_agrees_with_the_definition["
    return {line.split(test)[1] for line in done.stdout.splitlines() if test in line}


@pytest.mark.exhaustive
def test_every_engine_query_and_relation_is_represented():
    by_default, left_out = collected(), collected("-m", "exhaustive")
    everything = collected("-m", "not stress")
    assert by_default | left_out == everything
    assert not by_default & left_out
    assert len(by_default) < len(everything)
    # Half of what is left out: the other half is for `make stress`, and no case is for nobody.
    rest = collected("-m", "stress")
    assert not everything & rest
    assert everything | rest == collected("-m", "")
    assert abs(len(left_out) - len(rest)) < len(by_default)
    for place in (0, 1):  # engine and query; relation and meaning
        named = [{case.split(",")[place] for case in cases} for cases in (by_default, everything)]
        assert named[0] == named[1] != set()
