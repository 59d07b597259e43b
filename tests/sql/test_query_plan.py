"""The release of a query as one mechanism, against the database without each person."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

import duckdb
from oracle_sql import Table, running
from sql_cases import SqlCase, drawn_case
from sql_checks import public_keys, query_of

import sensitivity_lab as sl
from sensitivity_lab.errors import InputError
from sensitivity_lab.sql import Query

pytestmark = pytest.mark.sql

REFUSED = (
    "refer to several persons",
    "LEFT JOIN to a private table",
    "without bounds",
)


def without(case: SqlCase, person: int) -> SqlCase:
    """The case without a person's rows of the private tables."""
    database = {}
    for name, table in case.database.items():
        kept = table.rows
        if name in case.persons:
            column = list(table.columns).index(case.persons[name])
            kept = tuple(row for row in kept if row[column] != person)
        database[name] = Table(table.columns, kept, table.key)
    return SqlCase(**{**vars(case), "database": database})


def apart(plan: Any, x: dict[str, pd.DataFrame], y: dict[str, pd.DataFrame]) -> list[tuple]:
    """For each aggregate how far it is apart, and how far it may be."""
    told = plan.to_frame().set_index("name")
    found = []
    for name, numbers in x.items():
        moved = np.abs((numbers - y[name]).to_numpy(dtype=float))
        far = moved.sum() if told.norm[name] == "L1" else math.sqrt((moved**2).sum())
        found.append((far, told.sensitivity[name]))
    return found


def check(seed: int) -> float:
    """Compare a random database with those without each person; the largest share attained."""
    case, random = drawn_case(seed), Random(seed)
    with running(case.database, case.asked) as now:
        keys = public_keys(case, now, random)
    given: dict[str, Any] = {"epsilon": 1, "max_rows": random.randint(1, 3)}
    given["delta"] = random.choice([None, 1e-6])
    state = random.getstate()
    query = query_of(case, keys, random)
    try:
        plan = query.plan(**given)
    except InputError as error:
        if any(one in str(error) for one in REFUSED):
            return 0
        raise
    whole, most = plan.without_noise().measured, 0.0
    for person in (1, 2, 3):
        random.setstate(state)
        other = query_of(without(case, person), keys, random).plan(**given)
        assert repr(other) == repr(plan)
        for far, may in apart(plan, whole, other.without_noise().measured):
            assert far <= may * (1 + 1e-12), (seed, person)
            most = max(most, far / may)
    return most


@pytest.mark.parametrize(
    "seeds",
    [
        range(3),
        pytest.param(range(3, 13), marks=pytest.mark.exhaustive),
        pytest.param(range(13, 500), marks=pytest.mark.stress),
    ],
    ids=str,
)
def test_one_person_moves_what_is_measured_by_the_sensitivity_at_most(seeds):
    assert max(map(check, seeds)) == 1


VISITS = pd.DataFrame(
    {
        "patient": [1] * 6 + [2, 2, 3],
        "ward": list("aabbbaabb"),
        "days": [3.0, 60, -5, 2.25, math.inf, 7, 1, math.nan, 4],
        "code": list("xyzxyzxyz"),
    }
)
TEXT = (
    "SELECT ward, COUNT(*) AS n, SUM(days) AS days, COUNT(DISTINCT code) AS codes, "
    "SUM(days) / COUNT(*) AS mean FROM visits GROUP BY ward HAVING COUNT(*) > 0 ORDER BY n DESC"
)


def query(tables: Any = VISITS, text: str = TEXT, **given: Any) -> Query:
    options = {"groups": ["a", "b"], "bounds": {"visits.days": (0, 30)}, **given}
    tables = {"visits": tables} if isinstance(tables, pd.DataFrame) else tables
    return Query(text, connection=tables, person="visits.patient", **options)


def test_sensitivities_are_those_of_the_most_results():
    """A result adds 1 to a count, 30 at most to a sum, and one value to distinct ones."""
    found = query().plan(epsilon=1, max_rows=2).to_frame().set_index("name")
    assert found["sensitivity"].to_dict() == {"n": 2, "days": 60, "codes": 2}
    assert found["scale"].to_dict() == {"n": 6, "days": 180, "codes": 6}


