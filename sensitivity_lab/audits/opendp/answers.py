"""The answers of an OpenDP transformation, called here or in worker processes."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.maps import collected
from sensitivity_lab.errors import QueryError
from sensitivity_lab.results.literals import short_literal

_CHUNKS = 48
"""About how many chunks work is cut into, for any number of workers."""


def calls_of(transformation: Any, n_jobs: int | None) -> tuple[Any, bool, str]:
    """Return a function that calls a transformation, whether workers can get it, and a remark."""
    if running.workers(n_jobs) == 1:
        return partial(invoke, transformation), False, ""
    from opendp.mod import GLOBAL_FEATURES, serialize

    try:
        text = serialize(transformation)
    except Exception:  # noqa: BLE001 - OpenDP raises nothing more specific
        remark = ", called in one process as OpenDP cannot serialise it"
        return partial(invoke, transformation), False, remark
    return partial(_invoke_text, text, tuple(sorted(GLOBAL_FEATURES))), True, ""


def ask(call: Any, inputs: list[Any], n_jobs: int | None, progress: bool | None) -> list[Any]:
    """Return the answers on all inputs, in order."""
    step = max(1, -(-len(inputs) // _CHUNKS))
    chunks = [inputs[first : first + step] for first in range(0, len(inputs), step)]
    blocks = [
        running.Block(chunk, len(chunk), f"the inputs from {short_literal(chunk[0])} on")
        for chunk in chunks
    ]
    answers = running.run(
        partial(_call_each, call), blocks, total=len(inputs), n_jobs=n_jobs, progress=progress
    )
    return [answer for chunk in answers for answer in chunk]


def _call_each(call: Any, inputs: list[Any]) -> list[Any]:
    return [call(x) for x in inputs]


def invoke(transformation: Any, x: Any) -> Any:
    """Return the answer on an input, or raise QueryError, which names the input."""
    try:
        return collected(transformation(x))
    except Exception as error:
        raise QueryError(f"the transformation fails on {short_literal(x)}: {error}") from error


def _invoke_text(text: str, features: tuple[str, ...], x: Any) -> Any:
    return invoke(_restored(text, features), x)


@lru_cache(maxsize=1)
def _restored(text: str, features: tuple[str, ...]) -> Any:
    """Return the transformation of a serialised text; each process makes it once."""
    from opendp.mod import deserialize, enable_features

    enable_features(*features)
    return deserialize(text)
