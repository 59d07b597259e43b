"""Temporary folders and shared memory: what ended leaves nothing, and what runs loses nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from paths import PACKAGE, ROOT
from searches import Search, is_running, shared_memory, until

from sensitivity_lab.files import remove_abandoned, temporary_folder, written_whole
from sensitivity_lab.running import in_fresh_process
from sensitivity_lab.running import processes as shared

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")

GIVEN = f"""
import os, signal, sys, threading, time, runpy
from pathlib import Path
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)  # under nohup, SIGHUP is ignored by who starts it
own = runpy.run_path({str(PACKAGE / "files.py")!r})
temporary_folder, written_whole = own["temporary_folder"], own["written_whole"]
def wait():
    print("ready", flush=True)
    while True:
        time.sleep(0.01)
"""
IN_A_FOLDER = "with temporary_folder(sys.argv[1]) as one, temporary_folder(one): wait()"
WRITING = "with written_whole(sys.argv[1] + '/a.csv') as part: part.write_text('a'); wait()"


def started(code: str, folder: Path) -> subprocess.Popen[str]:
    """Run code in a process of its own until it is in its folder."""
    command = [sys.executable, "-c", GIVEN + code, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str], number: int) -> int:
    process.send_signal(number)
    process.communicate(timeout=120)
    return process.returncode


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("code", [IN_A_FOLDER, WRITING], ids=["folder", "file"])
def test_a_signal_ends_a_process_as_by_default_and_leaves_nothing(tmp_path, number, code):
    process = started(code, tmp_path)
    assert list(tmp_path.iterdir())
    assert end(process, number) == -number
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_handler_of_the_users_stays(tmp_path, number):
    own = f"signal.signal({number}, lambda *_: sys.exit(7))\n"
    process = started(own + IN_A_FOLDER, tmp_path)
    assert end(process, number) == 7
    assert not list(tmp_path.iterdir())


def test_a_handler_that_is_set_meanwhile_stays(tmp_path):
    def own(*_):
        pass

    before = signal.getsignal(signal.SIGTERM)
    try:
        with temporary_folder(tmp_path):
            assert signal.getsignal(signal.SIGTERM) not in (before, own)
            signal.signal(signal.SIGTERM, own)
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)
    with temporary_folder(tmp_path):
        pass
    assert signal.getsignal(signal.SIGTERM) == before == signal.SIG_DFL


def test_a_signal_that_is_ignored_stays_ignored(tmp_path):
    """As under nohup."""
    ignoring = "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    process = started(ignoring + IN_A_FOLDER, tmp_path)
    process.send_signal(signal.SIGHUP)
    assert end(process, signal.SIGTERM) == -signal.SIGTERM


def test_a_thread_has_a_folder_without_handlers(tmp_path):
    code = (
        "def work():\n"
        "    with temporary_folder(sys.argv[1]):\n"
        "        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL\n"
        "        wait()\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "time.sleep(1000)\n"
    )
    process = started(code, tmp_path)
    assert end(process, signal.SIGTERM) == -signal.SIGTERM
    assert len(list(tmp_path.iterdir())) == 1
    remove_abandoned(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_fork_that_ends_leaves_the_folder_of_its_parent(tmp_path):
    with temporary_folder(tmp_path) as folder:
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            os._exit(5)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
        assert folder.is_dir()


@pytest.mark.parametrize("code", [IN_A_FOLDER, WRITING], ids=["folder", "file"])
def test_what_a_killed_process_leaves_the_next_one_removes(tmp_path, code):
    process = started(code, tmp_path)
    with written_whole(tmp_path / "b.csv") as part:
        part.write_text("b")
    (folder,) = (path for path in tmp_path.iterdir() if path.name != "b.csv")
    assert end(process, signal.SIGKILL) == -signal.SIGKILL
    assert folder.is_dir()
    with written_whole(tmp_path / "b.csv") as part:
        part.write_text("b")
    assert [path.name for path in tmp_path.iterdir()] == ["b.csv"]


def test_only_abandoned_folders_of_this_machine_are_removed(tmp_path):
    (tmp_path / ".sensitivity_lab-elsewhere-0123").mkdir()
    (tmp_path / "mine").mkdir()
    with temporary_folder(tmp_path) as here:
        link = here.with_name(here.name[:-4] + "link")
        link.symlink_to(tmp_path / "mine")
        file = here.with_name(here.name[:-4] + "file")
        file.write_text("no folder")
        left = here.with_name(here.name[:-4] + "left")
        left.mkdir()
        remove_abandoned(tmp_path)
        kept = {here.name, link.name, file.name, "mine", ".sensitivity_lab-elsewhere-0123"}
        assert {path.name for path in tmp_path.iterdir()} == kept
    remove_abandoned(tmp_path / "none")


def test_a_folder_that_is_taken_away_while_it_is_made_is_made_again(tmp_path, monkeypatch):
    """Another process may see a folder before it is locked."""
    made = Path.mkdir
    turns = iter([True, False])

    def mkdir(path, *arguments, **options):
        made(path, *arguments, **options)
        if next(turns):
            path.rmdir()

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with temporary_folder(tmp_path) as folder:
        assert [path.name for path in tmp_path.iterdir()] == [folder.name]
    assert not list(tmp_path.iterdir())


@pytest.fixture
def dead(tmp_path, monkeypatch):
    """The folder of a run that was killed, and what is in shared memory beside it."""
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        check=True,
        capture_output=True,
        text=True,
    )
    monkeypatch.setattr(shared, "_SHARED", str(tmp_path))
    monkeypatch.setattr(shared.tempfile, "gettempdir", lambda: str(tmp_path))
    process = int(gone.stdout)
    (tmp_path / f"sem.loky-{process}-abc").touch()
    (tmp_path / f"joblib_memmapping_folder_{process}_abc_def").mkdir()
    (tmp_path / f"joblib_memmapping_folder_{process}_abc_def" / "array.pkl").touch()
    (tmp_path / f"sem.loky-{process}1-abc").touch()
    (tmp_path / f"another-{process}").touch()
    note = tmp_path / "run"
    note.mkdir()
    named = {"process": process, "namespace": shared.namespace()}
    (note / "process.json").write_text(json.dumps(named))
    return note, {f"sem.loky-{process}1-abc", f"another-{process}", "run"}


def test_shared_memory_of_a_dead_process_is_removed(dead):
    folder, kept = dead
    assert shared.remove_shared(folder)
    assert {path.name for path in folder.parent.iterdir()} == kept


@pytest.mark.parametrize("why", ["the number is in use again", "another container", "no note"])
def test_shared_memory_stays_where_it_may_be_in_use(dead, why, monkeypatch):
    folder, kept = dead
    if why == "the number is in use again":
        monkeypatch.setattr(shared, "_runs", lambda _: True)
    elif why == "another container":
        monkeypatch.setattr(shared, "namespace", lambda: "pid:[1]")
    else:
        (folder / "process.json").write_text("{")
    # The next call looks again where the number may come free.
    assert shared.remove_shared(folder) == (why != "the number is in use again")
    assert len(list(folder.parent.iterdir())) == len(kept) + 2


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("number", "whole"),
    [
        (signal.SIGHUP, True),
        (signal.SIGTERM, False),
        (signal.SIGKILL, True),
        pytest.param(signal.SIGHUP, False, marks=pytest.mark.stress),
        pytest.param(signal.SIGTERM, True, marks=pytest.mark.stress),
        pytest.param(signal.SIGKILL, False, marks=pytest.mark.stress),
    ],
)
def test_a_search_that_was_ended_leaves_nothing(tmp_path, number, whole, monkeypatch):
    """A closed terminal ends every process of a command, `kill` only one."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    search = Search(tmp_path, held_from=800)
    process = search.start()
    search.wait_until_called(800)
    assert shared_memory(process.pid)
    assert len(list(temporary.glob("sensitivity_lab-*"))) == 2  # of the run, and of the process
    (os.killpg if whole else os.kill)(process.pid, number)
    process.communicate(timeout=120)
    assert process.returncode == -number
    until(lambda: not any(map(is_running, set(search.callers()))), seconds=10)
    if number == signal.SIGKILL:
        assert len(list(temporary.glob("sensitivity_lab-*"))) == 2
        remove_abandoned(temporary, shared.PREFIX, shared.remove_shared)
    until(lambda: not shared_memory(process.pid), seconds=10)
    assert not list(temporary.iterdir())