def test_with_room_for_all_the_answer_is_the_exact_one():
    plan = query().plan(epsilon=1, max_rows=6)
    found = plan.without_noise().to_frame().reset_index()
    expected = query().answer()
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


@pytest.mark.parametrize("kind", ["float", "text"])
def test_the_choice_of_results_does_not_depend_on_the_type_of_a_column(kind):
    """One more person makes a float, or a text, of the days of all others."""
    others = pd.DataFrame({"patient": np.repeat(range(60), 5), "days": np.arange(300) % 31})
    new = pd.DataFrame({"patient": [99], "days": [0.5 if kind == "float" else "?"]})
    both = pd.concat([others, new.astype(object) if kind == "text" else new])
    text = "SELECT COUNT(DISTINCT days) AS n FROM visits"
    one, other = (
        query(tables, text, groups=None, bounds=None).plan(epsilon=1, max_rows=1)
        for tables in (others, both)
    )
    [(far, may)] = apart(one, one.without_noise().measured, other.without_noise().measured)
    assert far <= may == 1


@pytest.mark.opendp
def test_a_query_is_published_once(tmp_path):
    pytest.importorskip("opendp.prelude")
    with pytest.warns(UserWarning, match="epsilon 1000000 is large"):
        plan = query().plan(epsilon=1_000_000, max_rows=6)
    released = plan.publish()
    expected = plan.without_noise().to_frame()
    found = released.to_frame()
    assert found.index.tolist() == expected.index.tolist() == ["b", "a"]
    np.testing.assert_allclose(
        found.astype(float), expected.loc[found.index].astype(float), rtol=1e-3, atol=0.01
    )
    assert sorted(path.name for path in released.save(tmp_path / "new")) == [
        *("plan.json", "privacy.txt", "statistics.csv"),
    ]
    with pytest.raises(InputError, match="this plan was published before"):
        plan.publish()
    with pytest.raises(InputError, match=r"it is that of a query; make it again with Query\.plan"):
        sl.releases.load(tmp_path / "new" / "plan.json")


