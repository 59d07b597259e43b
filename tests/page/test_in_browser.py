"""The page in Chromium, served from this machine: what a user sees, clicks, types and drops."""

from __future__ import annotations

import json
import re
import time
from urllib.parse import quote, unquote

import pandas as pd
import pytest
from browser import SCHEMES, WIDTHS, chromium, opened, served
from paths import ROOT

from sensitivity_lab.csv_files import cells_of
from sensitivity_lab.page.answer import FIRST, answer
from sensitivity_lab.page.server import serving
from sensitivity_lab.page.universes import Given, given_of, given_of_file

pytestmark = pytest.mark.browser

STATIC = ROOT / "sensitivity_lab" / "page" / "static"

SECRET = "57.12"
CSV = f"school,secret\nA,1\nB,{SECRET}\nC,9\n"

HOSTILE = (
    "<img src=x onerror=window.hacked=1>",
    "<svg onload=window.hacked=1>",
    "<script>window.hacked=1</script>",
    "</title><script>window.hacked=1</script>",
    "</option></select><img src=x onerror=window.hacked=1>",
    "</textarea><img src=x onerror=window.hacked=1>",
    "' onmouseover='window.hacked=1",
    "&lt;img src=x onerror=window.hacked=1&gt;",
    "javascript:window.hacked=1",
    "${window.hacked=1}",
    "{{constructor.constructor('window.hacked=1')()}}",
    "<iframe srcdoc='<script>parent.hacked=1</script>'>",
    "<style>*{display:none}</style>",
    "<a href=//example.org>x</a>",
    "<link rel=stylesheet href=//example.org/x.css>",
    "<math><mtext><img src=x onerror=window.hacked=1>",
    "<base href=//example.org>",
    "<meta http-equiv=refresh content='0;url=//example.org'>",
    "__proto__",
    "\u202eevil\u0000name",
)


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def local():
    with serving(Given()) as address:
        yield address


@pytest.fixture(scope="module")
def window(browser, local):
    """A window for all tests: another one takes longer than most of them."""
    with opened(browser, local, wait_until="load") as found:
        yield found


@pytest.fixture
def view(window, local):
    """The page with its first answer; it must have nothing to complain about at the end."""
    window.page.goto("about:blank")
    window.complaints.clear()
    window.page.goto(local, wait_until="load")
    ready(window.page)
    yield window
    assert window.complaints == []


def ready(page, status="Ready", timeout=10):
    """Wait until everything is computed; a change is noted at once, so nothing earlier is seen."""
    page.locator("#status").filter(has_text=re.compile(status)).wait_for(timeout=1000 * timeout)


def fill(page, **texts):
    for name, text in texts.items():
        page.fill(f"#{name}", text)
    ready(page, "Ready|Not computed")


def type_x(page, text):
    page.select_option("#x-kind", "records")
    page.fill("#x-text", text)
    ready(page)


def drop(page, name="private.csv", text=CSV, *, read=True):
    """Drop a file on the page, as a mouse does."""
    page.evaluate(
        """([name, text]) => {
            const data = new DataTransfer();
            data.items.add(new File([text], name, { type: "text/csv" }));
            for (const kind of ["dragover", "drop"]) {
                const given = { dataTransfer: data, bubbles: true, cancelable: true };
                document.body.dispatchEvent(new DragEvent(kind, given));
            }
        }""",
        [name, text],
    )
    if read:
        page.locator("#file-name", has_text=re.compile("^Read:")).wait_for()
    else:
        page.locator("#x-error", has_text=f"{name}: ").wait_for()
    ready(page, "Ready|Not computed")


def number(page):
    return page.locator("#answer .number").inner_text()


def linked(page):
    """What the link in the address bar has."""
    assert "#q=" in page.url
    return json.loads(unquote(page.url.partition("#q=")[2]))


def test_the_first_answer_comes_within_six_seconds_and_the_next_at_once(browser):
    began = time.monotonic()
    with serving(Given()) as address, opened(browser, address, wait_until="load") as view:
        page = view.page
        page.locator("#answer .number").wait_for(timeout=6000)
        assert time.monotonic() - began < 6
        assert number(page) == "3"
        ready(page)
        page.fill("#k", "3")
        page.locator("#answer .number", has_text=re.compile("^9$")).wait_for(timeout=1500)
        assert view.complaints == []


