"""The pictures of a view, as SVG: they take a millisecond, and the page's style colors them.

All are `WIDTH` wide and scale with the page. Classes name roles; `style.css` sets their colors for
light and dark pages. A and B differ in more than color: they show their letters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from sensitivity_lab.checks import html_text, rounded_up
from sensitivity_lab.results.literals import plain
from sensitivity_lab.results.roles import Block

from .fan import Fan
from .pair import Pair, Rug

WIDTH, HEIGHT = 480, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 12, 14, 44
_BESIDE = 104
"""The width of what stands beside the fan of a reach."""

_OTHER_UNIT = ("var", "count", "count_distinct")
"""Queries whose answers do not lie on the records' axis."""

_LEAST = 0.06
"""The smallest share of a strip for a block, which keeps its letter readable."""

_CHARACTER = 6.9
"""The approximate width of a character of the small texts."""


def curve(points: Sequence[tuple[int, float]], k: int, query: str) -> str:
    """Draw a sensitivity against the distance, with a mark at k."""
    top = max((value for _, value in points), default=0) or 1
    if not math.isfinite(top):
        return _note("The sensitivity is beyond the floats, so there is no curve to draw.")
    ticks = _ticks(0, top)
    top = max(top, ticks[-1])
    last = max(points[-1][0], 2)

    def at(distance: float, value: float) -> tuple[float, float]:
        across = _LEFT + (WIDTH - _LEFT - _RIGHT) * (distance - 1) / (last - 1)
        return across, HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * value / top

    parts = _grid(at, ticks, range(1, last + 1))
    parts.append(_line("line", (at(*point) for point in points)))
    for distance, value in points:
        x, y = at(distance, value)
        chosen = distance == k
        parts.append(
            f'<circle class="{"chosen" if chosen else "dot"}" cx="{x:.1f}" cy="{y:.1f}" '
            f'r="{7 if chosen else 3.5}"/>'
        )
    parts.append(_text((WIDTH + _LEFT) / 2, HEIGHT - 8, "Hamming distance k (at most)"))
    return _svg(parts, HEIGHT, f"Sensitivity of {query} against k; at k = {k} the mark")


def reach(fan: Fan, k: int, local: float, named: str, query: str) -> str:
    """Draw the least and the greatest answer within each distance, and f(x) ± local beside them.

    Parameters
    ----------
    fan : Fan
        The answers; f(x) is the one at distance 0.
    k : int
        The distance whose ends have marks, with their moves from f(x).
    local : float
        The local sensitivity at k.
    named : str
        The same as text.
    query : str
        The name of the query.
    """
    of_x, last = fan.lower[0], len(fan.lower) - 1
    low, high = min(fan.lower[-1], of_x - local), max(fan.upper[-1], of_x + local)
    if not math.isfinite(high - low):
        return _note("The answers are beyond the floats, so there is no reach to draw.")
    ticks = _ticks(low, high)
    left = max(_LEFT, 14 + 8 * max(map(len, _numbers(ticks))))
    right = WIDTH - _BESIDE

    def at(distance: float, value: float) -> tuple[float, float]:
        share = (value - low) / (high - low) if high > low else 0.5
        # The moves are written beyond the ends.
        base, top = HEIGHT - _BOTTOM - 20, _TOP + 20
        return left + (right - left) * distance / last, base - (base - top) * share

    upper, lower = ([at(*end) for end in enumerate(ends)] for ends in (fan.upper, fan.lower))
    around = " ".join(f"{x:.1f},{y:.1f}" for x, y in (*upper, *reversed(lower)))
    middle = at(0, of_x)[1]
    parts = [
        *_grid(at, ticks, range(last + 1)),
        f'<polygon class="fan" points="{around}"/>',
        _line("line", upper),
        _line("line least", lower),
        _axis(left, middle, WIDTH - _RIGHT),
        _text(WIDTH - _RIGHT, middle - 5, "f(x)", "end", kind="small"),
        *(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in (*upper, *lower)),
    ]
    for (x, y), move, sign, below in ((upper[k], fan.up, "+", -10), (lower[k], fan.down, "−", 20)):
        written = move if move == "0" else sign + move
        # The ends only go outward with k, so a label before the mark meets no line.
        fits = x - 4 - 8 * len(written) > left
        parts += [
            f'<circle class="chosen" cx="{x:.1f}" cy="{y:.1f}" r="7"/>',
            _text(x + (4 if fits else -4), y + below, written, "end" if fits else "start", "move"),
        ]
    beside = right + _BESIDE / 2 - 8
    ends = [at(0, of_x - local)[1], at(0, of_x + local)[1]]
    parts += [
        _line("local", ((beside, y) for y in ends)),
        *(_line("local", ((beside - 7, y), (beside + 7, y))) for y in ends),
        _text(beside, ends[1] - 8, f"±{named}", kind="move"),
        _text(beside + 8, HEIGHT - 8, "local at k"),
        _text((left + right) / 2, HEIGHT - 8, "Hamming distance k from x (at most)"),
    ]
    told = f"Reach of {query}: {fan.least} to {fan.greatest} within k = {k} of x"
    return _svg(parts, HEIGHT, told)


