"""The page where things do not go smoothly: a key is asked for, a server is slow, gives little, or is not ready; and
what is left standing, said or hidden afterwards."""

import pytest

from lexigraft.retrieve.retriever import Retriever
from lexigraft.serve.service import OPENING_SAID
from tests.browser import fixtures
from tests.browser.serving import needs_chromium, served, until
from tests.browser.world import make_run
from tests.scored_terms import write_scores
from tests.shared import made_once

browser = fixtures.browser
pytestmark = [pytest.mark.integration, needs_chromium]
KEY, QUERY, MOST = "0123456789abcdef0123", "kura kure", 15
AS_TYPED = f"() => document.getElementById('first-hits')?.dataset.whole === '{QUERY}'"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server with a key, few results, and scores for the terms of one of its systems."""
    run, folder = made_once(tmp_path_factory, "page", make_run) / "run", tmp_path_factory.mktemp("unlucky")
    (folder / "keys").write_text(f"{KEY}\n")
    write_scores(folder / "scores", Retriever.open(run, system="bm25").vocabulary, n_scored=40)
    options = ("--api-key-file", folder / "keys", "--max-k", MOST, "--wackiness", folder / "scores")
    with served(run, *options) as found:
        yield found


@pytest.fixture
def stranger(browser, address):
    """A page whose reader has not given a key yet."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, base_url=address)
    page = context.new_page()
    page.set_default_timeout(10_000)
    yield page
    context.close()


@pytest.fixture
def page(stranger):
    stranger.add_init_script(f"sessionStorage.setItem('lexigraft-key', '{KEY}')")
    return stranger


def trouble(page, text):
    page.locator("#trouble", has_text=text).wait_for()


def test_a_wrong_key_may_be_followed_by_the_right_one(stranger):
    stranger.goto(f"/?q={QUERY}&system=bm25")
    trouble(stranger, "This server asks for a key.")
    for key, said in (("wrong", "is not one of the server’s"), ("key–of–dashes", "no key can have")):
        stranger.fill("#key", key)
        stranger.click("#key-form button")
        trouble(stranger, said)
    stranger.fill("#key", KEY)
    stranger.click("#key-form button")
    until(stranger, AS_TYPED)
    assert stranger.locator("#key-form").is_hidden() and stranger.locator("#trouble").is_hidden()


def test_a_key_is_good_for_a_page_that_may_not_store_it(stranger):
    stranger.add_init_script("Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('no'); } })")
    stranger.goto(f"/?q={QUERY}&system=bm25")
    stranger.fill("#key", KEY)
    stranger.click("#key-form button")
    until(stranger, AS_TYPED)


def test_the_address_is_shown_while_the_server_is_not_ready(page):
    refusals = [(503, OPENING_SAID), (503, OPENING_SAID), (429, "256 requests are waiting"), (503, "it took too long")]
    seen = []

    def refuse_first(route):
        seen.append((page.locator("#opening").is_visible(), page.locator("#trouble").inner_text()))
        if refusals:
            status, said = refusals.pop(0)
            route.fulfill(status=status, json={"error": said})
        else:
            route.continue_()

    page.route("**/systems", refuse_first)
    page.goto(f"/?q={QUERY}&view=vocabulary")
    assert page.input_value("#query") == QUERY and page.locator("#vocabulary-view").is_visible()
    page.locator(".vocabulary-table tbody tr").first.wait_for()
    assert refusals == [] and page.locator("#trouble").is_hidden() and page.locator("#opening").is_hidden()
    # Opening is said calmly; what is trouble is an alert.
    assert seen == [
        (False, ""),
        (True, ""),
        (True, ""),
        (False, "256 requests are waiting"),
        (False, "it took too long"),
    ]


def test_a_server_that_opens_its_systems_again_is_waited_for(page):
    page.goto(f"/?q={QUERY}&system=bm25")
    until(page, AS_TYPED)
    routes = []

    def refuse_first(route):
        routes.append(route)
        if len(routes) < 3:
            route.fulfill(status=503, json={"error": OPENING_SAID})
        else:
            route.continue_()

    page.route("**/search", refuse_first)
    page.fill("#query", "mela")
    page.locator("#opening").wait_for()
    assert page.locator("#trouble").is_hidden()
    until(page, "() => document.getElementById('first-hits').dataset.query === 'mela'")
    assert len(routes) == 3 and page.locator("#opening").is_hidden() and page.locator("#trouble").is_hidden()


def test_what_a_query_is_told_stands_above_its_results(page):
    page.goto("/?q=-kuraa&system=learned")
    notices = page.locator("[data-side=first] .notice")
    notices.nth(1).wait_for()
    assert notices.all_inner_texts()[0] == '"-word" has no meaning here yet: read as plain words'
    assert notices.all_inner_texts()[1].startswith(
        "no word of the query is in the collection: kuraa; did you mean kura"
    )
    page.fill("#query", QUERY)
    until(page, AS_TYPED)
    assert notices.count() == 0


def test_the_parts_of_a_fused_score_stand_below_its_terms(page):
    said = "bm25 adds 0.3 (30.0%, rank 1 there), the meaning (dense) adds 0.7 (70.0%, rank 2 there)"
    changes = {"score": 1.0, "whole": {"how": "", "said": said, "parts": []}}

    def fused(route):
        route.fulfill(json={**route.fetch().json(), **changes})

    page.route("**/explain", fused)
    page.goto(f"/?q={QUERY}&system=bm25")
    until(page, AS_TYPED)
    page.locator(".hit-open").first.click()
    page.locator(".explanation .whole", has_text=said).wait_for()
    assert page.locator(".explanation h4").first.inner_text() == "Score 1.000"
    assert page.locator(".terms tbody tr").count() == 2
    changes["contributions"] = []  # of a dense system
    page.locator(".hit-open").nth(1).click()
    page.locator(".explanation .whole", has_text=said).wait_for()
    until(page, "() => !document.querySelector('.terms')")


