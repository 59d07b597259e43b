"""The texts and tables of a view, as HTML."""

from __future__ import annotations

import math

from sensitivity_lab.checks import html_text, rounded_up

from . import pictures
from .model import Local, View
from .runner import Busy

_COPY = (
    "const b=this;navigator.clipboard.writeText(b.parentElement.querySelector('code').textContent)"
    ".then(()=>{b.textContent='Copied'},()=>{b.textContent='Select the code and copy it'});"
    "setTimeout(()=>{b.textContent='Copy the code'},2000)"
)


def headline(view: View) -> str:
    """Return the sensitivity, with its query and relation."""
    state = view.state
    if view.value is None:
        return ""
    where = f"{state.neighbors}; n = {state.size:,}; {view.extent}"
    return (
        f'<p class="sl-number"><span>Δ</span> {html_text(view.text)}</p>'
        f'<p class="sl-note">global sensitivity of {html_text(state.query)}, exact '
        f"({html_text(view.method)}); {html_text(where)}</p>"
    )


def domain(typed: str) -> str:
    """Return what a typed domain, or none, means for a table; it stands beside the field."""
    if typed.strip():
        text = (
            "The page shows this domain, not the rows of the data. Empty the field to take the "
            "rows themselves, as public data."
        )
    else:
        text = (
            "The page takes the rows themselves, as public data. If they are private, type what a "
            "value can be, such as 0:120."
        )
    return f'<p class="sl-note">{text}</p>'


def messages(view: View) -> str:
    """Return the messages about what could not be computed."""
    return "".join(
        f'<p class="sl-message" role="alert">{html_text(one)}</p>' for one in view.messages
    )


def warnings(view: View) -> str:
    """Return what must be public for the noise to protect anyone."""
    told = view.cautions
    if view.dataset and view.scale is not None:
        told = (
            "If this universe is the private data itself, the noise hides a record only among "
            "these records. For a release, type a public domain.",
            *told,
        )
    return "".join(f'<p class="sl-warning">{html_text(one)}</p>' for one in told)


def curve(view: View) -> str:
    """Return the curve."""
    if not view.curve:
        return ""
    return _section(
        "Sensitivity against distance", pictures.curve(view.curve, view.state.k, view.state.query)
    )


def strip(view: View) -> str:
    """Return the strip, with a legend of its letters."""
    if view.pair is None:
        return ""
    drawn = "<p class='sl-note'>The worst case has too many blocks for a strip.</p>"
    scale = ""
    if view.blocks:
        drawn = pictures.strip(view.blocks)
        if not pictures.to_scale(view.blocks):
            scale = "<br>Not to scale: narrow blocks are widened."
    key = "".join(
        f'<span class="sl-key {part}">{part}</span> {meaning} '
        for part, meaning in (
            ("C", "in both"),
            ("A", "only in x"),
            ("B", "only in y"),
            ("O", "in neither"),
        )
    )
    return _section(
        "The sorted universe in the worst case",
        f"{drawn}<p class='sl-note'>{key}{scale}</p>",
    )


def pair(view: View) -> str:
    """Return the witness, and the local sensitivity of a changed x."""
    if view.pair is None:
        return ""
    witness = view.pair
    rows = [
        _row("x", witness.x, witness.size_x, witness.answer_x),
        _row("y", witness.y, witness.size_y, witness.answer_y),
    ]
    facts = (
        f"<p class='sl-note'>both have {witness.shared:,}; "
        f"<b class='text-A'>only x: {html_text(_some(witness.only_x))}</b>; "
        f"<b class='text-B'>only y: {html_text(_some(witness.only_y))}</b></p>"
    )
    return _section(
        "The witness pair",
        f"<table class='sl-pair'>{''.join(rows)}</table>{facts}{_local(view)}",
    )


def _row(name: str, records: tuple[str, ...], size: int, answer: float) -> str:
    listed = html_text(", ".join(records))
    return (
        f"<tr><th>{name}</th><td>{listed} <span class='sl-note'>({size:,} records)</span></td>"
        f"<td>f({name}) = {answer:.6g}</td></tr>"
    )