def test_the_answer_says_what_it_is_and_has_all_parts(view):
    page = view.page
    claim = answer({"ask": "answer", **FIRST, "parts": ["sensitivity"]})["sensitivity"]["claim"]
    said = page.locator("#sensitivity-told").inner_text()
    assert claim in said
    assert "Laplace noise has scale 3: half of the noisy answers are within 2.08" in said
    assert page.locator("#witness-told").inner_text().count("only in") == 2
    titles = {
        "curve": "At k = 1, the sensitivity of mean is 3.",
        "witness": "Records of x and y; f(x) = 3, f(y) = 0",
        "strip": "The sorted universe in blocks: CBOA",
        "noise": "Laplace noise of scale 3 around f(x) and f(y)",
    }
    for part, title in titles.items():
        picture = page.locator(f"#{part}-picture svg")
        assert picture.get_attribute("role") == "img"
        assert picture.locator("title").text_content() == title
    assert "global_sensitivity" in page.locator("#code-told").inner_text()
    assert page.locator("#local").is_hidden()


def test_parts_of_a_dataset_that_is_typed(view):
    page = view.page
    fill(page, size="4")
    type_x(page, "1, 2, 3, 50")
    found = answer(
        {
            "ask": "answer",
            **FIRST,
            "size": 4,
            "x": {"kind": "records", "text": "1, 2, 3, 50"},
            "parts": ["local", "smooth", "reach"],
        }
    )
    assert page.locator("#local .number").inner_text() == found["local"]["text"]
    assert page.locator("#smooth .number").inner_text() == found["smooth"]["text"]
    assert "at least 1.5 and at most 28.75" in page.locator("#reach-told").inner_text()
    assert "For this x it is more noise" in page.locator("#smooth-told").inner_text()
    assert page.locator("#answer .warning").count() == 0
    assert page.locator("#reach-picture svg").count() == 1
    assert "as private as x" in page.locator("#x-told").inner_text()
    assert "smooth_sensitivity" in page.locator("#code-told").inner_text()


def test_answers_that_differ_by_rounding_alone_are_one_line(view):
    page = view.page
    page.select_option("#query", "std")
    type_x(page, "1, 2, 3, 5, 8")
    page.select_option("#universe-kind", "records")
    fill(page, **{"universe-text": "1, 2, 3, 5, 8"})
    assert "Within distance k = 1 of x, the answer does not move." in (
        page.locator("#reach-told").inner_text()
    )
    lines = page.locator("#reach-picture polyline").all()
    upper, lower = (one.bounding_box()["y"] for one in lines)
    assert abs(upper - lower) < 1


def search_long(page):
    """Begin what takes minutes."""
    page.select_option("#query", "gini_mean_difference")
    page.fill("#k", "50")
    page.fill("#size", "1000000")
    page.wait_for_timeout(1000)
    assert page.locator("#status").inner_text().startswith("Computing")


def test_a_long_search_is_stopped_superseded_and_left(view):
    page = view.page
    search_long(page)
    page.click("#stop")
    ready(page, r"Stopped: .+\. Change something to go on\.")
    assert page.locator("#curve").is_hidden()
    page.fill("#size", "100")
    ready(page, timeout=15)
    assert page.locator("#curve-picture svg").count() == 1

    search_long(page)
    page.select_option("#query", "mean")
    fill(page, size="10", k="1")
    assert number(page) == "6"

    search_long(page)
    page.goto(page.url.partition("#")[0] + "?again")  # does not wait for it
    ready(page)
    assert number(page) == "3"


def test_a_number_of_an_earlier_state_is_dimmed(view):
    page = view.page
    page.route("**/answer", lambda _: None)  # no answer comes anymore
    page.fill("#k", "7")
    part = page.locator("#sensitivity.stale")
    part.wait_for()
    told = page.locator("#sensitivity-told")
    page.wait_for_timeout(300)
    assert told.evaluate("one => getComputedStyle(one).opacity") == "0.35"
    assert page.locator("#answer").get_attribute("aria-busy") == "true"
    assert "at most 1" in told.inner_text()  # the number has its own state with it
    page.unroute("**/answer")


