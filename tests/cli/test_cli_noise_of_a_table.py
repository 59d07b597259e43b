"""`sensitivity-lab noise TABLE.csv --domain ...`: from a table to its noise, and its code."""

from __future__ import annotations

import contextlib
import io
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import check_refused, run

from sensitivity_lab.errors import InputError

ROWS = 200
ASKED = ("noise", "visits.csv", "--domain", "visits=0:77", "--epsilon", "1")
OF_A_PERSON = ("--person", "id", "--rows-per-person", "3")


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch) -> pd.DataFrame:
    """Several rows per person, values outside the domain, missing ones, a group too many."""
    rng = np.random.default_rng(5)
    made = pd.DataFrame(
        {
            "id": rng.integers(0, 60, ROWS),
            "plan": rng.choice(["a", "b", "rare"], ROWS),
            "visits": rng.integers(0, 90, ROWS).astype(float),
        }
    )
    made.loc[::17, "visits"] = np.nan
    monkeypatch.chdir(tmp_path)
    made.to_csv("visits.csv", index=False)
    return made


def told(capsys, *more: str) -> dict:
    """What the command tells as JSON."""
    code, out, err = run(capsys, *ASKED, *more, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def executed(code: str) -> tuple[str, dict]:
    """What the code prints, and its names."""
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, names)
    return printed.getvalue(), names


def scales(document: dict) -> dict[str, float]:
    return {row["name"]: row["scale"] for row in document["rows"]}


def test_scales_per_group_for_people_with_several_rows(capsys):
    """Each answer has a quarter of epsilon; three rows move all sums together by 3 * 77."""
    found = told(capsys, *OF_A_PERSON, "--group-by", "plan=a,b")
    assert scales(found) == {
        "count": 3 * 4,
        "sum": 3 * 77 * 4,
        "sum of squares": 3 * 77**2 * 4,
        "histogram": 3 * 4,
    }
    assert (found["epsilon"], found["groups"], found["rows_per_person"]) == (1, ["a", "b"], 3)
    assert list(found["follows"]) == ["mean", "median", "std"]
    assert [step.split()[0] for step in found["before"]] == ["drop", "keep", "clip", "drop"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "more",
    [
        (*OF_A_PERSON, "--group-by", "plan=a,b"),
        ("--rows-per-person", "3", "--delta", "1e-6", "--queries", "median", "count"),
        (*OF_A_PERSON, "--queries", "std", "--split", "1", "2", "1/3"),
        ("--rows-per-person", "1", "--group-by", "plan=b", "--queries", "mean"),
    ],
)
def test_the_code_prints_the_same_numbers(capsys, more):
    printed, names = executed(told(capsys, *more)["code"])
    _, out, _ = run(capsys, *ASKED, *more)
    table, relation = printed.split("\n  neighbors  ")
    assert table in out
    assert relation.startswith("symmetric difference, at most ")
    found = told(capsys, *more)
    assert out.endswith(f"The same in Python:\n\n{found['code']}\n\n{found['publish']}\n")
    assert set(names["answers"]) == set(scales(told(capsys, *more)))


@pytest.mark.exhaustive
def test_the_code_answers_as_pandas_does(capsys, table):
    """With room for all rows of everybody, the answers are those of the clipped table."""
    more = ("--person", "id", "--rows-per-person", "100", "--group-by", "plan=a,b")
    answers = executed(told(capsys, *more)["code"])[1]["answers"]
    kept = table.dropna().assign(visits=lambda rows: rows["visits"].clip(0, 77))
    groups = [kept.loc[kept["plan"] == plan, "visits"] for plan in ("a", "b")]
    assert answers["count"] == [len(group) for group in groups]
    assert answers["sum"] == [group.sum() for group in groups]
    assert answers["sum of squares"] == [(group**2).sum() for group in groups]
    counts = [(group == value).sum() for group in groups for value in range(78)]
    assert answers["histogram"] == counts


def test_the_code_keeps_so_many_rows_of_a_person(capsys, table):
    answers = executed(told(capsys, *OF_A_PERSON)["code"])[1]["answers"]
    assert answers["count"] == table.dropna().groupby("id").size().clip(upper=3).sum()