def test_rehearsals_take_made_up_tables():
    with pytest.warns(UserWarning, match="epsilon 100 is large"):
        plan = query().plan(epsilon=100, max_rows=3, delta=1e-6)
    made_up = {"visits": pd.DataFrame({"patient": range(9), "ward": "a", "days": 2, "code": "x"})}
    first, again = (plan.rehearse(made_up, seed=3).to_frame() for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert "a" in first.index
    errors = plan.errors(made_up, times=20)
    assert errors.exact.loc["a", "n"] == 9
    assert 0 < errors.error.loc["a", "n"] < 5
    with pytest.raises(InputError, match="a rehearsal is of made-up rows: give them"):
        plan.rehearse(None)


# A person is a path, and groups are those of public tables.


def shop():
    """Lines refer to orders, these to customers; nations are public."""
    base = duckdb.connect()
    base.execute(
        "CREATE TABLE nation (id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE customer (custkey INTEGER PRIMARY KEY, nation INTEGER REFERENCES nation);"
        "CREATE TABLE orders (orderkey INTEGER PRIMARY KEY, custkey INTEGER REFERENCES customer);"
        "CREATE TABLE line (orderkey INTEGER REFERENCES orders, flag TEXT, price INTEGER);"
        "INSERT INTO nation VALUES (1, 'x'), (2, 'y'), (3, 'z');"
        "INSERT INTO customer VALUES (1, 1), (2, 1), (3, 2);"
        "INSERT INTO orders VALUES (10, 1), (11, 1), (20, 2), (30, 3);"
        "INSERT INTO line VALUES (10, 'A', 5), (10, 'R', 7), (11, 'A', 9), (20, 'A', 1), "
        "(30, 'R', 2)"
    )
    return base


Q1 = (
    "SELECT flag, SUM(price) AS total, AVG(price) AS mean, COUNT(*) AS n FROM line "
    "WHERE price <= 8 GROUP BY flag ORDER BY flag"
)


def of_shop(text, **given):
    base = given.pop("base", None) or shop()
    options = {"person": "customer.custkey", "connection": base, **given}
    return Query(text, **options)


def test_a_person_is_a_path_of_foreign_keys():
    """The lines of customer 1 are three, through two orders; those of 2 and 3 one each."""
    asked = of_shop(Q1, groups=["A", "R"], bounds={"line.price": (0, 10)})
    told = asked.contributions().to_frame().groupby("person")["n"].sum().to_dict()
    assert told == {1: 2, 2: 1, 3: 1}
    plan = asked.plan(epsilon=1, max_rows=2)
    assert "a person (customer.custkey) joins or leaves with all rows of line" in repr(plan)
    whole = plan.without_noise().measured
    for person in (1, 2, 3):
        base = shop()
        mine = f"(SELECT orderkey FROM orders WHERE custkey = {person})"
        base.execute(f"DELETE FROM line WHERE orderkey IN {mine}")
        other = of_shop(Q1, base=base, groups=["A", "R"], bounds={"line.price": (0, 10)})
        rest = other.plan(epsilon=1, max_rows=2).without_noise().measured
        for far, may in apart(plan, whole, rest):
            assert far <= may


@pytest.mark.parametrize("joined", ["", " JOIN customer USING (custkey)"])
def test_joined_tables_of_one_path_have_one_person(joined):
    text = f"SELECT COUNT(*) AS n FROM line JOIN orders USING (orderkey){joined}"
    asked = of_shop(text)
    assert asked.contributions().top(1)["n"].tolist() == [3]
    assert asked.plan(epsilon=1, max_rows=2).without_noise().to_frame()["n"].tolist() == [4]


def test_keys_of_public_tables_are_listed():
    text = (
        "SELECT name, COUNT(*) AS n FROM orders JOIN customer USING (custkey) "
        "JOIN nation ON nation.id = customer.nation GROUP BY name"
    )
    asked = of_shop(text, groups="public tables")
    assert asked.form.keys == (("x",), ("y",), ("z",))
    assert asked.answer()["n"].tolist() == [3, 1, 0]
    restricted = of_shop(
        text.replace("GROUP", "WHERE nation.name < 'z' GROUP"), groups="public tables"
    )
    assert restricted.form.keys == (("x",), ("y",))
    for column in ("customer.nation", "orders.custkey"):
        with pytest.raises(InputError, match="has rows of persons, so its keys cannot be listed"):
            of_shop(
                text.replace("GROUP BY name", f"GROUP BY {column}").replace(
                    "SELECT name,", "SELECT"
                ),
                groups="public tables",
            )


def tables(**more):
    made = {
        "people": pd.DataFrame({"id": [1, 2], "key": [7, 8]}),
        "visits": pd.DataFrame({"person": [7, 7, 8]}),
        **more,
    }
    return {
        "connection": made,
        "person": "people.id",
        "foreign_keys": {"visits.person": "people.key"},
    }


def test_a_path_that_the_caller_declares():
    asked = Query("SELECT COUNT(*) AS n FROM visits", **tables())
    assert asked.contributions().to_frame()[["person", "n"]].values.tolist() == [[1, 2], [2, 1]]


WRONG_PATHS = {
    "nobody": (
        lambda: tables(visits=pd.DataFrame({"person": [7, 9, None]}, dtype="Int64")),
        "person: 2 rows of visits without owner, since a foreign key is NULL or leads nowhere",
    ),
    "two owners": (
        lambda: tables(people=pd.DataFrame({"id": [1, 2, 3], "key": [7, 7, 8]})),
        "foreign_keys: people has 1 rows whose key another row has, too",
    ),
    "no path": (
        lambda: {**tables(), "foreign_keys": None},
        "the query reads none of the tables 'people', and no foreign key leads there",
    ),
    "two owners of what is joined": (
        lambda: {
            "connection": {
                "people": pd.DataFrame({"id": range(9)}),
                "visits": pd.DataFrame({"visit": [1] * 9, "id": range(9)}),
                "bills": pd.DataFrame({"visit": [1]}),
            },
            "person": "people.id",
            "foreign_keys": {"visits.id": "people.id", "bills.visit": "visits.visit"},
            "sql": "SELECT COUNT(*) AS n FROM people JOIN visits USING (id) "
            "JOIN bills USING (visit)",
        },
        "foreign_keys: visits has 8 rows whose visit another row has, too, so that a row that "
        "refers to them has several owners",
    ),
    "keys of two types": (
        lambda: tables(
            people=pd.DataFrame({"id": range(9), "key": range(2**60, 2**60 + 9)}),
            visits=pd.DataFrame({"person": [float(2**60)]}),
        ),
        "foreign_keys: visits.person (DOUBLE) and people.key (BIGINT) have two types, so that "
        "equal ones need not be the same: give them one, in pandas by astype('Int64')",
    ),
    "two paths": (
        lambda: {
            **tables(visits=pd.DataFrame({"person": [7], "host": [8]})),
            "foreign_keys": {"visits.person": "people.key", "visits.host": "people.key"},
        },
        "person: 2 paths of foreign keys lead from visits to persons, who need not be the same",
    ),
    "no column": (
        lambda: {**tables(), "foreign_keys": {"visits.person": "people.kee"}},
        "foreign_keys: people has no column 'kee'",
    ),
}


@pytest.mark.parametrize("what", WRONG_PATHS)
def test_paths_that_lead_to_nobody_or_to_several(what):
    made, reason = WRONG_PATHS[what]
    with pytest.raises(InputError) as caught:
        Query(**{"sql": "SELECT COUNT(*) AS n FROM visits", **made()})
    assert reason in str(caught.value)


def test_each_result_of_a_person_has_the_same_chance_to_count():
    """A thousand people with a row in each of five groups; and nine zeros and a ten each."""
    groups = pd.DataFrame({"patient": np.repeat(range(1000), 5), "ward": list("abcde") * 1000})
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    for most in (1, 2):
        plan = query(groups, text, groups=list("abcde"), bounds=None).plan(epsilon=1, max_rows=most)
        found = plan.without_noise().to_frame()["n"]
        assert found.sum() == 1000 * most
        assert found.between(140 * most, 260 * most).all()
    values = pd.DataFrame({"patient": np.repeat(range(1000), 10), "days": ([0] * 9 + [10]) * 1000})
    asked = query(values, "SELECT SUM(days) AS s FROM visits", groups=None)
    kept = asked.plan(epsilon=1, max_rows=1).without_noise().to_frame()["s"].iloc[0]
    assert 700 < kept < 1300


def of_items(equal: str = " = ", where: str = "", **given: Any) -> Query:
    return Query(
        "SELECT kind, COUNT(*) AS n FROM people JOIN orders ON orders.who = people.id "
        f"JOIN items ON items.ord{equal}orders.ord{where} GROUP BY kind",
        connection={
            "people": pd.DataFrame({"id": [1, 2]}),
            "orders": pd.DataFrame({"who": [1, 1], "ord": [7, 8]}),
            "items": pd.DataFrame({"ord": [7, 8, 8], "kind": ["tea", "tea", "secret"]}),
            "kinds": pd.DataFrame({"kind": ["tea"]}),
        },
        person="people.id",
        groups=["tea"],
        **given,
    )


REFUSALS = {
    "a foreign key that was forgotten": (
        lambda: Query(
            "SELECT status, COUNT(*) AS n FROM people JOIN orders ON orders.who = people.id "
            "GROUP BY status",
            connection={
                "people": pd.DataFrame({"id": [1, 2]}),
                "orders": pd.DataFrame({"who": [1, 1], "status": ["open", "secret"]}),
            },
            person="people.id",
            groups=["open"],
        ).plan(epsilon=1, max_rows=1),
        "public: nothing says whose rows those of orders are. If they belong to persons, name both "
        "columns of persons, person={'people': 'id', 'orders': 'who'}. If everybody may know all "
        "of them, pass public=['orders']",
    ),
    "a foreign key that was forgotten one table further on": (
        lambda: of_items(foreign_keys={"orders.who": "people.id"}).plan(epsilon=1, max_rows=1),
        "declare the key that leads to them, foreign_keys={'items.ord': 'orders.ord'}",
    ),
    "a table that no equality joins": (
        lambda: of_items(" < ", foreign_keys={"orders.who": "people.id"}).plan(
            epsilon=1, max_rows=1
        ),
        "declare the key that leads to them, foreign_keys={...}. If everybody",
    ),
    "a lookup that is not declared": (
        lambda: of_items(
            " < ",
            " WHERE items.kind IN (SELECT kind FROM kinds)",
            foreign_keys={"orders.who": "people.id"},
            public=["items"],
        ).plan(epsilon=1, max_rows=1),
        "public: nothing says whose rows those of kinds are",
    ),
    "a public table with rows of persons": (
        lambda: of_items(
            foreign_keys={"orders.who": "people.id", "items.ord": "orders.ord"}, public=["items"]
        ),
        "public: items has rows that go with a person; leave it out",
    ),
    "a public table that is not there": (
        lambda: query(public=["nations"]),
        "in public",
    ),
    "public tables in one text": (
        lambda: query(public="nation"),
        "public must be a list of tables, such as ['nation', 'region'], got 'nation'",
    ),
    "keys of the data": (
        lambda: query(groups=VISITS.ward.unique()).plan(epsilon=1, max_rows=1),
        "groups comes from an array or a table",
    ),
    "bounds of the data": (
        lambda: query(bounds={"visits.days": (0, VISITS.patient.max())}).plan(
            epsilon=1, max_rows=1
        ),
        "bounds['visits.days'] comes from an array or a table",
    ),
    "a limit of the data": (
        lambda: query().plan(epsilon=1, max_rows=VISITS.patient.value_counts().max()),
        "max_rows comes from an array or a table",
    ),
    "a table for a plan that has its own": (
        lambda: query().plan(epsilon=1, max_rows=1).without_noise({"visits": VISITS}),
        "this plan reads the tables of its query; leave out the table",
    ),
    "a rehearsal with the query's own tables": (
        lambda: query().plan(epsilon=1, max_rows=1).errors({"visits": VISITS}),
        "a rehearsal is of made-up tables, and these are the query's own",
    ),
    "two persons": (
        lambda: query(
            {"visits": VISITS, "other": VISITS.rename(columns={"patient": "who"})},
            "SELECT COUNT(*) AS n FROM visits JOIN visits AS o ON visits.code = o.code",
            groups=None,
            bounds=None,
        ).plan(epsilon=1, max_rows=1),
        "plan: a result can refer to several persons",
    ),
    "no bounds": (
        lambda: query(bounds=None).plan(epsilon=1, max_rows=1),
        "plan: days adds up values without bounds; give public bounds of 'visits.days', such as "
        "bounds={'visits.days': (1, 50)}",
    ),
    "bounds beyond floats": (
        lambda: query(bounds={"visits.days": (0, 2**60)}).plan(epsilon=1, max_rows=1),
        "give bounds below 2**53",
    ),
    "neither loss nor limit": (
        lambda: query().plan(),
        "plan: give epsilon and max_rows, the most results of the join that count of one person",
    ),
    "no rows": (
        lambda: query().plan(epsilon=1, max_rows=0),
        "max_rows must be a whole number (the most results of the join",
    ),
    "no noise": (lambda: query().plan(epsilon=math.inf, max_rows=1), "take its without_noise"),
    "shares of others": (
        lambda: query().plan(epsilon=1, max_rows=1, split={"n": 1}),
        "the names are 'n', 'days', 'codes'",
    ),
    "open keys": (lambda: query(groups=None), "which keys occur is private"),
    "rows of nobody": (
        lambda: query(VISITS.assign(patient=[1.0, None] * 4 + [2.0])),
        "rows of visits have NULL in patient",
    ),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refusals(what):
    call, reason = REFUSALS[what]
    with pytest.raises(InputError) as caught:
        call()
    assert reason in str(caught.value)


def test_keys_of_two_types_are_named_with_the_way_out():
    """A frame of pandas with a missing key has floats in place of whole numbers."""
    members = pd.DataFrame({"member": [1, 2], "city": ["a", "b"]})
    loans = pd.DataFrame({"loan": [1, 2, 3], "member": [1, None, 2]})
    text = "SELECT city, COUNT(*) AS n FROM members JOIN loans USING (member) GROUP BY city"

    def asked(loans: pd.DataFrame) -> Query:
        return Query(
            text,
            connection={"members": members, "loans": loans},
            person="members.member",
            foreign_keys={"loans.member": "members.member"},
            groups=["a", "b"],
        )

    for wrong in (loans, loans.dropna()):
        with pytest.raises(InputError, match=r"two types.*astype\('Int64'\)"):
            asked(wrong).plan(epsilon=1, max_rows=2)
    plan = asked(loans.astype({"member": "Int64"})).plan(epsilon=1, max_rows=2)
    assert plan.without_noise().to_frame()["n"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("items", "measured"),
    [
        ("AVG(x), COUNT(*), COUNT(x)", ["sum", "count"]),
        ("AVG(x + 1) FILTER (WHERE y > 1), COUNT(*) FILTER (WHERE y > 1)", ["sum", "count"]),
        ("AVG(COALESCE(y, 0)), COUNT(*)", ["sum", "count"]),
        ("STDDEV(2 * x), COUNT(*)", ["sum", "count", "sum"]),
        ("AVG(y), COUNT(*)", ["sum", "count", "count"]),
        ("AVG(x / x), COUNT(*)", ["sum", "count", "count"]),
        ("AVG(COALESCE(y, NULL)), COUNT(*)", ["sum", "count", "count"]),
        ("AVG(w), COUNT(*)", ["sum", "count", "count"]),
        ("COUNT(CAST(NULL AS INT)), COUNT(*)", ["count", "count"]),
        ("COUNT(COALESCE(y, TRY_CAST('a' AS INT))), COUNT(*)", ["count", "count"]),
    ],
)
def test_a_count_of_what_is_never_null_is_that_of_the_rows(items, measured):
    base = duckdb.connect()
    base.execute("CREATE TABLE t (p INT, x INT NOT NULL, y INT)")
    base.execute("CREATE TABLE u (x INT NOT NULL, w INT NOT NULL)")
    base.execute("INSERT INTO t VALUES (1, 0, NULL), (1, 5, 2), (2, 7, 3)")
    text = f"SELECT {items} FROM t LEFT JOIN u USING (x)"
    query = Query(text, connection=base, person="t.p", public=["u"])
    assert [one.kind for one in query.form.aggregates] == measured
    found = query.answer().to_numpy(dtype=float).ravel()
    np.testing.assert_allclose(found, np.array(base.execute(text).fetchone(), dtype=float))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward, code ORDER BY n",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward, code LIMIT 3",
        "SELECT ward, CASE WHEN COUNT(*) > 2 THEN 'many' END AS n FROM visits GROUP BY ward, code",
        "SELECT * FROM (SELECT ward, code, COUNT(*) AS n FROM visits GROUP BY ward, code)",
        "SELECT ward, code, DATE '2026-01-01' AS n, COUNT(*) FROM visits GROUP BY ward, code",
    ],
)
def test_errors_are_of_numbers_by_their_keys(text):
    keys = [(ward, code) for ward in "ab" for code in "xyz"]
    made = query(text=text, groups=keys, bounds=None).plan(epsilon=1, max_rows=2)
    with pytest.raises(InputError, match=r"^errors are of numbers, by the keys of their rows"):
        made.errors({"visits": VISITS.copy()}, times=2)