def test_a_link_restores_the_parameters(browser, local, view):
    page = view.page
    page.select_option("#query", "median")
    page.select_option("#relation", "unbounded: add or remove")
    fill(page, size="12", k="3", epsilon="0.5", **{"universe-text": "0:50:5"})
    expected = {
        "query": "median",
        "relation": "unbounded: add or remove",
        "size": 12,
        "k": 3,
        "epsilon": "0.5",
        "universe": {"kind": "domain", "text": "0:50:5"},
    }
    assert linked(page) == expected
    told, link = page.locator("#sensitivity-told").inner_text(), page.url
    with opened(browser, local, wait_until="load") as other:
        ready(other.page)
        other.page.goto(link)
        other.page.wait_for_timeout(100)
        ready(other.page)
        assert other.page.locator("#sensitivity-told").inner_text() == told
        other.page.reload()  # the token is kept, and the link stands in the address
        ready(other.page)
        assert linked(other.page) == expected
        assert other.complaints == []


def test_a_link_opens_in_another_tab_of_the_same_browser(view):
    page = view.page
    assert "token" not in page.url
    fill(page, size="30")
    tab = page.context.new_page()
    tab.goto(page.url)
    ready(tab)
    assert number(tab) == "2"
    tab.close()


def test_a_file_is_the_dataset_and_stays_out_of_the_link(view):
    page = view.page
    fill(page, **{"universe-text": "0:100:0.01"})
    drop(page)
    assert page.locator("#universe-kind").input_value() == "domain"
    assert page.locator("#x-kind").input_value() == "csv"
    assert page.locator("#column").input_value() == "secret"
    assert "x has 3 records" in page.locator("#x-told").inner_text()
    assert "never leaves this machine" in page.locator("#file-privacy").inner_text()
    said = page.locator("#file-name").inner_text()
    assert said == (
        "Read: private.csv, 3 rows. Not listed, since not all of their entries are numbers: school."
    )
    assert number(page) == "5"
    assert page.locator("#universe-warning").is_hidden()
    assert set(linked(page)) == {"query", "relation", "size", "k", "epsilon", "universe"}

    page.select_option("#universe-kind", "csv")  # a choice of its own, with its warnings
    ready(page)
    assert page.locator("#universe-warning").is_visible()
    warning = page.locator("#answer .warning", has_text="The universe is the records themselves")
    above, below = warning.bounding_box(), page.locator("#curve").bounding_box()
    assert above["y"] + above["height"] < below["y"]
    assert linked(page)["universe"] == {"kind": "csv"}
    for hidden in (SECRET, "secret", "private"):
        assert hidden not in unquote(page.url)


def test_typed_records_stay_out_of_the_link(view):
    page = view.page
    type_x(page, SECRET)
    page.select_option("#universe-kind", "records")
    fill(page, **{"universe-text": f"1, 2, {SECRET}"})
    assert number(page)
    assert SECRET not in unquote(page.url)
    assert linked(page)["universe"] == {"kind": "records"}


FAULTS = [
    ("universe", "universe-text", "abc", {"kind": "domain", "text": "abc"}),
    ("size", "size", "0", 0),
    ("size", "size", "2.5", 2.5),
    ("k", "k", "", ""),
    ("epsilon", "epsilon", "-1", "-1"),
]


def test_a_fault_stands_beside_its_field_and_no_number_stays(view):
    page = view.page
    for field, control, text, sent in FAULTS:
        found = answer({"ask": "answer", **FIRST, "parts": ["sensitivity"], field: sent})
        assert found["field"] == field
        fill(page, **{control: text})
        fault = page.locator(f"#{field}-error")
        assert fault.inner_text() == found["message"]
        assert fault.get_attribute("role") == "alert"
        assert page.locator(f"#{control}").get_attribute("aria-invalid") == "true"
        assert f"{field}-error" in page.locator(f"#{control}").get_attribute("aria-describedby")
        assert page.locator("#answer .number").count() == 0
        fill(page, **{control: {"universe-text": "0:10"}.get(control, "2")})
        assert fault.inner_text() == ""
        assert number(page)