def _some(records: tuple[str, ...], most: int = 12) -> str:
    if not records:
        return "none"
    more = f", … ({len(records)} in all)" if len(records) > most else ""
    return ", ".join(records[:most]) + more


def _local(view: View) -> str:
    local = view.local
    if local is None:
        return (
            "<p class='sl-note'>This x is a worst case: its local sensitivity equals the global "
            f"one, {html_text(view.text)}. Type a dataset of your own to see its local and its "
            "smooth sensitivity, and its reach.</p>"
        )
    return (
        f"<p>Your dataset x = {html_text(_some(local.records))}: f(x) = "
        f"{html_text(local.answer)}, local sensitivity "
        f"<b class='sl-local'>{html_text(local.text)}</b>; the global one is "
        f"{html_text(view.text)}{_other_size(view.state.size, len(local.records))}.</p>"
        + _smooth(local)
    )


def _other_size(size: int, own: int) -> str:
    """Return a note if the sensitivities are those of different sizes."""
    return "" if size == own else f", but for n = {size:,}, and this x has {own:,} records"


def _smooth(local: Local) -> str:
    if not local.smooth:
        return ""
    return (
        f"<p>Its smooth sensitivity is <b class='sl-smooth'>{html_text(local.smooth)}</b> for "
        f"β = {local.beta:.3g}; Cauchy noise for it has scale "
        f"{rounded_up(local.scale, digits=6)}. Noise scaled to the local sensitivity would itself "
        "reveal something about x.</p>"
    )


def reach(view: View) -> str:
    """Return the fan of the typed x, with the moves at k in words."""
    fan, local, state = view.reach, view.local, view.state
    if fan is None or local is None:
        return ""
    told = (
        f"Within distance k = {state.k} of your x, the answer is at least {fan.least} and at most "
        f"{fan.greatest}: it moves down by {fan.down} and up by {fan.up} from f(x) = "
        f"{local.answer}. "
    )
    if state.k > 1 and fan.steps != state.neighbors.family:
        told += (
            "Here some records may be added and others removed. The local sensitivity, "
            f"{local.text}, is for records that are only added, or only removed."
        )
    else:
        told += f"The larger move is the local sensitivity, {local.text}."
    told += " All of this is as private as x."
    drawn = pictures.reach(fan, state.k, local.value, local.text, state.query)
    return _section("Reach: the answers near x", f"{drawn}<p class='sl-note'>{html_text(told)}</p>")


def noise(view: View) -> str:
    """Return the noise for epsilon."""
    if view.pair is None or view.scale is None:
        return ""
    state = view.state
    # Of a Laplace distribution, |noise| has the median b ln 2, and exceeds b ln 20 in 5 %.
    spread = (
        f"<p class='sl-note'>Laplace noise of scale Δ/ε = {rounded_up(view.scale, digits=6)}: half "
        f"of the noisy answers are within {rounded_up(math.log(2) * view.scale, digits=3)} of the "
        f"true one, 95% within {rounded_up(math.log(20) * view.scale, digits=3)}.</p>"
    )
    drawn = pictures.noise(view.pair, view.scale, view.rug, state.query)
    return _section(f"Noise for ε = {state.epsilon:g}", drawn + spread * bool(view.scale))


def code(view: View) -> str:
    """Return the code, with a button that copies it."""
    if not view.code:
        return ""
    return _section(
        "The code of this view",
        f'<button class="sl-copy" onclick="{_COPY}">Copy the code</button>'
        f'<pre tabindex="0"><code>{html_text(view.code)}</code></pre>',
    )


def status(report: View | Busy | str) -> str:
    """Return the status, on one line."""
    if isinstance(report, Busy):
        text = f"Computing {report.computing}, {report.seconds:.0f} s. {report.progress}"
    elif isinstance(report, str):
        text = report
    else:
        text = "Ready" if report.done else f"Computing {report.computing}"
    return f'<p class="sl-status" role="status">{html_text(text)}</p>'


def _section(title: str, body: str) -> str:
    return f"<section><h3>{title}</h3>{body}</section>"