def test_numbers_with_commas_between_semicolons(capsys):
    Path("visits.csv").write_text("id;plan;visits\n1;a;2,5\n2;a;80\n")
    found = told(capsys, "--rows-per-person", "1")
    assert executed(found["code"])[1]["answers"]["sum"] == 2.5 + 77


def test_nothing_that_is_told_depends_on_the_entries(capsys, table):
    more = (*OF_A_PERSON, "--group-by", "plan=a,b")
    before = run(capsys, *ASKED, *more)
    table.iloc[:7].assign(visits=1, id=2).to_csv("visits.csv", index=False)
    assert run(capsys, *ASKED, *more) == before


def test_a_domain_of_many_values_has_fewer_bins(capsys):
    found = told(capsys, "--rows-per-person", "1", "--queries", "histogram")
    assert "starts = list(range(0, 78))" in found["code"]
    asked = ("noise", "visits.csv", "--domain", "visits=0:1000", *ASKED[4:])
    _, out, _ = run(capsys, *asked, "--rows-per-person", "1", "--queries", "histogram")
    assert "starts = list(range(0, 991, 11))" in out


def test_a_column_may_have_any_name(capsys, table):
    """Text with this word used to be dropped where nothing follows from the answers."""
    table.rename(columns={"visits": "further"}).to_csv("visits.csv", index=False)
    asked = ("noise", "visits.csv", "--domain", "further=0:9", "--epsilon", "1", "--query", "sum")
    _, out, _ = run(capsys, *asked, "--rows-per-person", "1")
    assert "table['further'].clip(lower, upper)" in out
    assert "without further loss" not in out


def test_the_noise_is_written_as_a_table(capsys):
    more = ("--rows-per-person", "1", "--table", "noise.csv")
    assert run(capsys, *ASKED, *more)[::2] == (0, "")
    assert list(pd.read_csv("noise.csv")["name"]) == ["count", "sum", "sum of squares", "histogram"]


def test_groups_without_names_have_the_same_noise_and_code_that_asks_for_the_names(capsys):
    named = told(capsys, *OF_A_PERSON, "--group-by", "plan=a,b")
    found = told(capsys, *OF_A_PERSON, "--group-by", "plan")
    assert (found["rows"], found["groups"]) == (named["rows"], None)
    with pytest.raises(InputError, match="must be a list of values, got Ellipsis"):
        executed(found["code"])
    filled = found["code"].replace(
        "groups = ...  # the names, as the file writes them", "groups = ['a', 'b']"
    )
    assert filled == named["code"]
    _, text, _ = run(capsys, *ASKED, *OF_A_PERSON, "--group-by", "plan")
    assert "which ones occur is private." in text
    assert "give a list that does not depend on the data: --group-by plan=a,b,c." in text


@pytest.mark.exhaustive
def test_names_that_are_numbers_are_found_however_the_file_writes_them(capsys, table):
    plans = table["plan"].map({"a": 0.0, "b": 25.0, "rare": 0.5})
    table.assign(plan=plans).to_csv("visits.csv", index=False)  # 0.0, 25.0 and 0.5
    found = told(capsys, "--rows-per-person", "3", "--group-by", "plan=0,25")
    _, names = executed(found["code"])
    counts = [int((plans[table["visits"].notna()] == plan).sum()) for plan in (0, 25)]
    assert names["answers"]["count"] == counts
    assert np.reshape(names["answers"]["histogram"], (2, -1)).sum(axis=1).tolist() == counts


WRITTEN = {
    "integers": ([0, 1, 95], "0,1"),
    "floats": ([0.0, 1.0, 9.5], "0,1"),
    "halves": ([0.5, 1.0, 9.5], "0.5,1"),
    "numbers beyond floats": ([2**53 + 1, 2**53 + 3, 2**53], f"{2**53 + 1},{2**53 + 3}"),
    "texts": (["a", "b", "rare"], "a,b"),
    "texts and numbers": (["a", "1", "rare"], "a,1"),
}