def test_a_wrong_dataset_leaves_the_global_sensitivity_without_noise(view):
    page = view.page
    warning, strong = (page.locator(f"#sensitivity-told .{one}") for one in ("warning", "strong"))
    for text, told in (
        ("1, b", "cannot be read: a number is written 20, 0.5 or 1e-3, got 'b'."),
        ("1, 500", "has 2 records, but n is 20."),
        ("500 " + "1 " * 19, "has records that are not in the universe: 500."),
    ):
        type_x(page, text)
        assert told in warning.first.inner_text()
        assert page.locator("#sensitivity-told > :first-child.warning").count() == 1
        assert number(page) == "3"
        assert strong.count() == 0
        assert page.locator("#noise").is_hidden()
        assert told.split(".")[0] in " ".join(page.locator("#code-told").inner_text().split("\n# "))
        if "b" in text:
            assert page.locator("#x-error").inner_text().endswith("got 'b'")
        elif "," in text:
            assert "the record 500 is not in the universe" in page.locator("#local").inner_text()
    type_x(page, "1, 2, 3")
    page.get_by_role("button", name="Take n = 3, the size of x").click()
    ready(page)
    taken = (
        "n is public here, and it was taken from your data: that is right only if the number of "
        "records may be known."
    )
    assert (number(page), warning.all_inner_texts(), strong.count()) == ("20", [taken], 1)
    assert linked(page)["size"] == 3
    told = page.locator("#link-told").inner_text()
    assert told.startswith(
        "It opens on this machine only, while this page runs. To share it, paste the part from # on"
    )
    page.select_option("#x-kind", "none")
    fill(page, k="2")
    assert warning.all_inner_texts() == [taken]
    page.select_option("#query", "sum")
    page.select_option("#relation", "unbounded: add or remove")
    ready(page)
    assert warning.all_inner_texts() == [taken.replace("n is public here, and it was", "n was")]
    fill(page, size="4")
    assert warning.count() == 0


