"""A checkpoint's folder: damaged, swapped and foreign files never become answers."""

from __future__ import annotations

import dataclasses
import errno
import itertools
import json
import os
import pickle
import platform
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from checks import refused, refused_with
from doses import spans

import sensitivity_lab as sl
from sensitivity_lab.running import checkpoint
from sensitivity_lab.running.checkpoint import Checkpoint
from sensitivity_lab.running.cluster import KeptByWorkers
from sensitivity_lab.running.encoding import from_bytes, to_bytes
from sensitivity_lab.running.time_limits import in_time
from sensitivity_lab.search.enumeration.kept import Chunk, LevelKeeper, NeighborKeeper, Recipe

RECORDS = [1, 2, 3, 5, 8, 13]
UNIVERSE = sl.Universe.from_dataset(RECORDS)
CALLS: Counter[tuple] = Counter()


def spread(x):
    CALLS[tuple(x.tolist())] += 1
    return float(x.max() - x.min())


def middle(x):
    CALLS[tuple(x.tolist())] += 1
    return Fraction(int(x.sum()), 7), 2**80 + int(x[0]), 0.5


def solve(folder, function=spread, universe=UNIVERSE, size=3, neighbors="bounded", **options):
    """Return the result's facts, and how often the function was called to find it."""
    CALLS.clear()
    name = getattr(function, "__name__", None)
    query = sl.from_function(function, name=name, order="sorted")
    result = sl.global_sensitivity(
        universe, query, size=size, neighbors=neighbors, run=sl.Run(checkpoint=folder), **options
    )
    result.verify()
    return (result.value, result.exact, result.witness), CALLS.total()