@pytest.mark.representative("names")
@pytest.mark.parametrize("person", [(), ("--person", "id")], ids=["alone", "person"])
@pytest.mark.parametrize(("plans", "names"), WRITTEN.values(), ids=WRITTEN)
def test_the_histogram_of_a_group_has_as_many_rows_as_its_count(
    capsys, table, plans, names, person
):
    """Integer names used to be read as floats, and no row was in a cell of '0.0 3'."""
    table["plan"] = table["plan"].map(dict(zip(["a", "b", "rare"], plans, strict=True)))
    table.to_csv("visits.csv", index=False)
    more = ("--rows-per-person", "100", *person, "--group-by", f"plan={names}")
    answers = executed(told(capsys, *more)["code"])[1]["answers"]
    kept = table.dropna()
    counts = [int((kept["plan"] == plan).sum()) for plan in plans[:2]]
    assert 0 not in counts
    assert answers["count"] == counts
    assert np.reshape(answers["histogram"], (2, -1)).sum(axis=1).tolist() == counts


def test_names_of_groups_with_decimal_commas(capsys):
    Path("visits.csv").write_text("plan;visits\n0,5;2\n0,50;3\n1;4\n")
    found = told(capsys, "--rows-per-person", "1", "--group-by", "plan=0.5,1")
    assert executed(found["code"])[1]["answers"]["count"] == [2, 1]


STATISTICS = ("count", "histogram", "mean", "median", "std", "sum")
GROUPED = ((), ("--group-by", "plan=a,b"))


def published(found: dict, monkeypatch) -> tuple[dict, list]:
    """The names of all the code that is told, and the measurements that it makes."""
    dp = pytest.importorskip("opendp.prelude")
    made = []
    for name in ("make_laplace", "make_gaussian"):
        make = getattr(dp.m, name)

        def spy(*space, make=make, scale):
            made.append(make(*space, scale=scale))
            return made[-1]

        monkeypatch.setattr(dp.m, name, spy)
    _, names = executed(f"{found['code']}\n\n{found['publish']}")
    return names, made


@pytest.mark.opendp
@pytest.mark.parametrize("groups", GROUPED, ids=["whole", "groups"])
@pytest.mark.parametrize(
    "asked",
    [
        *(pytest.param((one,), marks=pytest.mark.exhaustive) for one in STATISTICS),
        ("sum", "mean"),
        STATISTICS,
    ],
)
def test_the_code_publishes_what_was_asked_for(capsys, table, monkeypatch, asked, groups):
    """With next to no noise, what is published is nearly the truth."""
    more = (*groups, "--rows-per-person", "1", "--epsilon", "1000000", "--queries", *asked)
    names, _ = published(told(capsys, *more), monkeypatch)
    kept = table.dropna()
    kept = kept.assign(visits=kept["visits"].clip(0, 77), plan=kept["plan"] if groups else "all")
    rows = {key: of_key["visits"] for key, of_key in kept.groupby("plan") if key != "rare"}
    if groups:
        rows["all groups"] = pd.concat(rows.values())
    if "histogram" in asked:
        counts = pd.DataFrame({key: of_key.value_counts() for key, of_key in rows.items()})
        truth = counts.T.reindex(columns=range(78)).fillna(0)
        np.testing.assert_allclose(names["histogram"], truth, atol=0.01)
        assert list(names["histogram"].index) == list(rows)
    if asked == ("histogram",):
        return
    found = names["published"]
    assert list(found.index) == list(rows)
    assert list(found) == [one for one in asked if one != "histogram"]
    each = pd.DataFrame(rows)
    truth = {"count": each.count(), "sum": each.sum(), "mean": each.mean(), "std": each.std(ddof=0)}
    for name in set(found) & set(truth):
        np.testing.assert_allclose(found[name], truth[name], atol=0.01)
    if "median" in found:  # of an even number of rows, either one in the middle
        middle = [each.quantile(0.5, interpolation=side) for side in ("lower", "higher")]
        assert found["median"].between(*middle).all()