REFUSED = {
    "empty.csv": "",
    "binary.csv": "\0\1\2,\0\n\0",
    "twice.csv": "a,a\n1,2\n",
    "large.csv": "a\n" + "1\n" * 900_000,
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_refused_is_no_reason_for_noise(view, name):
    """As a typed x that cannot be read, until the person says that there is none."""
    page = view.page
    drop(page, name=name, text=REFUSED[name], read=False)
    assert page.locator("#x-kind").input_value() == "csv"
    warning = page.locator("#sensitivity-told > :first-child.warning")
    assert warning.inner_text().startswith(f"Your dataset x cannot be read: {name}: ")
    assert page.locator("#sensitivity-told .strong").count() == 0
    assert page.locator("#noise").is_hidden()
    assert page.locator("#of-x").is_hidden()
    fill(page, k="2")
    assert warning.count() == 1
    page.select_option("#x-kind", "none")
    ready(page)
    assert page.locator("#sensitivity-told .strong").count() == 1
    view.complaints[:] = [one for one in view.complaints if "413" not in one]


def test_a_file_that_fails_leaves_no_earlier_one(view):
    page = view.page
    drop(page)
    page.select_option("#universe-kind", "csv")
    ready(page)
    assert page.locator("#file-name").inner_text().startswith("Read: private.csv")
    drop(page, name="other.csv", text="a,b\nx,y\n", read=False)
    assert page.locator("#x-error").inner_text() == (
        "other.csv: no column of the file holds numbers alone"
    )
    kinds = [page.locator(f"#{one}-kind").input_value() for one in ("universe", "x")]
    assert kinds == ["csv", "csv"]
    assert page.locator("#fault").inner_text() == (
        "other.csv: no column of the file holds numbers alone"
    )
    assert page.locator("#answer .number").count() == 0
    page.select_option("#universe-kind", "domain")
    ready(page)
    assert page.locator("#sensitivity-told > :first-child.warning").count() == 1
    assert page.locator("#file-columns").is_hidden()
    assert page.locator("option[value=csv]:disabled").count() == 2
    assert "private.csv" not in page.locator("body").inner_text()
    drop(page, name="large.csv", text="a\n" + "1\n" * 900_000, read=False)
    assert (
        page.locator("#x-error")
        .inner_text()
        .startswith(
            "large.csv: the page sends at most 1,000,000 bytes, and with this file they are 2,700,0"
        )
    )
    assert ["413" in one for one in view.complaints] == [True]
    view.complaints.clear()


def test_no_column_that_looks_like_an_identifier_is_taken(view):
    page = view.page
    drop(page, text="student_id,age\n1,7\n2,7\n")
    assert page.locator("#column").input_value() == "age"
    drop(page, text="student_id,age\n1,7\n2,8\n")
    assert page.locator("#column").input_value() == ""
    assert "Choose a column: these look like identifiers." in page.locator("#drop").inner_text()
    assert page.locator("#local").is_hidden()
    assert "no column of the file is chosen" in page.locator("#sensitivity-told").inner_text()
    assert page.locator("#sensitivity-told .strong").count() == 0
    page.select_option("#column", "age")
    ready(page)
    assert "x has 2 records, 7, 8" in page.locator("#x-told").inner_text()


def test_on_a_phone_the_results_of_x_follow_its_axis_and_nothing_is_cut_off(view):
    page = view.page
    page.set_viewport_size({"width": 390, "height": 844})
    type_x(page, ", ".join(map(str, range(20))))
    top, below = (page.locator(one).bounding_box()["y"] for one in ("#of-x", "#curve"))
    assert top < below
    assert page.locator("pre").evaluate("one => one.scrollWidth <= one.clientWidth")
    labels = page.locator("#strip-picture text.on-part").all_text_contents()
    assert labels == ["C 19", "B 1", "A 1"]
    page.set_viewport_size({"width": 1280, "height": 900})


def test_what_is_not_possible_is_reduced_and_comes_back(view):
    page = view.page
    fill(page, k="9", size="4")
    assert page.locator("#k").input_value() == "4"
    assert page.locator("#k-hint").inner_text() == "At most 4 is possible here; 9 was asked for."
    fill(page, size="20")
    assert page.locator("#k").input_value() == "9"
    page.select_option("#universe-kind", "records")
    fill(page, k="1", size="5", **{"universe-text": "1, 2, 3, 4, 5"})
    warnings = page.locator("#answer .warning").all_inner_texts()
    assert warnings[-1] == "Size n: At most 4 is possible here; 5 was asked for."
    type_x(page, "1, 2, 3, 4, 5")
    assert page.get_by_role("button", name="Take n").count() == 0


def test_clicks_on_the_axis_add_and_remove_records(view):
    page = view.page
    fill(page, **{"universe-text": "0:10"})
    type_x(page, "3")
    axis = page.locator("#x-axis")
    width = axis.bounding_box()["width"]
    axis.click(position={"x": 12 + (width - 24) * 0.82, "y": 60})
    ready(page)
    assert page.locator("#x-text").input_value() == "3, 8"
    page.locator("#x-axis circle[data-value='3']").click()
    ready(page)
    assert page.locator("#x-text").input_value() == "8"


def test_a_click_on_the_curve_chooses_k(view):
    page = view.page
    dot = page.locator("#curve-picture circle").nth(3)
    dot.click()
    ready(page)
    assert page.locator("#k").input_value() != "1"
    assert (
        page.locator("#curve-picture").get_attribute("aria-valuenow")
        == page.locator("#k").input_value()
    )


def test_the_keyboard_alone_reaches_everything(view):
    page = view.page
    type_x(page, "3")
    selector = "input, select, textarea, button, [tabindex]"
    expected = page.locator(selector).evaluate_all(
        "all => all.filter(one => one.checkVisibility()).map(one => one.id || one.tagName)"
    )
    page.evaluate("document.activeElement.blur()")
    reached = []
    for _ in range(len(expected) + 1):  # one is the page itself
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert {*reached} - {"BODY"} == {*expected}
    assert {"universe-kind", "k-slider", "x-axis", "curve-picture", "copy-code"} <= set(reached)

    for control, value in (("k-slider", "2"), ("k", "3"), ("curve-picture", "4")):
        page.focus(f"#{control}")
        page.keyboard.press("ArrowUp")
        ready(page)
        assert page.locator("#k").input_value() == value
        assert page.evaluate("document.activeElement.id") == control
    assert number(page) == "12"
    page.focus("#x-axis")
    for key in ("Home", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    ready(page)
    assert page.locator("#x-text").input_value() == "2, 3"
    assert page.locator("#x-axis").get_attribute("aria-valuetext") == "2: 1 record"
    page.keyboard.press("Delete")
    ready(page)
    assert page.locator("#x-text").input_value() == "3"


def test_every_control_has_a_name(view):
    from playwright.sync_api import expect

    page = view.page
    drop(page)
    type_x(page, "3")
    roles = ("combobox", "textbox", "spinbutton", "slider", "button", "img", "region", "group")
    seen = 0
    for role in roles:
        for one in page.get_by_role(role).all():
            expect(one).to_have_accessible_name(re.compile(r"\w"))
            seen += 1
    assert seen > 30


def hostile(view, *seen):
    """Whether hostile texts did nothing; those that are `seen` stand on the page, as text."""
    page = view.page
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.locator("img, iframe, main script, main style, main link, main a").count() == 0
    assert page.locator("#controls").is_visible()
    assert view.complaints == []
    text = page.locator("body").evaluate("body => body.textContent")
    assert all(one in text for one in seen)


def test_hostile_names_are_inert(view, local):
    """All of them as columns, and each one once as a text of another field."""
    page = view.page
    clean = [name.replace("\0", "") for name in HOSTILE]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in clean)
    rows = "".join(",".join(f"{row}.5" for _ in clean) + "\n" for row in range(2))
    for name in clean[:2]:
        drop(page, name=f"{name}.csv", text=f"{header}\n{rows}")
        hostile(view, f"Read: {name}.csv, 2 rows.", *clean)
    page.select_option("#column", clean[-1])
    page.select_option("#universe-kind", "csv")
    ready(page)
    page.select_option("#universe-kind", "domain")
    page.select_option("#x-kind", "records")
    for place, name in enumerate(HOSTILE):
        field = ("universe", "x", "epsilon", "query")[place % 4]
        if field == "query":
            text = quote(json.dumps({**FIRST, "query": name}))
            page.goto(f"{local.partition('#')[0]}#q={text}")
        else:
            page.fill({"universe": "#universe-text", "x": "#x-text"}.get(field, "#epsilon"), name)
        fault = page.locator(f"#{field}-error", has_text=re.compile("."))
        fault.wait_for()
        page.wait_for_timeout(50)
        hostile(view, fault.inner_text())
        page.select_option("#query", "mean")
        for control, text in (("universe-text", "0:60"), ("x-text", ""), ("epsilon", "1")):
            page.fill(f"#{control}", text)
    ready(page)


NO_LINKS = [
    "#q=%7B",
    "#q=null",
    "#q=%5B1%5D",
    "#q=%22x%22",
    "#q=%",
    "#q=xx",
    '#q={"universe":{"kind":"csv","text":"a","column":"a","name":"b"}}',
]


def test_a_link_that_cannot_be_read_has_no_number(view, local):
    page = view.page
    for text in NO_LINKS:
        page.goto(local.partition("#")[0] + text)
        page.locator("#fault", has_text="The link cannot be read: copy it again").wait_for()
        page.wait_for_timeout(300)
        assert page.locator("#answer .number").count() == 0
        assert page.locator("#status").inner_text() == "Not computed"
        page.fill("#k", "2")
        ready(page)
        assert page.locator("#fault").inner_text() == ""
        page.fill("#k", "1")
        ready(page)


@pytest.mark.parametrize("kind", ["records", "csv", "given", None])
def test_a_link_without_its_records_has_no_number(view, local, kind):
    page = view.page
    asked = {**FIRST, "universe": {"kind": kind}}
    page.goto(f"{local.partition('#')[0]}#q={quote(json.dumps(asked))}")
    told = "The link has no records in it: type or load the universe."
    page.locator("#fault", has_text=told).wait_for()
    assert page.locator("#answer .number").count() == 0
    assert page.locator("#universe-error").inner_text() == ""
    if kind == "csv":
        drop(page, text="a\n1\n1\n2\n9\n")
    else:
        page.fill("#universe-text", "1, 1, 2, 9")
        ready(page)
    assert page.locator("#fault").inner_text() == ""
    assert "universe of 4 records" in page.locator("#sensitivity-told").inner_text()


def test_empty_records_are_no_fault_before_any_are_typed(view):
    page = view.page
    page.select_option("#universe-kind", "records")
    ready(page, "Not computed")
    assert page.locator("#universe-error").inner_text() == ""
    assert page.locator("#fault").inner_text() == "Type the records of the universe."


def test_no_code_of_an_earlier_state_is_copied(view):
    page = view.page
    copy = page.locator("#copy-code")
    assert copy.is_enabled()
    page.route("**/answer", lambda _: None)  # no answer comes anymore
    page.select_option("#query", "median")
    assert '"mean"' in page.locator("#code-told").inner_text()
    assert copy.is_disabled()
    page.unroute("**/answer")


def test_what_is_finished_stays_when_the_rest_is_stopped(view):
    page, held = view.page, []

    def route(one):
        last = one.request.post_data_json.get("parts") == ["reach"]
        held.append(one) if last else one.continue_()

    page.route("**/answer", route)
    page.select_option("#x-kind", "records")
    page.fill("#x-text", "1, 2, 3")
    ready(page, "Computing: Reach")
    page.click("#stop")
    ready(page, "Stopped: Reach: the answers near x. Change something to go on.")
    assert page.locator("#local .number").is_visible()
    assert "smooth_sensitivity" in page.locator("#code-told").inner_text()
    assert page.locator("#copy-code").is_enabled()
    assert "is the largest one" not in page.locator("#local-told").inner_text()
    page.unroute("**/answer", route)
    held[0].fulfill(json={"ok": False, "field": "", "message": "Stopped."})
    fill(page, size="3")
    assert "is the largest one" in page.locator("#local-told").inner_text()


def test_another_tab_says_that_the_first_one_computes(view):
    page = view.page
    search_long(page)
    tab = page.context.new_page()
    tab.goto(page.url.partition("#")[0])
    ready(tab, "Another tab of this page is computing")
    page.click("#stop")
    ready(tab)
    assert number(tab) == "3"
    tab.close()


def test_a_file_of_explore_is_named_and_its_first_column_is_x(browser):
    text = "id,age\n1,30\n2,30\n"
    given = given_of_file(cells_of(text.encode(), "the file"), "/data/private.csv")
    with serving(given) as address, opened(browser, address, wait_until="load") as view:
        page = view.page
        ready(page)
        assert page.locator("header").inner_text().endswith("Read: /data/private.csv, 2 rows.")
        assert page.locator("#x-kind").input_value() == "given:age"
        assert "x has 2 records, 30, 30" in page.locator("#x-told").inner_text()
        assert "has 2 records, but n is 20" in page.locator("#sensitivity-told").inner_text()
        assert view.complaints == []


def test_what_k_and_epsilon_are_is_said_once(view):
    said = view.page.locator("body").inner_text()
    assert said.count("k is the most records of one person.") == 1
    assert said.count("ε is the loss of this one number: two published numbers cost two.") == 1


def test_nothing_runs_out_of_the_window_and_all_texts_have_contrast(view):
    page = view.page
    fill(page, size="1000000", **{"universe-text": "0:99999"})
    drop(page, name="a" * 200 + ".csv", text="c" * 200 + ",b\n1,2.5\n99999,4\n")
    page.select_option("#universe-kind", "csv")
    for epsilon in ("1", "x"):
        fill(page, epsilon=epsilon)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(100)  # pictures are drawn again
            assert view.overflow() == 0
            assert outside(page) == []
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme)
                assert too_faint(page) == []
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})


