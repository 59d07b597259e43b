"""What Windows lacks is asked for only where it exists. None of this ran on Windows itself."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from paths import ROOT

from sensitivity_lab.running import time_limits

PROGRAM = """
import concurrent.futures.process, importlib, os, pkgutil, signal, sys, tempfile
import joblib.externals.loky, matplotlib.pyplot, numpy, pandas, tqdm

for name in ("fcntl", "resource", "pwd", "termios"):
    sys.modules[name] = None
given = {
    signal: "SIGALRM SIGHUP SIGKILL ITIMER_REAL setitimer pthread_sigmask",
    os: "O_NONBLOCK O_DIRECTORY O_NOFOLLOW geteuid getuid fork mkfifo",
}
for module, names in given.items():
    for name in filter(lambda one: hasattr(module, one), names.split()):
        delattr(module, name)
sys.platform = "win32"

import sensitivity_lab as sl

for room in ("running", "calls", "search", "files", "cli", "results"):
    package = importlib.import_module(f"sensitivity_lab.{room}")
    for one in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{package.__name__}."):
        importlib.import_module(one.name)
universe = sl.Universe.from_domain(range(4))
query = sl.from_function(lambda x: float(x.sum()), name="total")
found = sl.global_sensitivity(universe, query, size=3, neighbors="bounded")
print(found.value)
try:
    sl.global_sensitivity(
        universe, lambda x: float(x.sum()), size=3, neighbors="bounded", run=sl.Run(timeout=1)
    )
except sl.errors.InputError as error:
    print(error)
"""


@pytest.mark.exhaustive
def test_the_package_works_without_what_windows_lacks():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (run.stderr, run.stdout) == (
        "",
        "3.0\nrun=Run(timeout=...) needs a system with interval timers, such as Linux or macOS\n",
    )


def test_a_worker_on_windows_waits_for_a_handle_of_its_parent(monkeypatch):
    """The number of the parent never changes there."""
    gone, asked, ended = threading.Event(), threading.Event(), threading.Event()

    class Parent:
        def join(self):
            asked.set()
            assert gone.wait(30)

    monkeypatch.setattr(time_limits, "_ON_WINDOWS", True)
    monkeypatch.setattr(time_limits.multiprocessing, "parent_process", Parent)
    monkeypatch.setattr(time_limits.os, "_exit", lambda _: ended.set())
    waiting = threading.Thread(target=time_limits.end_with, args=(os.getppid() + 1,))
    waiting.start()
    assert asked.wait(30)
    assert not ended.is_set()
    gone.set()
    waiting.join(30)
    assert ended.is_set()