@pytest.mark.exhaustive
@pytest.mark.opendp
def test_what_the_noise_hides_is_nan(capsys, monkeypatch):
    """A mean of -711 / 63 for a domain from 0, and a std of 0, used to be published."""
    counts = {"a": 1_000_000, "b": 40, "(c)": 1_000_000, "all groups": 1_000_000}
    sums = {"a": 5, "b": 3, "(c)": -3, "all groups": 2}
    more = ("--rows-per-person", "5", "--group-by", "plan=a,b,(c),all groups")
    found = told(capsys, *more, "--queries", "mean", "std", "median")
    scale = scales(found)["count"]
    assert scale > 40 / 3
    held = found["code"] + (
        f"\nanswers['count'] = {list(counts.values())}"
        f"\nanswers['sum'] = [{counts['a']} * one for one in {list(sums.values())}]"
        f"\nanswers['sum of squares'] = [{counts['a']} * one for one in (25 + 9, 9, 9, 3)]"
        # Bins so far below 0 that the noise of 78 of them does not make their sum positive.
        "\nanswers['histogram'] = [30_000] * 78 + [-1_000] * (3 * 78)"
    )
    names, _ = published({**found, "code": held}, monkeypatch)
    shown = names["published"]
    assert list(shown.index) == [*counts, "(all groups)"]
    assert shown["mean"].round(1).fillna(-1).tolist() == [5, -1, -1, 2, 2.3]
    assert shown["std"].round().fillna(-1).tolist() == [3, -1, -1, -1, 4]
    assert shown["median"].notna().tolist() == [True, False, False, False, True]


@pytest.mark.exhaustive
@pytest.mark.opendp
def test_the_files_of_a_release_are_never_overwritten(capsys, monkeypatch):
    found = told(capsys, "--rows-per-person", "5", "--group-by", "plan=a,b")
    names, _ = published(found, monkeypatch)
    for name, frame in (("noisy", "noisy"), ("histogram", "histogram"), ("published",) * 2):
        saved = pd.read_csv(f"visits_{name}.csv", index_col=0)
        np.testing.assert_allclose(saved, names[frame])
    with pytest.raises(FileExistsError, match="visits_noisy"):
        published(found, monkeypatch)


def in_units(row: dict) -> int:
    """How far two answers can be apart, in units of what one row adds at most, over 2**30."""
    most = {"count": 1, "histogram": 1, "sum": 77, "sum of squares": 77**2}[row["name"]]
    units = Fraction(row["sensitivity"]) / most * 2**30
    assert units.denominator == 1
    return int(units)


def test_names_that_look_missing_are_names(capsys):
    Path("visits.csv").write_text(
        "id,plan,visits\nNA,None,2\nNA,null,3\nb,,4\nnull,NA,None\n,NA,5\n"
    )
    more = ("--person", "id", "--rows-per-person", "1", "--group-by", "plan=None,null,NA")
    answers = executed(told(capsys, *more)["code"])[1]["answers"]
    assert sum(answers["count"]) == 1  # one of the two rows of NA
    more = ("--rows-per-person", "2", "--group-by", "plan=None,null,NA")
    answers = executed(told(capsys, *more)["code"])[1]["answers"]
    assert (answers["count"], answers["sum"]) == ([1, 1, 1], [2, 3, 5])


@pytest.mark.opendp
def test_neighbors_never_come_farther_apart_than_the_sensitivity(capsys, monkeypatch):
    """As floats, the exact sums of two neighbors can be rounded away from each other."""
    given = []
    dp = pytest.importorskip("opendp.prelude")
    monkeypatch.setattr(dp.m, "make_laplace", lambda *_, **__: lambda one: given.append(one) or 0)
    rng = np.random.default_rng(0)
    asked = ("noise", "visits.csv", "--domain", "visits=0:0.1:0.1", "--epsilon", "1", "--json")
    _, out, _ = run(capsys, *asked, "--rows-per-person", "1", "--queries", "sum")
    found = json.loads(out)
    for _ in range(20):
        rows = rng.uniform(0, 0.2, 50).tolist()
        given.clear()
        for file in (rows, rows[:-1]):
            for old in Path().glob("visits_*.csv"):
                old.unlink()
            Path("visits.csv").write_text("\n".join(["visits", *map(repr, file)]))
            executed(f"{found['code']}\n\n{found['publish']}")
        assert 0 <= given[0] - given[1] <= 2**30
        assert all(isinstance(one, int) for one in given)