def outside(page):
    """Texts of pictures that are cut off by their picture."""
    return page.locator("svg text").evaluate_all(
        """all => all.filter(one => {
            const [text, picture] = [one, one.closest("svg")].map(e => e.getBoundingClientRect());
            return text.left < picture.left - 1 || text.right > picture.right + 1
                || text.top < picture.top - 1 || text.bottom > picture.bottom + 1;
        }).map(one => one.textContent)"""
    )


def too_faint(page):
    """Texts whose contrast to what is behind them is below 4.5."""
    return page.evaluate(
        """() => {
            const numbers = color => color.match(/[\\d.]+/g).map(Number);
            const light = ([r, g, b]) => [r, g, b].map(one => one / 255)
                .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
                .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
            const behind = one => {
                for (let at = one; at; at = at.parentElement) {
                    const found = numbers(getComputedStyle(at).backgroundColor);
                    if (found.length === 3 || found[3] > 0) return found;
                }
            };
            const elsewhere = "title, option, optgroup, .on-part";
            const faint = [];
            for (const one of document.querySelectorAll("body *")) {
                const own = [...one.childNodes].some(at => at.nodeType === 3 && at.data.trim());
                if (!own || !one.checkVisibility() || one.matches(elsewhere))
                    continue;
                const style = getComputedStyle(one);
                const color = one.closest("svg") ? style.fill : style.color;
                const [a, b] = [light(numbers(color)), light(behind(one))];
                const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
                if (contrast < 4.5) faint.push([contrast, one.outerHTML.slice(0, 80)]);
            }
            return faint;
        }"""
    )


