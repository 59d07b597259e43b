"""The process of the page: Voila, which ends with the process that started it.

Run as ``python -m sensitivity_lab.explorer.server NOTEBOOK`` with an open standard input.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from threading import Thread


def _end_with_parent() -> None:
    """Wait until the standard input ends, and let Voila end its kernels and itself."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    Thread(target=_end_with_parent, daemon=True).start()
    import_module("voila.app").main()
