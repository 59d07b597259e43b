"""The finite part of the proofs: which words the exchange rules of docs/proofs.md leave."""

from __future__ import annotations

import itertools
import re

import pytest

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


def obeys(word: str, rules: dict[str, str]) -> bool:
    return all(
        re.fullmatch(rule, "".join(letter for letter in word if letter in pair))
        for pair, rule in rules.items()
    )


def contains(word: str, scattered: str) -> bool:
    letters = iter(word)
    return all(letter in letters for letter in scattered)


def words(rules: dict[str, str], excluded: list[str], letters: str) -> set[str]:
    """Return all words that the rules leave; they are finitely many."""
    found: set[str] = set()
    layer = {""}
    for _ in range(12):
        layer = {
            word + letter
            for word in layer
            for letter in letters
            if not word.endswith(letter) and obeys(word + letter, rules)
        }
        layer = {
            word
            for word in layer
            if not any(contains(word, bad) or contains(word, bad[::-1]) for bad in excluded)
        }
        found |= layer
    assert not layer, "there are longer words"
    return {word for word in found if set(letters) - {"O"} <= set(word)}


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
    assert words(BOTH_ENDS, excluded, letters) <= covered


def test_the_interrupted_word_is_needed():
    left = words(BOTH_ENDS, [*ALWAYS_EXCLUDED, "COB"], "ABCO")
    assert "CABA" in left - forms(REPLACE)


def test_removing_with_the_larger_set_more_spread():
    rules = {"AO": "A*O*A*", "OC": "O*C*O*", "AC": "A*C*A*"}
    assert words(rules, [], "ACO") <= forms("AOACAOA")


def test_removing_with_the_smaller_set_more_spread():
    rules = {"OB": "O*B*O*", "CO": "C*O*C*", "CB": "C*B*C*"}
    assert words(rules, [], "BCO") <= forms("COCBCOC")
