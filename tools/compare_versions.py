"""Compare the answers of two versions of the package, problem by problem.

    git worktree add ../before COMMIT
    PYTHONPATH=../before python tools/compare_versions.py record before.jsonl
    python tools/compare_versions.py record after.jsonl
    python tools/compare_versions.py compare before.jsonl after.jsonl

About 9,000 problems are drawn or listed, the same for every version, in families; after the file,
`record` takes the names of those to record. They are every query by name and many by class, every
relation, every engine that accepts the problem, global, local and smooth, on datasets, domains,
intervals and tables; variances of up to 1,000 records, queries by group; neighbor tables, bounds,
chains and what is measured of them, graphs and sequences; the mechanisms of `tests/corpus`,
databases, noise, and command lines. Kept are value, exact value, upper bound, status and witness,
or the error. Every witness is verified while it is recorded. A redesign returns the same, but that
a witness may be another pair that attains the same value.
"""

from __future__ import annotations

import json
import random
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from version_products import LISTED, PRODUCTS
from version_searches import SEARCHES, kept

import sensitivity_lab as sl

Row = dict[str, Any]

DRAWN = SEARCHES | PRODUCTS
FAMILIES = (*LISTED, *DRAWN)
ATTEMPTS = 12
"""A drawn problem that is refused is drawn again, so often."""
SECONDS = 20.0
"""What a problem may take, of the processor's time."""
TOO_SLOW = "too slow"
PROCESSES = 2


class TooSlow(BaseException):
    """A problem takes too long; no Exception, which the package may catch."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TooSlow after so many seconds of this process, and again, should it get lost."""

    def stop(*_: Any) -> None:
        raise TooSlow

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def answer(solve: Callable[[random.Random], Any], seed: str, attempts: int) -> Row:
    """Return a problem's answer with its refusals, or how it failed."""
    row: Row = {"refusals": [], "messages": []}
    try:
        with limited(SECONDS):
            for attempt in range(attempts):
                try:
                    found = solve(random.Random(f"{seed} {attempt}"))
                except sl.errors.SensitivityLabError as error:
                    row["refusals"].append(type(error).__name__)
                    row["messages"].append(str(error))
                else:
                    return row | (found if isinstance(found, dict) else kept(found))
    except TooSlow:
        return {"status": TOO_SLOW}
    except Exception as error:  # noqa: BLE001 - what one version breaks is what is looked for
        return row | {"status": f"failed: {error!r}"}
    return row


def rows_of(family: str) -> list[Row]:
    """Return the rows of a family: its name, a key, the seconds it took, and what is kept."""
    warnings.simplefilter("ignore")
    if family in LISTED:
        problems, attempts = LISTED[family](), 1
    else:
        draw, number = DRAWN[family]
        problems, attempts = {str(place): draw for place in range(number)}, ATTEMPTS
    rows = []
    for key, solve in problems.items():
        start = time.process_time()
        row = answer(solve, f"{family} {key}", attempts)
        seconds = round(time.process_time() - start, 3)
        rows.append({"family": family, "key": key, "seconds": seconds, **row})
    return rows


def record(path: Path, families: Iterable[str]) -> None:
    """Write the answers of the version that is imported."""
    print("recording", sl.__file__)
    with path.open("w", encoding="utf-8") as out, ProcessPoolExecutor(PROCESSES) as pool:
        for rows in pool.map(rows_of, families):
            out.writelines(json.dumps(row, default=str) + "\n" for row in rows)
            seconds = sum(row["seconds"] for row in rows)
            ends = Counter(end_of(row) for row in rows)
            print(f"{rows[0]['family']}: {seconds:.0f} s, {dict(ends)}", flush=True)


def end_of(row: Row) -> str:
    """Say how a problem ended."""
    status = str(row.get("status"))
    if status == TOO_SLOW or status.startswith("failed"):
        return status
    told = row.keys() - {"family", "key", "seconds", "refusals", "messages"}
    return "answered" if told else "refused"


BESIDES = {"messages", "method", "seconds", "witness"}
"""What may differ: words of refusals, the engine's name, time, which of equal pairs is shown."""
WRONG = ("different", "only before", "only after")
TIMES = ("s before", "s after")


def compare(before: Path, after: Path) -> int:
    """Print what differs, and counts by family; return how many answers differ or are missing."""
    olds, news = (
        {
            (row["family"], row["key"]): row
            for row in map(json.loads, path.read_text("utf-8").splitlines())
        }
        for path in (before, after)
    )
    counts: dict[str, Counter[str]] = {}
    for place in olds | news:
        count = counts.setdefault(place[0], Counter())
        if place not in olds or place not in news:
            count["only before" if place in olds else "only after"] += 1
            continue
        old, new = olds[place], news[place]
        # What the first version did not tell is no difference.
        what = {name for name in old if old[name] != new.get(name)}
        # Near the limit the machine decides.
        slow = TOO_SLOW in (old.get("status"), new.get("status"))
        slow = slow and min(old["seconds"], new["seconds"]) > SECONDS / 2
        differs = bool(what - BESIDES) and not slow
        end = TOO_SLOW if slow else "different" if differs else "equal"
        count.update(["compared", end, *what & BESIDES])
        count["s before"] += old["seconds"]
        count["s after"] += new["seconds"]
        if differs:
            told = sorted(what - {"seconds"})
            print(*place, {name: (old.get(name), new.get(name)) for name in told})
    for family, count in counts.items():
        parts = [
            ("compared", "equal", TOO_SLOW, *WRONG),
            sorted((BESIDES - {"seconds"}) & count.keys()),
            TIMES,
        ]
        told = [
            ", ".join(f"{count[name]:.0f} {name}" for name in names) for names in parts if names
        ]
        print(f"{family}: {'; '.join(told)}")
    return sum(count[name] for count in counts.values() for name in WRONG)


def main(arguments: list[str]) -> int:
    """Read the command line."""
    match arguments:
        case ["record", path, *families] if set(families) <= {*FAMILIES}:
            record(Path(path), families or FAMILIES)
            return 0
        case ["compare", before, after]:
            return int(compare(Path(before), Path(after)) > 0)
    print(__doc__, "Families:", ", ".join(FAMILIES))
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