def test_more_results_as_far_as_the_server_gives_them(page):
    page.goto(f"/?q={QUERY}&system=learned&qk=0&dk=0")
    until(page, AS_TYPED)
    more = page.locator("[data-side=first] .more")
    more.click()
    until(page, f"() => document.querySelectorAll('#first-hits .hit').length === {MOST}")
    assert more.is_hidden() and page.locator("#trouble").is_hidden()
    # Who pressed it stands on the last result now, and a link with more than there are is no error.
    assert page.evaluate("document.activeElement.matches('.hit:last-child .hit-open')")
    page.goto(f"/?q={QUERY}&system=learned&qk=0&dk=0&k=90")
    until(page, f"() => document.querySelectorAll('#first-hits .hit').length === {MOST}")


def test_wackiness_is_a_column_where_there_are_scores(page):
    page.goto("/?view=vocabulary&system=bm25&sort=wackiness")
    page.locator(".vocabulary-table tbody tr").first.wait_for()
    shown = page.locator(".vocabulary-table tbody td:nth-child(3)").all_inner_texts()
    assert [float(text) for text in shown[:40]] == sorted(map(float, shown[:40]), reverse=True) and shown[40] == "–"
    assert page.locator(".sort").count() == 3 and "--wackiness" not in page.locator(".vocabulary-list").inner_text()
    page.select_option("#vocabulary-system", "learned")
    page.locator(".vocabulary-list", has_text="start the server with --wackiness").wait_for()
    assert page.locator(".sort").count() == 2


def test_an_answer_that_comes_late_undoes_nothing(page):
    page.goto(f"/?q={QUERY}&system=bm25")
    until(page, AS_TYPED)
    held = []
    page.route("**/search", lambda route: held.append(route))  # playwright wants a function of Python
    chip = page.locator(".chip", has_text="kure")
    chip.click()
    until(page, "() => document.getElementById('sides').getAttribute('aria-busy') === 'true'")
    opened = page.locator(".hit-open").first.get_attribute("data-doc")
    page.locator(".hit-open").first.click()
    page.locator(".terms").first.wait_for()
    held.pop().continue_()
    until(page, "() => document.getElementById('sides').hasAttribute('aria-busy') === false")
    assert page.locator(f".hit-open[data-doc={opened}]").get_attribute("aria-expanded") == "true"
    page.fill("#query", "mela")
    page.click("nav [data-view=vocabulary]")
    page.locator(".vocabulary-table tbody tr").first.wait_for()
    held.pop().fulfill(status=422, json={"error": "of a view that was left"})
    until(page, "() => document.getElementById('sides').hasAttribute('aria-busy') === false")
    assert page.locator("#trouble").is_hidden()


def test_a_step_back_closes_a_result_and_asks_nothing(page):
    page.goto(f"/?q={QUERY}&system=bm25")
    until(page, AS_TYPED)
    page.locator(".hit-open").first.click()
    page.locator(".terms").wait_for()
    third = page.locator(".hit-open").nth(2)
    third.scroll_into_view_if_needed()
    before = third.bounding_box()["y"]
    third.click()  # what was open above it closes
    page.locator(".terms").wait_for()
    assert abs(third.bounding_box()["y"] - before) < 2
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.go_back()
    page.go_back()
    until(page, "() => !document.querySelector('.hit-open[aria-expanded=true]')")
    assert not any(url.endswith("/search") for url in asked)


def test_what_is_said_of_a_second_query_and_of_none(page):
    page.goto(f"/?q={QUERY}&system=bm25&off=kura&off=kure")
    page.locator(".status-line", has_text="All terms are switched off.").wait_for()
    page.goto(f"/?q={QUERY}&system=bm25")
    for query in (QUERY, "mela"):
        page.fill("#query", query)
        until(page, "q => document.getElementById('announcer').textContent.startsWith(q + ': ')", query)
    page.fill("#query", "")
    until(page, "() => document.getElementById('announcer').textContent === ''")


def test_one_system_with_one_point_has_nothing_to_compare_with(page):
    def only_bm25(route):
        answer = route.fetch()
        found = answer.json()
        found["systems"] = [system for system in found["systems"] if system["name"] == "bm25"]
        route.fulfill(response=answer, json=found)

    page.route("**/systems", only_bm25)
    page.goto(f"/?q={QUERY}")
    until(page, AS_TYPED)
    assert page.locator("#compare").is_hidden()


def test_numbers_of_a_column_are_written_alike(page):
    page.goto("/")
    said = page.evaluate(
        "async () => { const n = await import('./page/numbers.js');"
        " return [n.score(9999.6), n.score(12345), n.score(2.7), n.score(-3.64), n.score(999.9996),"
        " n.significant(999.7, 3), n.significant(-1e-7, 2), n.milliseconds(1e-7),"
        " n.kept(0.4, 0), n.kept('m0.8', 30), n.kept(6, 'm0.9'), n.kept(0, 0)]; }"
    )
    assert said[:8] == ["10,000", "12,345", "2.700", "-3.640", "1,000", "1,000", "> −0.0001", "< 0.0001 ms"]
    assert said[8:] == [
        "A query’s terms from 40 % of its heaviest, all of a document’s",
        "80 % of a query’s weight, a document’s 30 heaviest",
        "A query’s 6 heaviest terms, 90 % of a document’s weight",
        "Whole vectors",
    ]