def blocks(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.block"))


@pytest.mark.parametrize("function", [spread, middle])
def test_what_is_kept_is_not_evaluated_again(tmp_path, function):
    first, calls = solve(tmp_path / "kept", function)
    again, fewer = solve(tmp_path / "kept", function)
    without, _ = solve(None, function)
    assert first == again == without
    assert fewer == calls - 20  # of each dataset two evaluations are left one: all are checked


def test_of_blocks_that_overlap_one_is_taken(tmp_path):
    """The one that begins first, and of those that begin together the shortest."""
    checkpoint = Checkpoint.open(tmp_path / "kept", {"query": "q"})
    about = {"universe": "u", "query": "q", "size": 3}
    for first, last in [(0, 4), (0, 6), (3, 8), (4, 7), (6, 9), (9, 10)]:
        checkpoint.keep(about, first, last, np.arange(first, last))
    spans = [(first, last, answers.tolist()) for first, last, answers in checkpoint.spans(about)]
    assert spans == [(0, 4, [0, 1, 2, 3]), (4, 7, [4, 5, 6]), (9, 10, [9])]


@pytest.mark.parametrize("function", [spread, middle])
def test_blocks_that_overlap_do_not_shift_answers(tmp_path, function):
    """Two calls that use a folder at the same time can divide the same datasets differently."""
    folder = tmp_path / "kept"
    expected, calls = solve(folder, function)
    read = [from_bytes(file.read_bytes()) for file in blocks(folder)]
    read.sort(key=lambda block: block[0]["first"])
    about = {name: read[0][0][name] for name in ("universe", "query", "size")}
    answers = np.concatenate([of_block for _, of_block in read])
    for file in blocks(folder):
        file.unlink()
    for first, last in [(0, 12), (8, 20)]:
        Checkpoint(str(folder), "", True).keep(about, first, last, answers[first:last])
    again, fewer = solve(folder, function)
    assert again == expected
    assert calls - fewer == 12  # the second block is not taken, and its last 8 are evaluated


@pytest.mark.exhaustive
def test_other_distances_take_what_is_there(tmp_path):
    solve(tmp_path, neighbors="bounded")
    found, calls = solve(tmp_path, neighbors=sl.SymmetricDifference(2))
    fewest = 2 + 2  # for the witness: to see that the function keeps no state, and by verify()
    assert found == solve(None, neighbors=sl.SymmetricDifference(2))[0]
    # The kept ones are checked, those that are new are evaluated, and a sample of these again.
    assert calls - fewest == 20 + (6 + 15 + 15 + 6) + 32


@pytest.mark.exhaustive
def test_curves_and_local_sensitivities_keep_theirs(tmp_path):
    def curves():
        CALLS.clear()
        found = sl.sensitivity_curves(
            {"a": UNIVERSE, "b": sl.Universe.from_dataset([1, 2, 4, 9])},
            [sl.from_function(spread, name="spread")],
            size=2,
            distances=[1, 2],
            neighbors="bounded",
            run=sl.Run(checkpoint=tmp_path / "curves"),
        )
        return found.to_frame().to_csv(), CALLS.total()

    def local():
        CALLS.clear()
        found = sl.local_sensitivity(
            UNIVERSE,
            sl.from_function(middle, name="middle"),
            dataset=[1, 3, 8],
            neighbors=sl.Bounded(2),
            run=sl.Run(checkpoint=tmp_path / "local"),
        )
        return (found.value, found.witness), CALLS.total()

    for call, neighbors in ((curves, 15 + 6), (local, 18 - 2)):
        first, calls = call()
        again, fewer = call()
        assert first == again
        assert calls - fewer == neighbors


def test_another_search_is_refused_with_both_hashes(tmp_path):
    solve(tmp_path / "kept")
    manifest = json.loads((tmp_path / "kept" / "manifest.json").read_text())
    path = str(tmp_path / "kept")
    other = sl.Universe.from_dataset([1, 2, 3, 5, 8, 14])
    with pytest.raises(sl.errors.CheckpointError) as caught:
        solve(tmp_path / "kept", universe=other)
    start = f"the checkpoint {path!r} belongs to another search: there, "
    end = "; choose another folder, or delete this one"
    assert str(caught.value).startswith(
        f"{start}universe is {manifest['universe']}; here, records "
    )
    assert str(caught.value).endswith(end)
    with pytest.raises(sl.errors.CheckpointError) as caught:
        solve(tmp_path / "kept", lambda x: float(x.max()))
    assert str(caught.value).startswith(f"{start}queries is {manifest['queries']}; here, function ")
    refused(
        lambda: solve(tmp_path / "kept", size=4),
        f"{start}sizes is 3; here, 4{end}",
        sl.errors.CheckpointError,
    )


def installed(monkeypatch, loaded=(), **versions):
    """Let distributions have other versions (None: not installed), and further ones be loaded."""
    every = checkpoint.installed_versions() | versions
    every = {name: version for name, version in every.items() if version is not None}
    names = checkpoint.loaded_distributions() & set(every) | set(loaded)
    monkeypatch.setattr(checkpoint, "installed_versions", lambda: dict(every))
    monkeypatch.setattr(checkpoint, "loaded_distributions", lambda: set(names))


def test_versions_of_what_is_loaded_count(tmp_path):
    solve(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert {"Python", "numpy", "pandas", "joblib", "pytest", "duckdb"} <= {*manifest["loaded"]}
    assert manifest["installed"]["pandas"] == pd.__version__
    assert manifest["installed"]["Python"] == platform.python_version()
    assert manifest["installed"]["joblib"] == joblib.__version__


@pytest.mark.parametrize("name", ["Python", "pandas", "numpy", "duckdb", "joblib"])
@pytest.mark.parametrize(("there", "here"), [("2.3.0", "3.1.0"), ("2.3.0", None), (None, "3.1.0")])
def test_another_version_is_refused_with_both(tmp_path, monkeypatch, name, there, here):
    with monkeypatch.context() as first:
        installed(first, [name] if there else [], **{name: there})
        solve(tmp_path)
    installed(monkeypatch, [name] if here else [], **{name: here})
    refused(
        lambda: solve(tmp_path),
        f"the checkpoint {str(tmp_path)!r} belongs to another search: there, {name} is "
        f"{there or 'not installed'}; here, {here or 'not installed'}; choose another folder, or "
        "delete this one",
        sl.errors.CheckpointError,
    )


def test_what_only_one_process_loads_is_compared_with_what_the_other_has_installed(
    tmp_path, monkeypatch
):
    """As of a notebook and a script: IPython is installed for both, and loaded by one."""

    def call(loaded, version):
        with monkeypatch.context() as process:
            installed(process, loaded, fast=version)
            return solve(tmp_path)[1]

    calls = call([], "1.0")
    assert call(["fast"], "1.0") < calls
    # Its answers are kept there now, so it counts from here on, loaded or not.
    assert call([], "1.0") < calls
    for loaded in ([], ["fast"]):
        with pytest.raises(sl.errors.CheckpointError, match=r"there, fast is 1\.0; here, 1\.1; "):
            call(loaded, "1.1")


def test_what_no_process_loads_may_change(tmp_path, monkeypatch):
    with monkeypatch.context() as first:
        installed(first, unrelated="1.0")
        _, calls = solve(tmp_path)
    installed(monkeypatch, unrelated="2.0")
    assert solve(tmp_path)[1] < calls


def test_a_folder_of_other_things_is_refused(tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    refused(
        lambda: solve(tmp_path),
        f"the folder {str(tmp_path)!r} holds other files, such as 'letter.txt'; a checkpoint needs "
        "a folder of its own, new or empty",
        sl.errors.CheckpointError,
    )
    refused_with(
        lambda: solve(tmp_path / "letter.txt"),
        r"cannot use the checkpoint .*: File exists",
        sl.errors.CheckpointError,
    )


@pytest.mark.parametrize("text", ["", "{", "[]", '{"what": "something else"}', "null", "\0"])
def test_a_damaged_manifest_is_refused(tmp_path, text):
    solve(tmp_path)
    (tmp_path / "manifest.json").write_text(text)
    refused_with(
        lambda: solve(tmp_path),
        "is not a checkpoint of sensitivity_lab, or is",
        sl.errors.CheckpointError,
    )


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
@pytest.mark.parametrize("make", [pipe, device, Path.mkdir])
@pytest.mark.parametrize("place", ["manifest.json", "own", "foreign.block"])
def test_a_pipe_or_a_device_is_refused_at_once(tmp_path, make, place):
    """To read or to write it would wait forever, or never end."""
    solve(tmp_path)
    file = blocks(tmp_path)[0] if place == "own" else tmp_path / place
    file.unlink(missing_ok=True)
    make(file)
    refused(
        lambda: in_time(10, solve, tmp_path),
        f"the checkpoint {str(tmp_path)!r} holds {file.name!r}, which is no regular file, but a "
        "pipe, a device or a folder; delete it, or choose another folder",
        sl.errors.CheckpointError,
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
def test_a_block_that_becomes_a_pipe_is_computed_again_where_it_is_read(tmp_path):
    about = {"query": "q"}
    kept = Checkpoint.open(tmp_path, about)
    kept.keep(about, 0, 2, np.arange(2))
    (file,) = blocks(tmp_path)
    file.unlink()
    pipe(file)
    assert in_time(10, kept.spans, about) == []


def damage(folder: Path, seed: int) -> None:
    """Cut off, change, swap, rename, and exchange for foreign ones some of a folder's files."""
    chance = random.Random(seed)
    for file in blocks(folder):
        data = file.read_bytes()
        what = chance.choice(
            ["nothing", "cut", "bit", "swap", "rename", "foreign", "empty", "gone"]
        )
        if what == "cut":
            file.write_bytes(data[: chance.randrange(len(data) or 1)])
        elif what == "bit" and data:
            place = chance.randrange(len(data) or 1)
            changed = data[place] ^ (1 << chance.randrange(8))
            file.write_bytes(data[:place] + bytes([changed]) + data[place + 1 :])
        elif what == "swap":
            other = chance.choice(blocks(folder))
            file.write_bytes(other.read_bytes())
            other.write_bytes(data)
        elif what == "rename":
            file.rename(folder / f"{file.stem[:-1]}{chance.randrange(10)}.block")
        elif what == "foreign":
            file.write_bytes(chance.randbytes(chance.randrange(200)))
        elif what == "empty":
            file.write_bytes(b"")
        elif what == "gone":
            file.unlink()


@pytest.mark.parametrize("function", [spread, middle])
@pytest.mark.parametrize("seeds", spans(3, 12))
def test_a_damaged_folder_gives_no_wrong_answer(tmp_path, function, seeds):
    expected, _ = solve(None, function)
    for seed in seeds:
        assert solve(tmp_path / "kept", function)[0] == expected
        damage(tmp_path / "kept", seed)
        assert solve(tmp_path / "kept", function)[0] == expected


@pytest.mark.exhaustive
def test_blocks_of_another_search_are_not_taken(tmp_path):
    """Both folders hold blocks of the same names but for the hashes, which are inside too."""
    solve(tmp_path / "one")
    expected, _ = solve(None, lambda x: float(x.sum()))
    solve(tmp_path / "other", lambda x: float(x.sum()))
    for mine, foreign in zip(blocks(tmp_path / "other"), blocks(tmp_path / "one"), strict=True):
        mine.write_bytes(foreign.read_bytes())
    assert solve(tmp_path / "other", lambda x: float(x.sum()))[0] == expected


def test_nothing_is_unpickled(tmp_path, monkeypatch):
    solve(tmp_path, middle)
    for module in ("pickle.loads", "pickle.load", "numpy.load"):
        monkeypatch.setattr(module, lambda *_: pytest.fail("something is unpickled"))
    assert solve(tmp_path, middle)[1] == 20 + 2 + 2


def test_a_full_disk_is_one_line_and_corrupts_nothing(tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    expected, _ = solve(folder)
    for file in blocks(folder)[::2]:
        file.unlink()
    left = {file.name: file.read_bytes() for file in blocks(folder)}
    failing = itertools.count()

    def fsync(_):
        if next(failing) >= 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", fsync)
    refused(
        lambda: solve(folder),
        f"cannot write to the checkpoint {str(folder)!r}: No space left on device; mend that and "
        f"call again with the same arguments and run=Run(checkpoint={str(folder)!r}) to go on",
        sl.errors.CheckpointError,
    )
    monkeypatch.undo()
    now = {file.name: file.read_bytes() for file in blocks(folder)}
    assert left.items() <= now.items()
    assert len(now) == len(left) + 2
    assert solve(folder)[0] == expected


def test_vectorized_functions_resume_with_the_same_batches(tmp_path, monkeypatch):
    """Sums of floats depend on how many rows are added together; the answers must not."""
    monkeypatch.setattr("sensitivity_lab.search.enumeration.evaluate._BATCH_ROWS", 4)
    monkeypatch.setattr("sensitivity_lab.search.enumeration.evaluate._PROBE_ROWS", 2)
    batches: list[int] = []

    def batched(rows):
        batches.append(len(rows))
        return rows.max(axis=1) - rows.min(axis=1)

    query = sl.from_function(batched, vectorized=True, name="batched")
    sl.global_sensitivity(
        UNIVERSE, query, size=3, neighbors="bounded", run=sl.Run(checkpoint=tmp_path)
    )
    together = [length for length in batches if length > 1]
    assert together[1:7] == [2, 2, 4, 4, 4, 4]
    for file in blocks(tmp_path)[::2]:
        file.unlink()
    batches.clear()
    sl.global_sensitivity(
        UNIVERSE, query, size=3, neighbors="bounded", run=sl.Run(checkpoint=tmp_path)
    )
    assert set(batches) <= {1, 2, 4, 6, 8}


@pytest.mark.parametrize("answers", [[1.5, -0.0, 1e-320], [2**62, -(2**63)], [2**70, 3]])
def test_answers_survive_their_file(answers):
    array = np.array(answers)
    about, read = from_bytes(to_bytes({"size": 3}, array))
    assert about == {"size": 3}
    assert read.dtype == array.dtype
    assert read.tolist() == array.tolist()
    assert list(map(str, read)) == list(map(str, array))


ABOUT = [
    (
        lambda checkpoint: LevelKeeper(checkpoint, "records", ("one query", "another")),
        Recipe(3, 4, 6),
        [np.array([0.5, 2.0]), np.array([1, 3])],
    ),
    (
        lambda checkpoint: NeighborKeeper(checkpoint, "records", "query", "listing"),
        Chunk(4, ((0, 1), (1, 0))),
        [(Fraction(1, 3), 2), (1, 2**80)],
    ),
]


@pytest.mark.parametrize(("keeper_of", "recipe", "answer"), ABOUT)
def test_workers_that_see_the_folder_do_not_evaluate_a_block_again(
    tmp_path, keeper_of, recipe, answer
):
    """A worker of a cluster can die with answers that nobody has fetched."""
    calls = []

    def evaluate(block):
        calls.append(block)
        return answer

    here = Checkpoint.open(tmp_path / "here", {"query": "q"})
    work = pickle.loads(pickle.dumps(KeptByWorkers(len, keeper_of(here))))
    work = dataclasses.replace(work, function=evaluate)
    assert str(work(recipe)) == str(work(recipe)) == str(answer)
    assert len(calls) == 1
    other = Checkpoint.open(tmp_path / "other", {"query": "another"})
    for elsewhere in [
        dataclasses.replace(here, folder=str(tmp_path / "none")),
        dataclasses.replace(here, folder=other.folder),
    ]:
        away = KeptByWorkers(evaluate, keeper_of(elsewhere))
        before = len(calls)
        away(recipe), away(recipe)
        assert len(calls) == before + 2
    assert not blocks(tmp_path / "other")
