"""`sensitivity-lab release` publishes a table, and `sql` a query."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checks import has_opendp
from command_line import check_refused, run

import sensitivity_lab as sl

ROWS = 200
ASKED = ("release", "visits.csv", "--domain", "visits=0:77", "--epsilon", "1")
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


@pytest.fixture
def planned(capsys, monkeypatch):
    """The plan of what a command would publish, which is not published."""

    def of(*asked: str) -> sl.releases.Plan:
        made = []

        def publish(plan, *_arguments, **_options):
            made.append(plan)
            raise sl.errors.InputError("seen")

        with monkeypatch.context() as patched:
            patched.setattr("sensitivity_lab.releases.Plan.publish", publish)
            told = run(capsys, *asked, "--publish", "none")
        assert told == (2, "", "sensitivity-lab release: seen\n")
        return made[0]

    return of


def scales(plan: sl.releases.Plan) -> dict[str, float]:
    return dict(plan.to_frame()[["name", "scale"]].itertuples(index=False))


PUBLISHED = (*ASKED, *OF_A_PERSON, "--group-by", "plan=a,b")


def test_sensitivities_per_group_for_people_with_several_rows(planned):
    """Three rows move all bins together by 3, and all centred sums by 3 * 77 / 2."""
    found = planned(*ASKED, *OF_A_PERSON, "--group-by", "plan=a,b")
    rows = found.to_frame().to_dict("records")
    [row] = [row for row in rows if row["name"] == "histogram of visits"]
    assert (row["sensitivity"], row["numbers"]) == (3, 2 * 78)
    assert row["scale"] == pytest.approx(3 / row["epsilon"])
    told = found.to_dict()
    assert (told["epsilon"], told["groupby"]) == ("1", {"plan": ["a", "b"]})
    assert told["person"]["max_rows"] == 3
    mean = ("--queries", "mean", "--split", "1", "1", "--group-by", "plan=a,b")
    found = planned(*ASKED, *OF_A_PERSON, *mean)
    assert scales(found) == {"count": 3 * 2, "sum of visits": 3 * 77 / 2 * 2}


def test_the_plan_is_that_of_python(planned):
    found = planned(*ASKED, *OF_A_PERSON, "--group-by", "plan=a,b", "--delta", "1e-6")
    names = ("mean", "median", "std", "histogram")
    made = sl.releases.plan(
        sl.releases.Person("id", max_rows=3),
        epsilon=1,
        delta=1e-6,
        bounds={"visits": range(78)},
        groupby={"plan": ["a", "b"]},
        agg={"count": "count", **{name: ("visits", name) for name in names}},
    )
    assert str(found) == str(made)


@pytest.mark.parametrize(
    ("domain", "step", "upper"),
    [("0:77", 1, 77), ("0:1000:50", 50, 1000), ("0:1:0.1", 0.1, 1), ("2,5,11", 3, 11)],
)
def test_the_grid_is_that_of_the_domain(planned, domain, step, upper):
    asked = ("release", "visits.csv", "--domain", f"visits={domain}", *ASKED[4:])
    told = planned(*asked, "--rows-per-person", "1").to_dict()
    assert eval(told["step"]["visits"]) == pytest.approx(step)
    assert float(told["bounds"]["visits"][1]) == upper


def test_several_columns_have_names_of_their_own(planned):
    more = ("--domain", "id=0:60", "--rows-per-person", "1", "--queries", "mean", "count")
    assert list(planned(*ASKED, *more).to_dict()["agg"]) == [
        "count",
        "mean of visits",
        "mean of id",
    ]


def test_nothing_that_is_planned_depends_on_the_entries(planned, table):
    more = (*OF_A_PERSON, "--group-by", "plan=a,b")
    before = planned(*ASKED, *more)
    table.iloc[:7].assign(visits=1, id=2).to_csv("visits.csv", index=False)
    after = planned(*ASKED, *more)
    assert (str(after), after.to_dict()) == (str(before), before.to_dict())


@pytest.mark.opendp
def test_a_release_is_published_once_into_a_new_folder(capsys):
    """With next to no noise, what is published is nearly what pandas computes of kept rows."""
    pytest.importorskip("opendp.prelude")
    asked = (*PUBLISHED, "--epsilon", "1000000", "--rows-per-person", "200", "--publish", "new")
    code, out, err = run(capsys, *asked)
    assert code == 0
    assert "note       epsilon 1000000 is large" in out
    assert err == ""
    assert out.startswith("Published, with noise\n")
    assert "person     a person (column id) joins or leaves, with at most 200 rows" in out
    files = sorted(path.name for path in Path("new").iterdir())
    assert files == [
        *("histogram.csv", "plan.json", "privacy.txt", "publication.json"),
        *("publication.numbers.json", "statistics.csv"),
    ]
    kept = pd.read_csv("visits.csv").dropna()
    kept = kept[kept["plan"] != "rare"].assign(visits=lambda rows: rows["visits"].clip(0, 77))
    truth = kept.groupby("plan")["visits"].agg(["count", "mean", "median", "std"])
    found = pd.read_csv("new/statistics.csv", index_col="plan")
    names = ["count", "mean", "median", "std"]
    # Medians are values of their own, where pandas takes the middle of two.
    np.testing.assert_allclose(found[names], truth[names], atol=0.5)
    names.remove("median")
    np.testing.assert_allclose(found[names], truth[names], atol=0.01)
    assert (found["mean_low"] <= truth["mean"]).all()
    assert (truth["mean"] <= found["mean_high"]).all()
    bins = pd.read_csv("new/histogram.csv", index_col="plan")
    assert bins.sum(axis=1).tolist() == truth["count"].tolist()
    check_refused(
        capsys,
        asked,
        "sensitivity-lab release: cannot make the folder 'new': File exists; name a new one, since "
        "nothing is overwritten",
    )
    with pytest.warns(UserWarning, match="epsilon 1000000 is large"):
        assert sl.releases.load("new/plan.json").published


@pytest.mark.opendp
def test_without_a_folder_the_plan_is_printed_and_nothing_published(capsys, tmp_path):
    before = sorted(tmp_path.iterdir())
    code, out, _ = run(capsys, *ASKED, *OF_A_PERSON)
    assert code == 0
    assert "Plan of a release: epsilon 1, Laplace noise, not published" in out
    code, out, _ = run(capsys, *ASKED, *OF_A_PERSON, "--json")
    assert json.loads(out)["statement"]
    assert sorted(tmp_path.iterdir()) == before


def test_a_release_as_json(capsys):
    pytest.importorskip("opendp.prelude")
    code, out, err = run(capsys, *PUBLISHED, "--publish", "new", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert [row["plan"] for row in told["statistics"]] == ["a", "b"]
    assert told["plan"]["published"] is True


def test_a_release_that_fails_leaves_no_folder(capsys, table):
    table.drop(columns="id").to_csv("visits.csv", index=False)
    code, out, err = run(capsys, *PUBLISHED, "--publish", "new")
    assert (code, out) == (2, "")
    assert "unknown column 'id'" in err
    assert not Path("new").exists()


LOSS = "--epsilon must be a number from 1e-9 to 1e6, got"
GROUPS = (
    "the names of the groups in the data are private, so give a list that does not depend on them, "
    "each name once: --group-by"
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
            "--rows-per-person must be a whole number (the most rows that count of one person, at "
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
            (*OF_A_PERSON, "--group-by", "plan=a", "--group-by", "plan=b"),
            "--group-by: 'plan' is given twice; give each name once",
        ),
        (
            (*OF_A_PERSON, "--queries", "std", "median", "--split", "1", "2"),
            "--split must be a number above 0 for each result; the results, in order: 'histogram "
            "of visits'; got 2 numbers",
        ),
        (
            ("--person", "idd", "--rows-per-person", "3"),
            "unknown column 'idd'; the columns are 'id', 'plan', 'visits'; did you mean 'id'? If "
            "no column identifies people, leave out --person; then something else must limit the "
            "rows of each, as the design of a study can",
        ),
        (
            ("--rows-per-person", "3", "--group-by", "visits=1,2"),
            "the column 'visits' has two roles; a column is the person's, or has groups, or has "
            "bounds",
        ),
        (
            ("--rows-per-person", "3", "--person", "visits"),
            "the column 'visits' has two roles; a column is the person's, or has groups, or has "
            "bounds",
        ),
        (
            (*OF_A_PERSON, "--queries", "max"),
            "--queries: a statistic is 'count', 'sum', 'mean', 'var', 'std', 'median', a "
            "percentile such as 'percentile_90', or 'histogram', got 'max'; it follows one person; "
            "take a high percentile, such as 'percentile_95'",
        ),
        (
            (*OF_A_PERSON, "--domain", "id=3"),
            "the domain of 'id' has one value, so there is nothing to measure; give its ends: "
            "--domain id=SMALLEST:LARGEST",
        ),
    ],
)
def test_what_is_missing_or_unsafe_is_told(capsys, more, reason):
    asked = [*ASKED, "--publish", "new", *more]
    check_refused(capsys, asked, f"sensitivity-lab release: {reason}")
    assert not Path("new").exists()


def test_a_number_of_rows_needs_no_domain(capsys, planned):
    asked = ("release", "visits.csv", *OF_A_PERSON, "--group-by", "plan=a,b", "--epsilon", "1")
    made = str(planned(*asked, "--queries", "count"))
    assert "count        2            3   L1        1      3               3" in made
    code, _, err = run(capsys, *asked, "--publish", "more")
    assert code != 0
    assert "give the domain of each column" in err
    assert not Path("more").exists()


@pytest.mark.opendp
def test_numbers_of_rows_are_published_without_a_domain(capsys):
    pytest.importorskip("opendp.prelude")
    asked = ("release", "visits.csv", *OF_A_PERSON, "--group-by", "plan=a,b", "--epsilon", "1")
    code, out, err = run(capsys, *asked, "--queries", "count", "--publish", "counts")
    assert (code, err) == (0, "")
    assert out.startswith("Published, with noise\n")


SQL = ("sql", "SELECT plan, COUNT(*) AS n FROM v GROUP BY plan ORDER BY n DESC", "--table")
SQL = (*SQL, "v=visits.csv", "--person", "v.id", "--groups", "a,b", "--epsilon", "1")


@pytest.mark.sql
def test_a_query_is_planned_and_published(capsys):
    pytest.importorskip("duckdb", reason="needs the extra `sql`")
    code, out, err = run(capsys, *SQL, "--max-rows", "2")
    assert (code, err) == (0, "")
    assert out.startswith("Plan of a release: epsilon 1, Laplace noise, not published\n")
    assert "at most 2 results of the join count" in " ".join(out.split())
    as_json = json.loads(run(capsys, *SQL, "--max-rows", "2", "--json")[1])
    assert [row["scale"] for row in as_json["rows"]] == [2]
    if not has_opendp():
        return
    code, out, err = run(capsys, *SQL, "--max-rows", "2", "--publish", "new")
    assert (code, err) == (0, "")
    published = pd.read_csv("new/statistics.csv")
    assert sorted(published["plan"]) == ["a", "b"]
    assert published["n"].is_monotonic_decreasing


@pytest.mark.sql
def test_a_query_needs_epsilon_and_the_most_rows(capsys):
    pytest.importorskip("duckdb", reason="needs the extra `sql`")
    reason = "the following arguments are required: --max-rows"
    check_refused(capsys, [*SQL], f"sensitivity-lab sql: {reason}")
    check_refused(
        capsys,
        [*SQL, "--max-rows", "0"],
        "sensitivity-lab sql: --max-rows must be a whole number (the most results of the join that "
        "count of one person, at least 1), got 0, below 1",
    )


@pytest.mark.sql
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ["--groups", "a,1;b,1", "--max-rows", "2"],
            "",
        ),
        (["--groups", "a,b", "--max-rows", "2"], "as in --groups 'north,1;south,1'"),
        (["--max-rows", "2"], "list the public keys, as in --groups north,south"),
    ],
)
def test_keys_of_two_columns_are_written_with_semicolons(capsys, options, told):
    pytest.importorskip("duckdb", reason="needs the extra `sql`")
    text = "SELECT plan, visits, COUNT(*) AS n FROM v GROUP BY ROLLUP (plan, visits)"
    asked = ["sql", text, "--table", "v=visits.csv", "--person", "v.id", "--epsilon", "1"]
    code, out, err = run(capsys, *asked, *options)
    assert (code != 0) is bool(told)
    assert told in err
    assert told or "keys ('a', 1" in out


@pytest.mark.parametrize(
    "option", [("--table", "v=w.csv"), ("--bounds", "v.visits=1:2"), ("--foreign-key", "v.id=w.id")]
)
def test_what_is_given_twice_in_a_query(capsys, option):
    asked = ["sql", "SELECT SUM(visits) FROM v", "--table", "v=visits.csv", "--person", "v.id"]
    line = f"{option[0]}: '{option[1].partition('=')[0]}' is given twice; give each name once"
    check_refused(capsys, [*asked, *option, *option], f"sensitivity-lab sql: {line}")


@pytest.mark.sql
def test_advice_for_queries_is_in_options(capsys):
    pytest.importorskip("duckdb", reason="needs the extra `sql`")
    asked = ["--table", "v=visits.csv", "--table", "w=visits.csv", "--person", "v.id"]
    joined = "SELECT COUNT(*) AS n FROM v JOIN w ON v.visits = w.visits"
    code, _, err = run(capsys, "sql", joined, *asked, "--epsilon", "1", "--max-rows", "2")
    assert code == 2
    assert "--foreign-key w.visits=v.visits" in err
    assert "give --public w" in err
    code, out, _ = run(
        capsys, "sql", joined, *asked, "--epsilon", "1", "--max-rows", "2", "--public", "w"
    )
    assert code == 0
    assert "all that is in w" in out
    code, _, err = run(
        capsys, "sql", "SELECT SUM(visits) FROM v", *asked, "--epsilon", "1", "--max-rows", "2"
    )
    assert "such as --bounds v.visits=1:50" in err


@pytest.mark.opendp
def test_a_column_of_people_that_is_left_out_is_a_note(capsys):
    pytest.importorskip("opendp.prelude")
    asked = ["release", "visits.csv", "--queries", "count", "--rows-per-person", "2"]
    code, out, err = run(capsys, *asked, "--epsilon", "1", "--publish", "new")
    told = " ".join(out.split())
    assert (code, err) == (0, "")
    assert "note without --person; but the table has 'id': if that says whose a row is" in told
    assert "as in --person id; without it nothing limits the rows of a person" in told
    code, out, err = run(capsys, *asked, "--epsilon", "1", "--publish", "more", "--json")
    assert json.loads(out)["plan"]["published"] is True
    assert err.startswith("sensitivity-lab release: without --person; but the table has 'id'")
    code, out, _ = run(capsys, *asked, "--epsilon", "1", "--publish", "one", "--person", "id")
    assert "note  " not in out
