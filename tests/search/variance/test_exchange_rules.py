"""The finite part of the proofs: which patterns the exchange rules of docs/proofs.md leave."""

from __future__ import annotations

import itertools
import math
import random
import re

import pytest
from sign_table import Row

from sensitivity_lab.search.variance.words import CORE_AT_ENDS, words_of

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
    for _ in range(14):
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
    several = {
        "more kept": (5, 2, 2),
        "as many": (3, 3, 3),
        "fewer kept": (2, 5, 5),
        "none kept": (0, 4, 4),
        "more than B": (3, 5, 2),
        "fewer than B": (3, 2, 5),
    }
    assert {case: words_of(*numbers) for case, numbers in several.items()} == {
        "more kept": (REPLACE, INTERRUPTED),
        "as many": (REPLACE,),
        "fewer kept": (REPLACE, PARTED),
        "none kept": (REPLACE,),
        "more than B": (REPLACE, INTERRUPTED),
        "fewer than B": (REPLACE, PARTED),
    }
    assert words_of(9, 1, 1) == words_of(1, 1, 1) == words_of(0, 1, 1) == (REPLACE,)
    assert words_of(9, 2, 1) == words_of(9, 1, 2) == (REPLACE, INTERRUPTED)
    assert words_of(1, 1, 3) == (REPLACE, PARTED)


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
    assert all(contains(CORE_AT_ENDS, word) for word in forms("COCBCOC"))


def test_the_smaller_set_more_spread_and_both_with_records_of_their_own():
    """B is a window; of the others, both ends are x, and C is a window of x."""
    rules = {pair: rule for pair, rule in BOTH_ENDS.items() if pair != "OC"} | {"CO": "C*O*C*"}
    left = patterns_left(rules, [], "ABCO") | patterns_left(rules, [], "ABO")
    others = ("AOACA", "ACOCA", "ACAOA")
    words = [f"{word[:at]}B{word[at - 1 :]}" for word in others for at in range(1, len(word) + 1)]
    assert left <= set().union(*map(forms, words))
    assert all(contains(CORE_AT_ENDS, word) for word in left)


def best_word(records: list[float], changes: str, ddof: float, *, root: bool) -> tuple[float, str]:
    """Return the largest f(x) - f(y) over all ways to label the records, and what it reads like."""

    def spread(members: str, word: tuple[str, ...]) -> float:
        data = [record for record, letter in zip(records, word, strict=True) if letter in members]
        mean = math.fsum(data) / len(data)
        variance = math.fsum((u - mean) ** 2 for u in data) / (len(data) - ddof)
        return math.sqrt(variance) if root else variance

    words = set(itertools.permutations(changes))
    return max((spread("AC", word) - spread("BC", word), "".join(word)) for word in words)


@pytest.mark.representative("sizes", quick=())
@pytest.mark.parametrize("root", [False, True], ids=["variance", "root"])
@pytest.mark.parametrize(
    "sizes", [(2, 1, 1), (2, 2, 1), (1, 3, 1), (2, 1, 2), (1, 1, 3), (2, 2, 0), (2, 0, 3)]
)
def test_the_rows_hold_whatever_the_change(sizes, root):
    core, of_a, of_b = sizes
    rows = [Row(*pair) for pair in ("AO", "OB", "AC", "CB", "AB")]
    if of_a >= of_b:
        rows.append(Row("O", "C"))
    elif not (root and of_a):
        rows.append(Row("C", "O"))
    draw = random.Random(20)
    for _ in range(15):
        records = sorted(draw.choice([1, 9, 70]) * draw.gauss(0, 1) for _ in range(sum(sizes) + 2))
        letters = "C" * core + "A" * of_a + "B" * of_b + "OO"
        largest, word = best_word(records, letters, draw.choice([0, 0.5]), root=root)
        assert largest <= 0 or all(row.allows(word) for row in rows), (records, word)


def test_the_core_may_lie_inside_for_the_root_if_both_sets_have_records_of_their_own():
    records = [-4.496, -0.502, -0.392, -0.003, -0.001, 0.001, 1.473]
    _, word = best_word(records, "CCABBOO", 0, root=True)
    assert word == "AOBBCCO"
    assert not Row("C", "O").allows(word)