def strip(blocks: Sequence[Block]) -> str:
    """Draw the sorted universe as blocks: C in both, A only in x, B only in y, O in neither."""
    widths = _widths(blocks)
    scale = (WIDTH - 4) / sum(widths)
    parts, start, labels = [], 2.0, []
    for (part, count, first, last), width in zip(blocks, widths, strict=True):
        wide = width * scale
        parts.append(
            f'<rect class="block {part}" x="{start:.1f}" y="4" width="{wide:.1f}" height="46"/>'
        )
        if wide > 14:
            parts += [
                _text(start + wide / 2, 24, part, kind=f"letter on-{part}"),
                _text(start + wide / 2, 42, _short(count), kind=f"small on-{part}"),
            ]
        span = plain(first) if first == last else f"{plain(first)} to {plain(last)}"
        labels.append((start + wide / 2, span))
        start += wide
    rows = 1
    if len(blocks) <= 16:
        below, rows = _labels(labels)
        parts += below
    height = 62 + 15 * rows
    word = "".join(part for part, _, _, _ in blocks)
    return _svg(parts, height, f"The sorted universe as blocks: {word}")


def to_scale(blocks: Sequence[Block]) -> bool:
    """Return whether the widths of a strip's blocks are proportional to their records."""
    return _widths(blocks) == [count for _, count, _, _ in blocks]


def _widths(blocks: Sequence[Block]) -> list[float]:
    """Return the numbers of records, raised to a least share of all; no limit is the largest."""
    finite = [count for _, count, _, _ in blocks if count != math.inf] or [1]
    counts = [min(count, max(finite)) for _, count, _, _ in blocks]
    least = min(_LEAST, 1 / len(blocks)) * sum(counts)
    return [max(float(count), least) for count in counts]


def noise(pair: Pair, scale: float, rug: Rug | None, query: str) -> str:
    """Draw the distributions of the noisy answers on x and on y, on the records' axis."""
    answers = pair.answer_x, pair.answer_y
    if not scale:
        return _note(
            "The sensitivity is 0: the answer is the same on all neighbors, without noise."
        )
    if not all(map(math.isfinite, (*answers, scale))):
        return _note("The answers are beyond the floats, so there is nothing to draw.")
    low, high = min(answers) - 4 * scale, max(answers) + 4 * scale
    on_records = rug is not None and query not in _OTHER_UNIT
    on_records = on_records and all(rug.lowest <= one <= rug.highest for one in answers)  # type: ignore[union-attr]
    if on_records and rug is not None:
        low, high = min(low, rug.lowest), max(high, rug.highest)

    def at(value: float) -> float:
        return 12 + (WIDTH - 24) * (value - low) / (high - low)

    base, tall = HEIGHT - 66, HEIGHT - 66 - 34
    parts = [_axis(12, base, WIDTH - 12)]
    for answer, role in zip(answers, "AB", strict=True):
        parts.append(_laplace(answer, scale, role, at, base, tall))
    for answer, name, role, y in zip(answers, "xy", "AB", (14, 29), strict=True):
        x = at(answer)
        anchor = "start" if x < WIDTH * 0.35 else "end" if x > WIDTH * 0.65 else "middle"
        parts += [
            f'<line class="answer {role}" x1="{x:.1f}" x2="{x:.1f}" y1="{base}" y2="{y + 3}"/>',
            _text(x, y, f"f({name}) = {_number(answer)}", anchor, kind=f"text-{role}"),
        ]
    if on_records and rug is not None:
        parts += [
            f'<line class="rug" x1="{at(one):.1f}" x2="{at(one):.1f}" y1="{base}" y2="{base + 8}"/>'
            for one in rug.places or (rug.lowest, rug.highest)
        ]
    for tick in _ticks(low, high, 5):
        if low <= tick <= high:
            x = min(max(at(tick), 16), WIDTH - 16)
            parts.append(_text(x, base + 24, _number(tick)))
    what = "records (ticks) and noisy answers" if on_records else f"noisy answer of {query}"
    parts.append(_text(WIDTH / 2, base + 46, what))
    return _svg(
        parts, HEIGHT, f"Laplace noise of scale {rounded_up(scale, digits=6)} around f(x) and f(y)"
    )


