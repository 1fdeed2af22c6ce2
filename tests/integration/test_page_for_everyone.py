"""The page without a mouse, without much room, without sight, in the dark; and with markup where text should be."""

import pytest

from tests.browser import fixtures
from tests.browser.serving import needs_chromium, until
from tests.browser.world import MARKUP

address, browser, open_page = fixtures.address, fixtures.browser, fixtures.open_page
pytestmark = [pytest.mark.integration, needs_chromium]
QUERY = "kura kure"
VIEWS = {
    "empty": "/",
    "results": f"/?q={QUERY}&system=bm25",
    "opened": f"/?q={QUERY}&system=bm25&open=d0",
    "compared": f"/?q={QUERY}&system=bm25&with=&off=kure",
    "vocabulary": "/?view=vocabulary&system=bm25&term=kura",
    "report": "/?view=report",
}
READY = {"vocabulary": ".term-detail h2", "report": ".chart .point", "empty": ".side", "opened": ".terms"}


def show(page, view):
    page.goto(VIEWS[view])
    page.locator(READY.get(view, ".hit-open")).first.wait_for()


def focused(page):
    return page.evaluate("document.activeElement.dataset.doc ?? document.activeElement.id")


def test_by_the_keyboard_alone(open_page):
    page = open_page()
    page.goto("/?view=report")
    page.locator(".chart").wait_for()
    page.keyboard.press("/")
    assert focused(page) == "query"
    page.keyboard.type(QUERY)
    page.wait_for_selector(f"#first-hits[data-whole='{QUERY}']")
    found = page.locator("#first-hits .hit-open").evaluate_all("nodes => nodes.map(node => node.dataset.doc)")
    page.keyboard.press("ArrowDown")
    assert focused(page) == found[0]
    page.keyboard.press("ArrowDown")
    assert focused(page) == found[1]
    page.keyboard.press("Enter")
    page.locator(".explanation").first.wait_for()
    assert page.locator(".hit-open").nth(1).get_attribute("aria-expanded") == "true"
    assert focused(page) == found[1]  # although the list was made anew
    page.keyboard.press("Escape")
    page.locator(".explanation").first.wait_for(state="detached")
    assert focused(page) == found[1]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "query"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Compare
    page.wait_for_selector(f"#second-hits[data-whole='{QUERY}']")
    page.locator("#first-hits .hit-open").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.closest('.side').dataset.side") == "second"
    page.keyboard.press("Escape")
    assert focused(page) == "query"


def test_every_control_that_is_reached_shows_it(open_page):
    page = open_page()
    show(page, "compared")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(25):
        page.keyboard.press("Tab")
        style = page.evaluate("(s => [s.outlineStyle, s.outlineWidth])(getComputedStyle(document.activeElement))")
        assert style == ["solid", "2px"]


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_has_room_for_it(open_page, view):
    page = open_page(viewport={"width": 360, "height": 740})
    show(page, view)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    cut = page.evaluate(
        "[...document.querySelectorAll('main button, main select, main input, nav a')]"
        ".filter(node => node.offsetParent)"
        ".filter(node => { const box = node.getBoundingClientRect(); return box.right > 361 || box.left < -1; })"
        ".map(node => node.outerHTML)"
    )
    assert cut == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_serious(open_page, view, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(color_scheme=scheme, bypass_csp=True)  # for axe's own script; other tests have the policy
    show(page, view)
    found = Axe().run(page).response["violations"]
    serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
    assert serious == []


def test_dark_is_what_the_system_says_until_somebody_chooses(open_page):
    def paper(page):
        return page.evaluate("getComputedStyle(document.documentElement).backgroundColor")

    light, dark = open_page(color_scheme="light"), open_page(color_scheme="dark")
    light.goto("/")
    dark.goto("/")
    white, black = paper(light), paper(dark)
    assert white != black
    assert dark.get_attribute("#theme", "aria-pressed") == "true"
    light.click("#theme")
    assert paper(light) == black and light.get_attribute("#theme", "aria-pressed") == "true"
    light.reload()
    assert paper(light) == black


def test_nothing_moves(open_page):
    page = open_page()
    show(page, "opened")
    moving = page.evaluate(
        "[...document.querySelectorAll('*')].map(getComputedStyle)"
        ".filter(style => style.transitionDuration !== '0s' || style.animationName !== 'none').length"
    )
    assert moving == 0


def test_results_are_in_sight_at_once(open_page):
    room = {(1280, 900): 520, (360, 740): 620}
    for (width, height), lowest in room.items():
        page = open_page(viewport={"width": width, "height": height})
        for link in (f"/?q={QUERY}&system=learned", f"/?q={QUERY}&system=bm25&with=learned"):
            page.goto(link)
            page.locator(".hit").first.wait_for()
            assert page.locator(".hit").first.bounding_box()["y"] < lowest
    summary = page.locator("[data-side=second] .side-head summary")
    assert summary.inner_text().startswith("Compared with learned, MRR@10 0.")
    assert page.locator("#second-system").is_hidden()
    summary.click()
    assert page.locator("#second-system").is_visible() and page.locator("#second-dial").is_visible()


def test_long_terms_break_on_a_phone(open_page):
    long = "x" * 90

    def with_long_terms(route):
        answer = route.fetch()
        found = answer.json()
        for term in [found, *found.get("neighbours", [])] if "neighbours" in found else found["terms"]:
            term["term"] = long
        route.fulfill(response=answer, json=found)

    page = open_page(viewport={"width": 360, "height": 740})
    for asked in ("**/search", "**/vocabulary?*", "**/vocabulary/term?*"):
        page.route(asked, with_long_terms)
    for view, shown in (("results", ".chip"), ("vocabulary", ".term-detail h2")):
        page.goto(VIEWS[view])
        page.locator(shown, has_text=long).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_markup_in_titles_queries_and_metadata_is_text(open_page):
    page = open_page()
    page.goto("/")
    page.fill("#query", f"kura {MARKUP}")
    title = page.locator(".hit-open[data-doc=d0]")
    title.wait_for()
    assert title.inner_text() == MARKUP
    assert (
        page.locator(".hit-facts", has_text="<i>odd</i>").count() + page.locator(".hit-facts", has_text="even").count()
        > 0
    )
    title.click()
    page.locator(".text").wait_for()
    assert MARKUP in page.locator(".text").inner_text()
    until(page, "() => document.title.startsWith('kura <img')")
    assert page.locator("main img, main script, main b, main i").count() == 0
    page.goto("/?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&where=%3Cb%3E&system=%3Cb%3E&open=%3Cb%3E")
    page.locator("#trouble").wait_for()
    assert page.locator("main img, main b").count() == 0


def test_an_error_of_the_server_is_a_line_and_no_end(open_page):
    page = open_page()
    page.goto(f"/?q={QUERY}&system=bm25&where=nothing+%3D+1")
    page.locator("#trouble", has_text="nothing").wait_for()
    page.locator(".conditions .chip").click()
    page.locator(".hit-open").first.wait_for()
    assert page.locator("#trouble").is_hidden()


def test_the_policy_forbids_what_the_page_does_not_need(open_page):
    page = open_page()
    policy = page.goto("/").header_value("content-security-policy")
    assert "default-src 'none'" in policy and "unsafe" not in policy
    outside = []
    page.on("request", lambda request: outside.append(request.url))
    show(page, "compared")
    assert {url.split("/")[2] for url in outside} == {page.url.split("/")[2]}
