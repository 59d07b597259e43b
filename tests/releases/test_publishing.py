"""Published once, whatever happens: threads, copies, processes, kills at each step, full disks.

A child process is ended before or after each call of the system that writes, flushes, renames or
removes something. Whatever is left, a later run gives finished numbers back, says that unfinished
ones count as spent, or finds nothing and publishes.
"""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import threading
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sensitivity_lab as sl
from sensitivity_lab.errors import InputError
from sensitivity_lab.releases import publishing

pytestmark = [
    pytest.mark.opendp,
    pytest.mark.filterwarnings("ignore:an equal plan was published before"),
]
pytest.importorskip("opendp.prelude")

TABLE = pd.DataFrame({"id": range(2000), "v": [3, 4] * 1000})
FORK = multiprocessing.get_context("fork")


def made(**given):
    asked = {
        "epsilon": 1,
        "agg": {"n": "count", "h": ("v", "histogram")},
        "bounds": {"v": range(6)},
    }
    return sl.releases.plan(sl.releases.Person("id", max_rows=1), **{**asked, **given})


def numbers(released):
    return {name: table.to_numpy().tolist() for name, table in released.measured.items()}


def in_threads(number, call):
    """What each of some threads returns or raises, all starting at once."""
    barrier, found = threading.Barrier(number), []

    def run():
        barrier.wait()
        try:
            found.append(call())
        except InputError as error:
            found.append(error)

    threads = [threading.Thread(target=run) for _ in range(number)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return found


@pytest.mark.parametrize("shared", [False, True])
def test_four_threads_publish_one_plan_once(shared, tmp_path):
    for trial in range(10):
        plan = made()
        given = {"ledger": tmp_path, "name": str(trial)} if shared else {}
        found = in_threads(4, lambda plan=plan, given=given: plan.publish(TABLE, **given))
        released = [one for one in found if not isinstance(one, InputError)]
        told = [str(one) for one in found if isinstance(one, InputError)]
        assert len({json.dumps(numbers(one)) for one in released}) == 1
        assert sum(not one.date for one in released) == 1
        words = "was begun on" if shared else "this plan was published before"
        assert all(words in text for text in told)


@pytest.mark.parametrize("how", [copy.deepcopy, copy.copy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_are_one_plan(how):
    plan = made()
    other = how(plan)
    plan.publish(TABLE)
    assert other.published
    with pytest.raises(InputError, match="this plan was published before"):
        other.publish(TABLE)


def test_an_equal_plan_warns_and_another_process_refuses(tmp_path):
    made(epsilon=0.25).publish(TABLE)
    with pytest.warns(UserWarning, match="an equal plan was published before in this process"):
        made(epsilon=0.25).publish(TABLE)
    plan = made()
    [(_, told)] = in_processes(1, lambda: plan.publish(TABLE))
    assert "this plan was made in another process" in told
    plan.publish(TABLE)
    # A child forgets what its parent published: it makes plans of its own.
    [(what, _)] = in_processes(1, lambda: made().publish(TABLE))
    assert what == "published"
    plan.save(tmp_path / "plan.json")
    with pytest.raises(InputError, match="this plan was published before"):
        sl.releases.load(tmp_path / "plan.json").publish(TABLE)


def in_processes(number, call):
    """What each of some processes tells, all starting at once: published, given back or refused."""
    barrier, told = FORK.Barrier(number), FORK.Queue()

    def run():
        barrier.wait()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                released = call()
                what = "given back" if released.date else "published"
                told.put((what, json.dumps(numbers(released))))
            except InputError as error:
                told.put(("refused", str(error)))

    children = [FORK.Process(target=run) for _ in range(number)]
    for child in children:
        child.start()
    found = [told.get(timeout=60) for _ in children]
    for child in children:
        child.join()
    return found


@pytest.mark.parametrize("_trial", range(5))
def test_three_processes_publish_one_plan_once(_trial, tmp_path):
    found = in_processes(3, lambda: made().publish(TABLE, ledger=tmp_path / "ledger"))
    assert [what for what, _ in found].count("published") == 1
    assert len({text for what, text in found if what != "refused"}) == 1
    assert all("was begun on" in text for what, text in found if what == "refused")
    [(what, text)] = in_processes(1, lambda: made().publish(None, ledger=tmp_path / "ledger"))
    assert (what, text) in [("given back", text) for _, text in found]
    found = in_processes(3, lambda: made().publish(TABLE, tmp_path / "new"))
    assert sorted(what for what, _ in found) == ["published", "refused", "refused"]


def traced(step, after):
    """End this process before or after so many calls that touch files."""
    seen = 0

    def ended(call):
        def wrapped(*args, **kwargs):
            nonlocal seen
            seen += 1
            due = seen == step
            if due and not after:
                os._exit(9)
            found = call(*args, **kwargs)
            if due:
                os._exit(9)
            return found

        return wrapped

    for name in ("mkdir", "fsync", "replace", "rename", "unlink", "rmdir", "open"):
        setattr(os, name, ended(getattr(os, name)))
    for name in ("open", "mkdir", "unlink", "replace", "rmdir", "write_text"):
        setattr(Path, name, ended(getattr(Path, name)))


def publish_traced(step, after, folder, told):
    """In a child: publish with a ledger and a folder, and be ended at a step."""
    plan = made()
    traced(step, after)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan.publish(TABLE, folder / "out", ledger=folder / "ledger")
    told.put("finished")


def states_after_kills(folder, run):
    """By state, how many kills left it; each is checked."""
    found = {"nothing": 0, "begun": 0, "finished": 0}
    for step in range(1, 200):
        for after in (False, True):
            place = folder / f"{step}{after}"
            place.mkdir()
            told = FORK.Queue()
            child = FORK.Process(target=run, args=(step, after, place, told))
            child.start()
            child.join()
            if child.exitcode == 0:
                assert told.get(timeout=10) == "finished"
                return found
            found[state_of(place)] += 1
    raise AssertionError("it never finished")


def state_of(place):
    """What a kill left: numbers are on the disk only beside what says so."""
    entries = list((place / "ledger").glob("*.json")) if (place / "ledger").exists() else []
    begun = [one for one in entries if not one.name.endswith(".numbers.json")]
    finished = [one for one in entries if one.name.endswith(".numbers.json")]
    assert len(finished) <= len(begun) <= 1
    for part in place.rglob("*.part"):
        assert begun or not part.read_bytes().strip(), "numbers without a record"
    if (place / "out" / "statistics.csv").exists():
        assert finished
    again = made()
    if finished:
        released = again.publish(None, ledger=place / "ledger")
        assert released.date
        assert numbers(released) == numbers(made().publish(None, ledger=place / "ledger"))
        assert again.published
        return "finished"
    if begun:
        with pytest.raises(InputError, match="not finished: its epsilon counts as spent"):
            again.publish(TABLE, ledger=place / "ledger")
        if begun[0].stat().st_size:
            assert sl.releases.ledger(place / "ledger").total == {"the people of id": (1, 0)}
        return "begun"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not again.publish(TABLE, ledger=place / "ledger").date
    return "nothing"


@pytest.mark.further
def test_a_kill_at_each_step_leaves_one_of_three_states(tmp_path):
    found = states_after_kills(tmp_path, publish_traced)
    assert min(found.values()) >= 2, found
    assert sum(found.values()) >= 20, found


@pytest.mark.parametrize("step", range(1, 6))
def test_a_full_disk_says_what_is_spent(step, tmp_path, monkeypatch):
    """The file system refuses at one flush after the other."""
    plan, calls = made(), iter(range(1, 99))
    real = os.fsync

    def full(descriptor):
        if next(calls) == step:
            raise OSError(28, "No space left on device")
        return real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError) as caught:
        plan.publish(TABLE, ledger=tmp_path / "ledger")
    monkeypatch.undo()
    told = str(caught.value)
    assert told.startswith("the disk refuses: No space left on device")
    drawn = step >= 4
    assert ("the noise was drawn; its epsilon counts as spent" in told) == drawn
    assert ("nothing was drawn, and nothing is spent" in told) == (not drawn)


def test_a_ledger_adds_up(tmp_path):
    for month in ("2026-10", "2026-11"):
        made(epsilon=0.5).publish(TABLE, ledger=tmp_path, name=month)
    visits = sl.releases.plan(
        sl.releases.Person("visitor", max_rows=1), epsilon=1, delta=1e-6, agg={"n": "count"}
    )
    visits.publish(pd.DataFrame({"visitor": [1, 2]}), ledger=tmp_path)
    found = sl.releases.ledger(tmp_path)
    assert found.total == {
        "the people of id": (1, 0),
        "the people of visitor": (
            1,
            sl.releases.ledger(tmp_path).total["the people of visitor"][1],
        ),
    }
    assert "2 publications about the people of id: epsilon 1 in all" in repr(found)
    assert found.to_frame()["finished"].all()
    with pytest.raises(InputError, match="cannot read the ledger"):
        sl.releases.ledger(tmp_path / "none")


def test_what_a_ledger_never_knows(tmp_path):
    """No hash of the table, no number of its rows, no reason of a refusal."""
    made().publish(TABLE, ledger=tmp_path)
    bad = made(epsilon=2)
    with pytest.raises(InputError, match="cannot be read"):
        bad.publish(TABLE.assign(v="x"), ledger=tmp_path)
    [entry] = [one for one in tmp_path.glob("*.json") if "numbers" not in one.name]
    told = json.loads(entry.read_text())
    assert set(told) == {"begun", "name", "about", "epsilon", "delta", "plan"}
    assert "2000" not in entry.read_text()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"ledger": 5}, "ledger must be"),
        ({"name": 5}, "name must be"),
        ({"unreadable": "skip"}, "unreadable must be"),
    ],
)
def test_wrong_arguments(given, told):
    with pytest.raises(InputError, match=told):
        made().publish(TABLE, **given)


