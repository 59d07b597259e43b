"""Files are written whole or not at all, under the name that was asked for."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from checks import refused
from matplotlib import font_manager
from matplotlib.figure import Figure
from paths import ROOT

import sensitivity_lab as sl
from sensitivity_lab import plotting
from sensitivity_lab.cli.commands import check_writable
from sensitivity_lab.files import written_whole
from sensitivity_lab.results.reprs import write_csv

TABLE = pd.DataFrame({"a": [1, 2]})
WRITTEN = b"a\n1\n2\n"


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def old(tmp_path) -> Path:
    """A file that is there already."""
    path = tmp_path / "old.csv"
    path.write_bytes(b"old")
    return path


def test_a_file_is_replaced_and_nothing_else_is_left(old):
    write_csv(TABLE, old)
    assert old.read_bytes() == WRITTEN
    assert names_in(old.parent) == ["old.csv"]


def test_the_old_file_stays_until_the_new_one_is_flushed(old, monkeypatch):
    flushed = []

    def fsync(descriptor):
        assert old.read_bytes() == b"old"
        flushed.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr("sensitivity_lab.files.os.fsync", fsync)
    write_csv(TABLE, old)
    assert flushed == [len(WRITTEN)]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file(old, failure):
    def write():
        with written_whole(old) as part:
            part.write_bytes(b"ne")
            raise failure

    with pytest.raises(type(failure)):
        write()
    assert old.read_bytes() == b"old"
    assert names_in(old.parent) == ["old.csv"]


@pytest.mark.parametrize("write", ["table", "picture"])
def test_a_full_disk_leaves_the_old_file_and_ends_in_one_line(old, monkeypatch, write):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sensitivity_lab.files.os.fsync", full)
    path = old if write == "table" else old.rename(old.with_suffix(".png"))
    refused(
        lambda: write_csv(TABLE, path) if write == "table" else plotting.save(Figure(), path),
        f"cannot write the table to {str(path)!r}: No space left on device; choose a file in an "
        "existing folder that you may write to"
        if write == "table"
        else f"path: {str(path)!r} cannot be written (No space left on device); choose a file and "
        "a folder that you may write to",
    )
    assert path.read_bytes() == b"old"
    assert names_in(path.parent) == [path.name]


@contextmanager
def no_room():
    """Let no file grow beyond 20 bytes, but for what matplotlib keeps about fonts.

    Only around one call: what pytest itself writes may be a file as well.
    """
    assert font_manager.fontManager
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.exhaustive
@pytest.mark.parametrize("write", ["table", "picture"])
def test_a_disk_without_room(monkeypatch, tmp_path, write):
    monkeypatch.chdir(tmp_path)
    Path("old.png").write_bytes(b"old")

    def written():
        with no_room():
            if write == "table":
                write_csv(pd.DataFrame({"a": range(100)}), "old.png")
            else:
                plotting.save(Figure(), "old.png")

    refused(
        written,
        "cannot write the table to 'old.png': File too large; choose a file in an existing folder "
        "that you may write to"
        if write == "table"
        else "path: 'old.png' cannot be written (File too large); choose a file and a folder that "
        "you may write to",
    )
    assert Path("old.png").read_bytes() == b"old"
    assert names_in(tmp_path) == ["old.png"]


def as_process(code: str, path: str, **options) -> int:
    """Run code in which `written_whole` is at hand, in a process of its own."""
    file = ROOT / "sensitivity_lab" / "files.py"
    given = f"import os, runpy; written_whole = runpy.run_path({str(file)!r})['written_whole']\n"
    done = subprocess.run([sys.executable, "-c", given + code, path], check=False, **options)
    return done.returncode


def test_killed_in_the_middle_of_writing(old):
    """No handler runs at SIGKILL; the old file is whole all the same."""
    code = (
        "import signal, sys\n"
        "with written_whole(sys.argv[1]) as part:\n"
        "    part.write_bytes(b'new'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert as_process(code, str(old)) == -signal.SIGKILL
    assert old.read_bytes() == b"old"


def test_a_symbolic_link_stays_and_its_file_is_replaced(old, tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link.csv"
    link.symlink_to("../old.csv")
    write_csv(TABLE, link)
    assert link.is_symlink()
    assert old.read_bytes() == WRITTEN
    assert names_in(tmp_path / "folder") == ["link.csv"]


def test_a_link_to_a_file_that_is_not_there_makes_it(tmp_path):
    link = tmp_path / "link.csv"
    link.symlink_to("new.csv")
    write_csv(TABLE, link)
    assert link.is_symlink()
    assert (tmp_path / "new.csv").read_bytes() == WRITTEN


@pytest.mark.parametrize(
    ("leads_to", "reason"),
    [("link.csv", "Too many levels of symbolic links"), ("missing/new.csv", None)],
)
def test_links_to_nowhere(tmp_path, leads_to, reason):
    link = tmp_path / "link.csv"
    link.symlink_to(leads_to)
    refused(
        lambda: write_csv(TABLE, link),
        f"cannot write the table to {str(link)!r}: {reason or 'No such file or directory'}; choose "
        "a file in an existing folder that you may write to",
    )
    missing = f"{str(tmp_path / 'missing')!r} is not a folder that can be written to"
    refused(lambda: check_writable(link), f"cannot write {str(link)!r}: {reason or missing}")
    assert link.readlink() == Path(leads_to)


def test_a_file_keeps_its_permissions_and_a_new_one_gets_the_usual_ones(old):
    old.chmod(0o640)
    write_csv(TABLE, old)
    assert old.stat().st_mode & 0o777 == 0o640
    usual = old.with_name("usual.csv")
    usual.write_bytes(b"")
    write_csv(TABLE, old.with_name("new.csv"))
    assert old.with_name("new.csv").stat().st_mode == usual.stat().st_mode


def test_a_file_that_may_not_be_written_is_not_replaced(old, monkeypatch):
    """Not by chmod, which does not stop a superuser."""
    monkeypatch.setattr("sensitivity_lab.files.os.access", lambda _path, _mode: False)
    refused(
        lambda: write_csv(TABLE, old),
        f"cannot write the table to {str(old)!r}: Permission denied; choose a file in an existing "
        "folder that you may write to",
    )
    refused(lambda: check_writable(old), f"cannot write {str(old)!r}: Permission denied")
    assert old.read_bytes() == b"old"


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        write_csv(TABLE, pipe)
        assert reader.communicate()[0] == WRITTEN
    assert pipe.is_fifo()


def test_standard_output_that_is_a_file_is_written_to(tmp_path):
    """A renamed file would not be the one that the shell has opened."""
    code = (
        "import sys; print('before', flush=True)\n"
        "with written_whole(sys.argv[1]) as part:\n"
        "    with part.open('a') as file: file.write('table\\n')\n"
    )
    with (tmp_path / "out.txt").open("ab") as out:
        assert as_process(code, "/dev/stdout", stdout=out) == 0
    assert names_in(tmp_path) == ["out.txt"]
    assert (tmp_path / "out.txt").read_text() == "before\ntable\n"


def test_a_compressed_table_is_compressed(tmp_path):
    write_csv(TABLE, tmp_path / "table.csv.gz")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "table.csv.gz"), TABLE)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", r"'\tx"),
        ("\rx", r"'\rx"),
        ("\n=x", r"'\n=x"),
        ("a\r=x\x1b", r"a\r=x\x1b"),
        ("a=b-c", "a=b-c"),
    ],
)
def test_a_name_is_no_formula_and_splits_no_line(tmp_path, name, written):
    curves = sl.sensitivity_curves(
        {name: sl.Universe.from_dataset([1, 2, 4])},
        [sl.from_function(max, name=f"{name} of all")],
        size=2,
        distances=1,
        neighbors="bounded",
    )
    curves.to_csv(tmp_path / "curves.csv")
    assert curves.to_frame()["column"].tolist() == [name]
    lines = (tmp_path / "curves.csv").read_bytes().decode().splitlines()
    assert len(lines) == 2
    # The name of a query is text that can be shown, and so no formula; that of a column is a key.
    of_query = written[1:] if name[0] in "\t\r\n" else written
    assert lines[1].startswith(f"{written},{of_query} of all,bounded,1,2,")


def test_numbers_are_written_as_they_are(tmp_path):
    table = pd.DataFrame({"a": [-1, 2], "b": [-0.5, 1e300], "c": [None, -1], "d": ["x", "a=b"]})
    write_csv(table, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == "a,b,c,d\n-1,-0.5,,x\n2,1e+300,-1.0,a=b\n"
