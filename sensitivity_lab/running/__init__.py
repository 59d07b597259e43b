"""Running pieces of work that do not depend on each other.

`pool.run` is the one way in: it shows progress, and sends work to joblib's workers (`processes`),
so that a search survives the death of a process on this machine.
"""

from .pool import Sample, in_fresh_process, run, timed, workers
from .processes import Block
from .progress import bar, counter, poll, tracked, watch

__all__ = [
    "Block",
    "Sample",
    "bar",
    "counter",
    "in_fresh_process",
    "poll",
    "run",
    "timed",
    "tracked",
    "watch",
    "workers",
]
