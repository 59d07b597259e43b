"""The finite part of the proofs: which patterns the exchange rules of docs/proofs.md leave."""

from __future__ import annotations

import itertools
import re

import pytest

from sensitivity_lab.search.variance.words import words_of

BOTH_ENDS = {
    "AO": "A*O*A*",
    "OB": "O*B*O*",
    "OC": "O*C*O*",
    "AC": "A*C*A*",
    "CB": "C*B*C*",
    "AB": "A*B*A*",
}
"""For two labels, what the letters with one of them must read like."""

ALWAYS_EXCLUDED = ["COAB", "BACO", "CAOB"]
REPLACE = "AOACBCAOA"
INTERRUPTED = "ACABAOA"
PARTED = "AOCOBOA"


def obeys(pattern: str, rules: dict[str, str]) -> bool:
    return all(
        re.fullmatch(rule, "".join(letter for letter in pattern if letter in pair))
        for pair, rule in rules.items()
    )


def contains(pattern: str, scattered: str) -> bool:
    letters = iter(pattern)
    return all(letter in letters for letter in scattered)


def patterns_left(rules: dict[str, str], excluded: list[str], letters: str) -> set[str]:
    """Return all patterns that the rules leave; they are finitely many."""
    found: set[str] = set()
    layer = {""}
    for _ in range(12):
        layer = {
            pattern + letter
            for pattern in layer
            for letter in letters
            if not pattern.endswith(letter) and obeys(pattern + letter, rules)
        }
        layer = {
            pattern
            for pattern in layer
            if not any(contains(pattern, bad) or contains(pattern, bad[::-1]) for bad in excluded)
        }
        found |= layer
    assert not layer, "there are longer patterns"
    return {pattern for pattern in found if set(letters) - {"O"} <= set(pattern)}


def forms(pattern: str) -> set[str]:
    """Return what a pattern or its mirror image reads like when blocks are empty."""
    found = set()
    for turned in (pattern, pattern[::-1]):
        for kept in itertools.product((False, True), repeat=len(turned)):
            text = "".join(letter for letter, here in zip(turned, kept, strict=True) if here)
            found.add(re.sub(r"(.)\1+", r"\1", text))
    return found


@pytest.mark.parametrize(
    ("excluded", "letters", "patterns"),
    [
        pytest.param(
            [*ALWAYS_EXCLUDED, "COB"], "ABCO", [REPLACE, INTERRUPTED], id="kept > replaced"
        ),
        pytest.param([*ALWAYS_EXCLUDED, "COB", "CAB"], "ABCO", [REPLACE], id="kept = replaced"),
        pytest.param([*ALWAYS_EXCLUDED, "CAB"], "ABCO", [REPLACE, PARTED], id="kept < replaced"),
        pytest.param([], "ABO", [PARTED, INTERRUPTED], id="nothing kept"),
    ],
)
def test_replacing(excluded, letters, patterns):
    covered = set().union(*map(forms, patterns))
    assert patterns_left(BOTH_ENDS, excluded, letters) <= covered


def test_the_kernels_that_are_derived():
    """The package derives from its own table what this file finds by its own."""
    several = {"more kept": (5, 2), "as many": (3, 3), "fewer kept": (2, 5), "none kept": (0, 4)}
    assert {case: words_of(*numbers) for case, numbers in several.items()} == {
        "more kept": (REPLACE, INTERRUPTED),
        "as many": (REPLACE,),
        "fewer kept": (REPLACE, PARTED),
        "none kept": (REPLACE,),
    }
    assert words_of(9, 1) == words_of(1, 1) == words_of(0, 1) == (REPLACE,)


@pytest.mark.parametrize(
    ("excluded", "letters"),
    [
        pytest.param([*ALWAYS_EXCLUDED, "COB", "CAB"], "ABCO", id="at most, kept >= replaced"),
        pytest.param([], "ABO", id="nothing kept"),
    ],
)
def test_replacing_where_the_first_word_is_enough(excluded, letters):
    assert patterns_left(BOTH_ENDS, excluded, letters) <= forms(REPLACE)


def test_the_interrupted_word_is_needed():
    left = patterns_left(BOTH_ENDS, [*ALWAYS_EXCLUDED, "COB"], "ABCO")
    assert "CABA" in left - forms(REPLACE)


def test_removing_with_the_larger_set_more_spread():
    rules = {"AO": "A*O*A*", "OC": "O*C*O*", "AC": "A*C*A*"}
    assert patterns_left(rules, [], "ACO") <= forms("AOACAOA")


def test_removing_with_the_smaller_set_more_spread():
    rules = {"OB": "O*B*O*", "CO": "C*O*C*", "CB": "C*B*C*"}
    assert patterns_left(rules, [], "BCO") <= forms("COCBCOC")