def test_a_long_name_is_refused_before_the_noise():
    with pytest.raises(InputError, match="no file can have one so long"):
        made(agg={"h" * 300: ("v", "histogram")})


def test_digests_do_not_depend_on_what_was_published():
    plan = made()
    before = publishing.digest_of(plan.to_dict(), "")
    plan.publish(TABLE)
    assert publishing.digest_of(plan.to_dict(), "") == before != publishing.digest_of({}, "")


@pytest.mark.parametrize("which", ["*.json", "*.numbers.json"])
@pytest.mark.parametrize("text", ['{"begun": "20', "[1]", "{}", "3"])
def test_a_ledger_whose_files_were_damaged_is_told_as_spent(which, text, tmp_path):
    made().publish(TABLE, ledger=tmp_path)
    path = min(tmp_path.glob(which), key=lambda one: len(one.name))
    path.write_text(text)
    if (which, text) == ("*.json", "{}"):
        assert made().publish(TABLE, ledger=tmp_path).date == "an unknown date"
        return
    with pytest.raises(InputError, match=r"cannot be read \(.*\): its epsilon counts as spent"):
        made().publish(TABLE, ledger=tmp_path)


@pytest.mark.parametrize(
    "given",
    [
        {"agg": {"group": "count"}, "bounds": None},
        {"agg": {"g": "count"}, "bounds": None, "groupby": {"g": ["a", "b"]}},
        {"agg": {"h": ("v", "histogram")}, "groupby": {"4": ["a", "b"]}},
    ],
)
def test_a_number_that_is_called_as_its_groups_are_is_written(given, tmp_path):
    """An error would come when the noise is drawn and paid for."""
    table = TABLE.assign(**dict.fromkeys("g4", "a"))
    released = made(**given).publish(table, tmp_path / "out")
    [name] = [path.name for path in (tmp_path / "out").glob("*.csv")]
    cells = pd.read_csv(tmp_path / "out" / name, header=None).iloc[1:, 1:]
    numbers = released.histograms.get("h", released.statistics)
    np.testing.assert_array_equal(cells.to_numpy(dtype=float), numbers.to_numpy(dtype=float))
