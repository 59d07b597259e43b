"""Bad domains on the command line: one clear line for whatever is wrong."""

from __future__ import annotations

import pytest
from command_line import LOSS, SCHOOL, check_refused

A_DOMAIN = "a domain is written NAME=1,2,3 or NAME=15:30:0.5, got"
A_RANGE = "a range is written first:last:step with a positive step, got"


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    ("domain", "reason"),
    [
        ("mood", f"{A_DOMAIN} 'mood'"),
        ("mood=", f"{A_DOMAIN} 'mood='"),
        ("=1,2", f"{A_DOMAIN} '=1,2'"),
        ("mood=1,sad", "a number is written 20, 0.5 or 1e-3, got 'sad'"),
        ("mood=1,,2", "a number is written 20, 0.5 or 1e-3, got ''"),
        ("mood=1:", "a number is written 20, 0.5 or 1e-3, got ''"),
        ("mood=1,nan", "a number is written 20, 0.5 or 1e-3, got 'nan'"),
        ("mood=1:inf", "a number is written 20, 0.5 or 1e-3, got 'inf'"),
        ("mood=1_000,2", "a number is written 20, 0.5 or 1e-3, got '1_000'"),
        ("mood=1:2:3:4", f"{A_RANGE} 'mood=1:2:3:4'"),
        ("mood=2:1", f"{A_RANGE} 'mood=2:1'"),
        ("mood=1:2:0", f"{A_RANGE} 'mood=1:2:0'"),
        ("mood=1:2:-1", f"{A_RANGE} 'mood=1:2:-1'"),
        (
            "mood=0:1e9",
            "the domain 'mood=0:1e9' has more than 1,000,000 values; take a larger step",
        ),
        (
            "mood=0:100000:30000",
            "the domain 'mood=0:100000:30000' ends at 100000, which steps of 30000 from 0 do not "
            "meet; end it at 90000 or 120000",
        ),
        (
            "mood=0:1:0.3",
            "the domain 'mood=0:1:0.3' ends at 1, which steps of 0.3 from 0 do not meet; end it "
            "at 0.9 or 1.2",
        ),
        (
            "mood=1,1",
            "the domain 'mood' lists 1 twice; list every value once",
        ),
    ],
)
def test_bad_domains(capsys, domain, reason):
    arguments = ["release", SCHOOL, "--domain", domain, *LOSS]
    check_refused(capsys, arguments, f"sensitivity-lab release: {reason}")


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    ("domain", "number"),
    [
        ("mood=1:2:1e-999999999", "1e-999999999"),
        ("mood=0:1e999999:1", "1e999999"),
        ("mood=1,1e999999", "1e999999"),
        ("mood=1,1e401", "1e401"),
    ],
)
def test_domains_beyond_the_range_of_floats(capsys, domain, number):
    arguments = ["release", SCHOOL, "--domain", domain, *LOSS]
    reason = f"numbers have exponents up to 400, got {number!r}"
    check_refused(capsys, arguments, f"sensitivity-lab release: {reason}")


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("values", ["0:1e300:1", "0:1:1e-300"])
def test_ranges_of_too_many_values(capsys, values):
    arguments = ["release", SCHOOL, "--domain", f"mood={values}", *LOSS]
    reason = f"the domain 'mood={values}' has more than 1,000,000 values; take a larger step"
    check_refused(capsys, arguments, f"sensitivity-lab release: {reason}")


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    ("domain", "reason"),
    [
        ("a=1,2,3", "--domain: 'a' is given twice; give each name once"),
        (
            "b=3",
            "unknown column 'a'; the columns are 'name', 'school_year', 'absence_days'",
        ),
    ],
)
def test_two_domains(capsys, domain, reason):
    arguments = ["release", SCHOOL, "--domain", "a=1,2", "--domain", domain, *LOSS]
    check_refused(capsys, arguments, f"sensitivity-lab release: {reason}")


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (
            "3",
            "has one value, so there is nothing to measure; give its ends: --domain "
            "absence_days=SMALLEST:LARGEST",
        ),
        (
            "0,0.5",
            "lists two values, 0 and 0.5; for all whole numbers between them write --domain "
            "absence_days=0:0.5",
        ),
    ],
)
def test_domains_that_are_no_range(capsys, values, reason):
    arguments = ["release", SCHOOL, "--domain", f"absence_days={values}", *LOSS]
    line = f"sensitivity-lab release: the domain of 'absence_days' {reason}"
    check_refused(capsys, arguments, line)