AFTER_ITS_SEARCH = """
import os, time
import sensitivity_lab as sl
from sensitivity_lab.running import in_fresh_process, pool

def answer(x):
    return float(x[0])

if __name__ == "__main__":
    pool._SHORT = pool._START = 0
    universe = sl.Universe.from_domain(range(6))
    sl.global_sensitivity(universe, answer, size=6, neighbors="bounded", n_jobs=2)
    print(os.getpid(), flush=True)
    in_fresh_process(time.sleep, 1000)
"""


@pytest.mark.exhaustive
def test_a_group_of_processes_that_is_killed_after_its_search_leaves_nothing(tmp_path, monkeypatch):
    """The workers, and what they share, stay for a next search; so does what removes it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = tmp_path / "program.py"
    program.write_text(AFTER_ITS_SEARCH)
    command = [sys.executable, str(program)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == f"{process.pid}\n"
    until(lambda: len(shared_memory(process.pid)) > 4, seconds=10)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=120)
    assert shared_memory(process.pid)

    def removed() -> bool:
        """Whether a next call has removed it, which it does once the last worker is gone."""
        in_fresh_process(int)
        return not shared_memory(process.pid)

    until(removed, seconds=30)
    left = list(tmp_path.glob("sensitivity_lab-*"))
    assert [json.loads((one / "process.json").read_text())["process"] for one in left] == [
        os.getpid()
    ]


def test_a_process_that_is_killed_while_it_writes_who_it_is_is_known_by_what_it_wrote_before(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    shared.will_share()
    (folder,) = tmp_path.glob("sensitivity_lab-*")

    def ended(path, *_arguments, **_options):
        path.write_bytes(b"")
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", ended)
    with pytest.raises(KeyboardInterrupt):
        shared.will_share()
    assert json.loads((folder / "process.json").read_text())["process"] == os.getpid()