LOSSES = {
    "half": ("--epsilon", "0.5"),
    "split": ("--epsilon", "0.5", "--split", "1", "5", "2", "1/3"),
    "a split of two": ("--split", "1", "3", "--queries", "mean"),
    "thirds": ("--queries", "std"),
}


@pytest.mark.representative("more")
@pytest.mark.opendp
@pytest.mark.parametrize("groups", GROUPED, ids=["whole", "groups"])
@pytest.mark.parametrize("more", LOSSES.values(), ids=LOSSES)
def test_the_code_spends_epsilon_as_it_was_split(capsys, monkeypatch, more, groups):
    """OpenDP's own maps say what each answer spends; they round up."""
    found = told(capsys, *groups, "--rows-per-person", "5", *more)
    _, made = published(found, monkeypatch)
    spent = [one.map(in_units(row)) for one, row in zip(made, found["rows"], strict=True)]
    assert spent == pytest.approx([row["epsilon"] for row in found["rows"]], rel=1e-12)
    assert sum(spent) == pytest.approx(found["epsilon"], rel=1e-12)
    losses = [Fraction(row["sensitivity"]) / Fraction(row["scale"]) for row in found["rows"]]
    assert sum(losses) <= found["epsilon"] == (0.5 if "--epsilon" in more else 1)


@pytest.mark.exhaustive
@pytest.mark.opendp
def test_gaussian_noise_is_drawn_at_the_scales_of_the_table(capsys, monkeypatch):
    found = told(capsys, "--rows-per-person", "2", "--delta", "1e-6", "--group-by", "plan=a,b")
    _, made = published(found, monkeypatch)
    for one, row in zip(made, found["rows"], strict=True):
        rho = (row["sensitivity"] / row["scale"]) ** 2 / 2  # of zCDP, which OpenDP's map tells
        assert one.map(in_units(row)) == pytest.approx(rho, rel=1e-12)


@pytest.mark.opendp
def test_an_answer_that_is_the_same_for_all_gets_no_noise(capsys, monkeypatch):
    asked = ("noise", "visits.csv", "--domain", "visits=0", "--epsilon", "1", "--json")
    _, out, _ = run(capsys, *asked, "--rows-per-person", "1", "--queries", "sum")
    names, _ = published(json.loads(out), monkeypatch)
    assert names["published"]["sum"].tolist() == [0]


def test_without_a_person_the_command_says_when_that_is_safe(capsys):
    said = (
        "  The code does not limit a person to 3 rows; with --person COLUMN it does. That column\n"
        "  must identify real people. Omit it only if no one can exceed the limit by design.\n"
    )
    _, text, _ = run(capsys, *ASKED, "--rows-per-person", "3")
    assert said in text
    _, text, _ = run(capsys, *ASKED, *OF_A_PERSON)
    assert "must identify people: with row numbers, the noise is too small\n" in text


def test_all_bins_of_a_histogram_are_printed(capsys):
    _, text, _ = run(capsys, *ASKED, *OF_A_PERSON)
    assert "print(histogram.T.to_string())" in text


def test_the_command_says_where_to_find_the_errors_of_what_follows(capsys):
    said = (
        "\nThe table has the errors of the noisy answers only. Step 5 of docs/how_to/noise.md "
        "estimates those of\nthe statistics above, with made-up data.\n"
    )
    for query, has in (("median", True), ("sum", False)):
        _, text, _ = run(capsys, *ASKED, *OF_A_PERSON, "--queries", query)
        assert (said in text) is has


@pytest.mark.exhaustive
def test_the_noise_is_drawn(capsys):
    more = ("--rows-per-person", "1", "--output", "noise.png")
    assert run(capsys, *ASKED, *more)[::2] == (0, "")
    assert Path("noise.png").read_bytes().startswith(b"\x89PNG")


