"""The pages of the built site in Chromium: nothing runs out of the window, nothing complains.

`make browser` builds the site and runs these tests.
"""

from __future__ import annotations

import pytest
from browser import SCHEMES, WIDTHS, chromium, opened, served
from paths import ROOT

HTML = ROOT / "build" / "site" / "html"

pytestmark = pytest.mark.browser

# The pages of names are many and alike: one of a class, of a function and of a plot stand for them.
ALIKE = "reference/api/"
REPRESENTATIVES = ("sensitivity_lab.Universe", "sensitivity_lab.audit", "plotting.plot_curves")

FIGURES = {
    "index": 1,
    "start": 1,
    "how_to/clipping": 1,
    "understand/exact": 5,
    "understand/sensitivity": 2,
    "performance": 2,
    "contributing": 1,
    "reference/api/sensitivity_lab.plotting.plot_curves": 1,
}
"""The pictures that a page has at least."""


def pages() -> list[str]:
    """The names of the pages, without the calculator and those that only the theme needs."""
    found = [page.relative_to(HTML).with_suffix("").as_posix() for page in HTML.rglob("*.html")]
    return sorted(
        page
        for page in found
        if not page.startswith(("_", "calculator/"))  # which tests/page opens
        and (not page.startswith(ALIKE) or page.endswith(REPRESENTATIVES))
    )


@pytest.fixture(scope="module")
def site():
    assert (HTML / "index.html").is_file(), "there is no site: run make docs"
    with served(HTML) as address, chromium() as browser:
        yield browser, address


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit_and_are_calm(site, width, scheme):
    browser, address = site
    wrong = {}
    assert len(pages()) > 40
    for page in pages():
        url = f"{address}/{page}.html"
        with opened(browser, url, width=width, scheme=scheme, wait_until="load") as view:
            pictures = view.page.locator("article img").count()
            found = {
                "scrolls sideways by": view.overflow(),
                "broken images": view.broken_images(),
                "complaints": view.complaints,
                "pictures missing": max(0, FIGURES.get(page, 0) - pictures),
                "wrong colors": view.page.locator("html").get_attribute("data-theme") != scheme,
            }
        if any(found.values()):
            wrong[page] = {name: what for name, what in found.items() if what}
    assert wrong == {}


def test_every_notebook_is_in_the_gallery_with_a_picture(site):
    browser, address = site
    names = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    with opened(browser, f"{address}/notebooks/index.html") as view:
        cards = view.page.locator("article .sd-card")
        assert cards.count() == len(names)
        assert cards.locator("img").count() == len(names)
        links = cards.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
        assert {link.removesuffix(".html") for link in links} == names


def test_the_search_finds_a_public_name(site):
    browser, address = site
    with opened(browser, f"{address}/search.html?q=smooth_sensitivity") as view:
        view.page.locator("#search-results li a").first.wait_for()
        results = view.page.locator("#search-results li a").all_inner_texts()
    assert any("smooth_sensitivity" in result for result in results)
    assert view.complaints == []


@pytest.mark.parametrize("words", ["group privacy", "mean per group", "noise scale"])
def test_the_search_puts_how_to_pages_first_and_the_changelog_last(site, words):
    browser, address = site
    with opened(browser, f"{address}/search.html?q={words.replace(' ', '+')}") as view:
        view.page.locator("#search-results li > a").first.wait_for()
        links = view.page.locator("#search-results li > a")
        places = links.evaluate_all("all => all.map(a => new URL(a.href).pathname)")
    assert places[0].startswith("/how_to/")
    assert not any(place.startswith("/changelog") for place in places[:10])