def test_given_columns_are_datasets_and_their_rows_a_universe_by_choice(browser):
    table = pd.DataFrame({"days": [1, 2, 30], "<b>age": [7, 8, 9]})
    with serving(given_of(table)) as address, opened(browser, address, wait_until="load") as view:
        page = view.page
        ready(page)
        assert page.locator("#universe-kind").input_value() == "domain"
        assert page.locator("#x-kind").input_value() == "none"
        page.select_option("#x-kind", "given:days")
        ready(page)
        assert "x has 3 records, 1, 2, 30" in page.locator("#x-told").inner_text()
        page.select_option("#universe-kind", "given:<b>age")
        ready(page)
        assert page.locator("#universe-warning").is_visible()
        assert linked(page)["universe"] == {"kind": "given"}
        assert view.complaints == []


def test_without_a_token_the_page_says_what_to_do(browser, local):
    with opened(browser, local.partition("#")[0], wait_until="load") as view:
        fault = view.page.locator(
            "#fault", has_text="open that address first, then paste this link"
        )
        fault.wait_for()
        assert "pip" not in view.page.locator("body").inner_text()
        view.page.goto("about:blank")
        view.page.goto(local.partition("#")[0] + "#token=wrong", wait_until="load")
        view.page.locator("#fault", has_text="The server has begun anew").wait_for()