LOSS = "--epsilon must be a finite number above 0, got"
GROUPS = (
    "the names of the groups in the data are private, so give a list that does not depend on them, "
    "each name once: --group-by"
)
OTHERS = (
    "does not apply to a table with a domain: there, neighbors add or remove one person, so the "
    "number of rows is private; set the most rows of one person with --rows-per-person"
)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (
            (),
            "give the most rows that one person can have, chosen without looking at the data: "
            "--person COLUMN --rows-per-person 5 keeps at most five rows of each person; "
            "--rows-per-person 1 alone states that every row is another person's",
        ),
        (
            ("--rows-per-person", "0"),
            "--rows-per-person must be a whole number (the most rows that one person can have, at "
            "least 1), got 0, below 1",
        ),
        (("--rows-per-person", "1", "--epsilon", "0.0"), f"{LOSS} 0"),
        ((*OF_A_PERSON, "--group-by", "=a"), f"{GROUPS} COLUMN=a,b,c, got '=a'"),
        (
            (*OF_A_PERSON, "--group-by", "plan=0:100:25"),
            "name each group: --group-by plan=0,25,50, got 'plan=0:100:25'",
        ),
        ((*OF_A_PERSON, "--group-by", "plan=a,a"), f"{GROUPS} plan=a,b,c, got 'plan=a,a'"),
        ((*OF_A_PERSON, "--group-by", "plan=0,0.0"), f"{GROUPS} plan=a,b,c, got 'plan=0,0.0'"),
        (
            (*OF_A_PERSON, "--queries", "std", "median", "--split", "1", "2"),
            "--split must be a number above 0 for each result; the results, in order: 'count', "
            "'sum', 'sum of squares', 'histogram'; got 2 numbers",
        ),
        ((*OF_A_PERSON, "--neighbors", "bounded"), f"--neighbors {OTHERS}"),
        ((*OF_A_PERSON, "--size", "100"), f"--size {OTHERS}"),
        (
            (*OF_A_PERSON, "--public-universe"),
            f"--public-universe {OTHERS}",
        ),
        (
            ("--person", "idd", "--rows-per-person", "3"),
            "unknown column 'idd'; the columns are 'id', 'plan', 'visits'; did you mean 'id'? If "
            "no column identifies people, leave out --person; then something else must limit the "
            "rows of each, as the design of a study can",
        ),
        (
            ("--rows-per-person", "3", "--group-by", "visits=1,2"),
            "--group-by cannot be 'visits', the column of numbers that the domain is of; choose "
            "another column",
        ),
        (
            ("--rows-per-person", "3", "--person", "visits"),
            "--person cannot be 'visits', the column of numbers that the domain is of; choose "
            "another column",
        ),
        (
            (*OF_A_PERSON, "--queries", "max"),
            "--queries must be one of 'count', 'histogram', 'mean', 'median', 'std', 'sum', got "
            "'max'",
        ),
        (
            (*OF_A_PERSON, "--domain", "plan=1,2"),
            "a release covers one column of numbers, got domains of 'visits', 'plan'; give one, "
            "and groups as --group-by COLUMN=NAMES",
        ),
    ],
)
def test_what_is_missing_or_unsafe_is_told(capsys, more, reason):
    check_refused(capsys, [*ASKED, *more], f"sensitivity-lab noise: {reason}")


def test_a_column_of_texts_is_refused(capsys, table):
    asked = ("noise", "visits.csv", "--domain", "plan=1,2", "--epsilon", "1")
    check_refused(
        capsys,
        [*asked, "--rows-per-person", "1"],
        f"sensitivity-lab noise: column 'plan' has {table['plan'][0]!r}, but --domain is for "
        "numbers; choose a column of numbers, or leave such entries empty",
    )


def test_without_a_domain_the_command_says_how_to_choose_one(capsys):
    code, out, err = run(capsys, "noise", "visits.csv", "--epsilon", "1")
    assert (code, out) == (2, "")
    assert "--domain NAME=SMALLEST:LARGEST, chosen without looking at the data" in err
    asked = ("noise", "visits.csv", *OF_A_PERSON, "--epsilon", "1")
    check_refused(
        capsys,
        asked,
        "sensitivity-lab noise: --person goes with a table and a domain: give a file, and --domain "
        "COLUMN=SMALLEST:LARGEST, chosen without looking at the data; values are clipped to it",
    )


def test_without_a_table_everything_else_is_required(capsys):
    check_refused(
        capsys,
        ["noise", "--domain", "age=0:9", "--epsilon", "1"],
        "sensitivity-lab noise: the following arguments are required: --size, --queries, "
        "--neighbors",
    )