def _laplace(centre: float, scale: float, role: str, at, base: float, tall: float) -> str:  # type: ignore[no-untyped-def]
    """Draw a Laplace density, its top at the full height, out to four scales."""
    steps = [step / 10 for step in range(-40, 41)]
    places = [(at(centre + step * scale), base - tall * math.exp(-abs(step))) for step in steps]
    ends = ((places[0][0], base), *places, (places[-1][0], base))
    listed = " ".join(f"{x:.1f},{y:.1f}" for x, y in ends)
    return f'<polygon class="noise {role}" points="{listed}"/>'


def _labels(labels: Iterable[tuple[float, str]]) -> tuple[list[str], int]:
    """Write labels below their places, each in the first row where it does not overlap another."""
    ends: list[float] = []
    parts = []
    for middle, text in labels:
        half = _CHARACTER * len(text) / 2
        middle = min(max(middle, half + 1), WIDTH - half - 1)
        row = next((row for row, end in enumerate(ends) if middle - half > end + 4), len(ends))
        ends[row : row + 1] = [middle + half]
        parts.append(_text(middle, 66 + 15 * row, text, kind="small"))
    return parts, len(ends)


def _ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers from below `low` to above it, as far as `high`."""
    rough = (high - low) / most
    if not 0 < rough < math.inf:
        return [low]
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 1e-300 else rough
    step = next((power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough), rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [place * step for place in range(first, last + 1)] or [low]


def _grid(
    at: Callable[[float, float], tuple[float, float]], ticks: Sequence[float], distances: range
) -> list[str]:
    """Draw the axis of distances and the lines of the ticks, with their numbers."""
    (left, _), (right, _) = (at(distance, ticks[0]) for distance in (distances[0], distances[-1]))
    parts = [_axis(left, HEIGHT - _BOTTOM, right)]
    for tick, number in zip(ticks, _numbers(ticks), strict=True):
        _, y = at(distances[0], tick)
        parts += [
            f'<line class="grid" x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>',
            _text(left - 6, y + 4, number, "end"),
        ]
    step = max(1, math.ceil(distances[-1] / 10))
    for distance in distances:
        if distance % step == 0:
            parts.append(_text(at(distance, ticks[0])[0], HEIGHT - _BOTTOM + 16, str(distance)))
    return parts


def _line(kind: str, points: Iterable[tuple[float, float]]) -> str:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{places}"/>'


def _numbers(values: Sequence[float]) -> list[str]:
    """Return numbers of at most four digits, or of as many as tell them apart."""
    found: list[str] = []
    for digits in (4, 10, 17):
        found = [f"{value:.{digits}g}" for value in values]
        if len(set(found)) == len(values):
            break
    return found


def _number(value: float) -> str:
    """Return a number of at most four digits."""
    return f"{value:.4g}"


def _short(count: float) -> str:
    if count == math.inf:
        return "any"
    for size, letter in ((10**6, "M"), (10**4, "k")):
        if count >= size:
            return f"{count / (10**6 if letter == 'M' else 10**3):.4g}{letter}"
    return f"{int(count)}"


def _text(x: float, y: float, text: str, anchor: str = "middle", kind: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{html_text(text)}</text>'


def _axis(left: float, y: float, right: float) -> str:
    return f'<line class="axis" x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'


def _svg(parts: Sequence[str], height: float, label: str) -> str:
    return (
        f'<svg class="sl-picture" role="img" aria-label="{html_text(label)}" '
        f'viewBox="0 0 {WIDTH} {height:g}">{"".join(parts)}</svg>'
    )


def _note(text: str) -> str:
    return f'<p class="sl-note">{html_text(text)}</p>'
