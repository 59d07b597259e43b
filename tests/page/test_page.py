"""The page in a real browser: what each control changes, messages, widths, light and dark."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from browser import SCHEMES, WIDTHS, chromium, opened
from paths import DATA

import sensitivity_lab as sl
from sensitivity_lab.explorer.page import serving

pytestmark = pytest.mark.browser

LIMIT = 180_000
"""Milliseconds to wait for a kernel before a test fails; nothing waits so long."""

PARTS = ("headline", "curve", "strip", "pair", "reach", "noise", "code")


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def page():
    """The page of a file, as the command serves it."""
    pytest.importorskip("voila", reason="needs the extra `explore`")
    path = str(DATA / "school_large.csv")
    with serving(f"from sensitivity_lab.cli.explore import panel_of\npanel_of({path!r})") as made:
        yield made


@pytest.fixture(scope="module")
def window(browser, page):
    """One window for the tests that move controls; each begins where the one before ended."""
    with opened(browser, page.url, permissions=["clipboard-read", "clipboard-write"]) as view:
        ready(view.page)
        yield view


def ready(page: Any) -> None:
    """Wait until the view is whole."""
    page.wait_for_selector(".sl-part-code code", timeout=LIMIT)
    page.wait_for_function(
        "document.querySelector('.sl-status').textContent === 'Ready'", timeout=LIMIT
    )


def shown(page: Any) -> dict[str, str]:
    return {
        part: page.locator(f".sl-part-{part} .widget-html-content").inner_html() for part in PARTS
    }


def wait_for_code(page: Any, text: str) -> None:
    page.wait_for_function(
        "text => document.querySelector('.sl-part-code').textContent.includes(text) && "
        "document.querySelector('.sl-status').textContent === 'Ready'",
        arg=text,
        timeout=LIMIT,
    )


def control(page: Any, name: str) -> Any:
    """What a user of the keyboard moves."""
    return page.locator(f".sl-control-{name}").locator("select, input, [role=slider]").first


def test_each_control_changes_picture_and_code(window):
    """By the keyboard alone, once a control has the focus."""
    moves = {
        "column": ("select", "absence_days", "'absence_days'"),
        "query": ("select", "median", '"median"'),
        "relation": ("select", "unbounded: add or remove", "sl.Unbounded(1)"),
        "size": ("ArrowLeft", None, "size=5"),
        "k": ("ArrowRight", None, "sl.Unbounded(2)"),
        "epsilon": ("ArrowRight", None, "epsilon=2"),
        "domain": ("type", "0:30", "range(0, 31)"),
        "dataset": ("type", "4, 1, 2", "sl.reach("),
    }
    page = window.page
    # It opens on a domain, whatever the file has; without one the records are the universe.
    assert "range(0, 101)" in page.locator(".sl-part-code").inner_text()
    control(page, "domain").fill("")
    control(page, "domain").press("Enter")
    wait_for_code(page, "from_dataset")
    for name, (how, value, code) in moves.items():
        before = shown(page)
        target = control(page, name)
        if how == "select":
            target.select_option(value)
        elif how == "type":
            target.fill(value)
            target.press("Enter")
        else:
            target.press(how)
        wait_for_code(page, code)
        changed = {part for part, text in shown(page).items() if text != before[part]}
        assert "code" in changed, name
        picture = {"epsilon": "noise", "dataset": "pair"}.get(name, "curve")
        assert picture in changed, name
    assert "local sensitivity" in page.locator(".sl-part-pair").inner_text()
    assert "x = [1, 2, 4]" in page.locator(".sl-part-code").inner_text()
    assert page.locator(".sl-part-reach svg").is_visible()
    assert window.complaints == []


def test_the_code_on_the_page_gives_its_number(window, capsys):
    page = window.page
    number = page.locator(".sl-number").inner_text().split()[1]
    page.get_by_role("button", name="Copy the code").click()
    page.get_by_role("button", name="Copied").wait_for()
    code = page.evaluate("navigator.clipboard.readText()")
    names: dict[str, Any] = {}
    with pytest.warns(sl.errors.PrivateSizeWarning):  # records are added or removed, at one size
        exec(code, names)
    assert format(names["result"], ".6g") == number
    assert capsys.readouterr().out


def test_bad_input_shows_its_message(window):
    page = window.page
    control(page, "domain").fill("no numbers")
    control(page, "domain").press("Enter")
    page.wait_for_selector(".sl-message", timeout=LIMIT)
    assert "must be a finite number such as 20 or 0.5, got 'no numbers'" in (
        page.locator(".sl-message").inner_text()
    )
    control(page, "domain").fill("")
    control(page, "domain").press("Enter")
    page.wait_for_selector(".sl-part-curve svg", timeout=LIMIT)
    assert window.complaints == []


def test_the_tab_key_reaches_every_control(window):
    page = window.page
    control(page, "column").focus()
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached += page.evaluate(
            "[...(document.activeElement.closest('[class*=sl-control-]')?.classList ?? [])]"
        )
    names = {name.removeprefix("sl-control-") for name in reached if "sl-control-" in name}
    assert names >= {"query", "relation", "size", "k", "epsilon", "domain", "dataset"}


def luminance(color: str) -> float:
    """The relative luminance of ``rgb(r, g, b)``, by the definition of WCAG 2."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_and_can_be_read(browser, page, width, scheme):
    with opened(browser, page.url, width=width, scheme=scheme) as view:
        ready(view.page)
        # At one size, noise for this relation depends on a private number: there is a warning.
        control(view.page, "relation").select_option("unbounded: add or remove")
        view.page.wait_for_selector(".sl-warning", timeout=LIMIT)
        control(view.page, "dataset").fill("3, 4, 4, 7, 12, 90")
        control(view.page, "dataset").press("Enter")
        wait_for_code(view.page, "sl.reach(")
        assert view.overflow() == 0
        cut = view.page.evaluate(
            """[...document.querySelectorAll('.sl-explorer section, .sl-explorer svg, select,'
                + '.sl-explorer pre, .sl-explorer table')]
                .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
                .map(one => one.outerHTML.slice(0, 80))"""
        )
        assert cut == []
        hidden = view.page.evaluate(
            """[...document.querySelectorAll('.sl-explorer select')].flatMap(select => {
                const style = getComputedStyle(select);
                const pen = document.createElement('canvas').getContext('2d');
                pen.font = style.font;
                const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
                const arrow = 20;
                return [...select.options].map(option => option.text).filter(
                    text => pen.measureText(text).width > select.clientWidth - padding - arrow);
            })"""
        )
        assert hidden == []
        size = "svg => parseFloat(getComputedStyle(svg.querySelector('text')).fontSize)"
        size += " * svg.getBoundingClientRect().width / 480"
        for part in ("curve", "reach"):
            assert view.page.eval_on_selector(f".sl-part-{part} svg", size) >= 10
        paper = view.page.eval_on_selector(
            ".sl-explorer", "one => getComputedStyle(one).backgroundColor"
        )
        for text in (".sl-note", ".sl-number", ".sl-warning", "code", ".widget-label", "select"):
            ink = view.page.eval_on_selector(
                f".sl-explorer {text}", "one => getComputedStyle(one).color"
            )
            high, low = sorted((luminance(ink), luminance(paper)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, text
        assert (luminance(paper) < 0.2) == (scheme == "dark")
        assert view.complaints == []


def test_only_who_has_the_token_sees_the_page(page):
    without = page.url.partition("?")[0]
    with urllib.request.urlopen(without, timeout=30) as answer:
        assert "/login" in answer.url
        assert b"sl-page" not in answer.read()


def test_it_listens_on_the_loopback_address_only(page):
    """By the kernel's table of sockets: 127.0.0.1 is 0100007F, any address 00000000."""
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("the table of sockets is that of Linux")
    port = int(re.search(r":(\d+)/", page.url)[1])
    listening = [line.split()[1] for line in table.read_text().splitlines()[1:]]
    assert f"0100007F:{port:04X}" in listening
    assert f"00000000:{port:04X}" not in listening