ENGINE = """
let asked = 0;
self.onmessage = ({ data: { id, request } }) => {
    asked += 1;
    if (asked === 1) self.postMessage({ progress: 0.25, text: "Loading numpy" });
    const found = answers[request.ask === "answer" ? request.parts[0] : request.ask];
    if (request.k === 13) return;
    if (request.k === 14) return void self.postMessage({ failed: "no memory" });
    setTimeout(() => self.postMessage({ id, answer: found }), asked === 1 ? 400 : 0);
};
"""


def test_the_page_with_a_worker(browser, tmp_path):
    """With a stand-in of the engine: it loads, answers, is stopped, starts again, and fails."""
    for file in STATIC.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    asked = {**FIRST, "parts": ["sensitivity"]}
    answers = {
        "choices": answer({"ask": "choices"}),
        "sensitivity": answer({"ask": "answer", **asked}),
        "curve": answer({"ask": "answer", **asked, "parts": ["curve"]}),
        "code": answer({"ask": "code", **asked}),
    }
    (tmp_path / "engine").mkdir()
    engine = f"const answers = {json.dumps(answers)};\n{ENGINE}"
    (tmp_path / "engine" / "worker.js").write_text(engine, "utf-8")
    with served(tmp_path) as address, opened(browser, address, wait_until="load") as view:
        page = view.page
        page.get_by_label("Loading numpy").wait_for()
        assert page.locator("#progress").evaluate("one => one.value") == 0.25
        ready(page)
        assert page.locator("#loading").is_hidden()
        assert number(page) == "3"
        assert "never leaves this browser" in page.locator("#file-privacy").inner_text()
        page.fill("#k", "13")
        ready(page, "Computing: Global sensitivity")
        page.click("#stop")
        ready(page, "Stopped")
        page.fill("#k", "1")
        ready(page)
        page.fill("#k", "14")
        ready(page, "Not computed")
        said = page.locator("#fault").inner_text()
        assert said.startswith("Python does not start in this browser: no memory.")
        assert "pip install sensitivity-lab" in said
        assert view.complaints == []
