"""Running pieces of work that do not depend on each other, and keeping what is done.

`pool.run` is the one way in: it shows progress, sends work to joblib's workers (`processes`) or
to a Dask cluster (`cluster`), and keeps finished blocks in a folder (`checkpoint`), so that a
search survives the death of a worker and of the whole process.
"""

from .block import Block, Keeper
from .pool import Sample, in_fresh_process, run, timed, workers
from .progress import bar, counter, poll, tracked, watch

__all__ = [
    "Block",
    "Keeper",
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
