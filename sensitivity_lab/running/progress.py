"""Progress bars; the only importer of the package that draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")


def bar(unit: str, progress: bool | None, total: int | None = None) -> Any:
    """Return a progress bar, to be used as a context.

    Parameters
    ----------
    unit : str
        What is counted, in the plural.
    progress : bool or None
        Whether to show the bar; None shows it only on a terminal and only past a second.
    total : int, optional
        How many there are, if that is known; then the bar estimates the time that is left.
    """
    from tqdm import tqdm  # when it is first needed: the package's own import is short

    return tqdm(
        total=total,
        unit=f" {unit}",
        unit_scale=True,
        disable=None if progress is None else not progress,
        delay=1 if progress is None else 0,
        leave=False,
    )


@contextmanager
def counter(
    unit: str, progress: bool | None, total: int | None = None
) -> Iterator[Callable[[int], object]]:
    """Show how much work is done whose length nobody knows, or only at most; see `bar`.

    Yields
    ------
    callable
        To be told of every piece of work by its amount.
    """
    with bar(unit, progress, total) as shown:
        yield shown.update


def tracked(items: Sequence[Item], *, unit: str, progress: bool | None) -> Iterator[Item]:
    """Yield the items, with a progress bar that counts them; `progress` is that of `bar`."""
    from tqdm import tqdm

    yield from tqdm(
        items,
        unit=f" {unit}",
        disable=None if progress is None else not progress,
        delay=1 if progress is None else 0,
        leave=False,
    )
