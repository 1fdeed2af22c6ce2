"""The page in a real browser, over a real server: what a person does with it, step by step."""

import re

import pytest

from tests.browser import fixtures
from tests.browser.serving import needs_chromium, until

address, browser = fixtures.address, fixtures.browser
pytestmark = [pytest.mark.integration, needs_chromium]
QUERY, MODEL = "kura kure", "learned"


@pytest.fixture
def page(browser, address):
    """A page of its own for every test; errors of scripts and of the content-security policy fail it."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, base_url=address)
    found, errors = context.new_page(), []
    found.set_default_timeout(10_000)
    found.on("pageerror", lambda error: errors.append(str(error)))
    found.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield found
    context.close()
    assert errors == []


def hits(page, side="first"):
    """Ids of the results that are shown, in their order."""
    return page.locator(f"#{side}-hits .hit-open").evaluate_all("nodes => nodes.map(node => node.dataset.doc)")


def painted(page, query=QUERY, side="first"):
    """Wait for the results of a query."""
    page.wait_for_selector(f"#{side}-hits[data-whole='{query}']")
    return hits(page, side)


def answer_of(page, do):
    """What the server answers to the search that `do` sets off, once it is on the page."""
    with page.expect_response("**/search") as waited:
        do()
    answer = waited.value.json()
    until(
        page,
        "ids => { const shown = [...document.querySelectorAll('#first-hits .hit-open')].map(node => node.dataset.doc);"
        " return JSON.stringify(shown) === JSON.stringify(ids); }",
        [hit["doc_id"] for hit in answer["hits"]],
    )
    return answer


def test_results_come_while_typing_and_the_newest_text_wins(page):
    page.goto("/")
    page.locator("#query").press_sequentially(QUERY)
    assert painted(page)
    asked = page.evaluate(
        "async q => (await (await fetch('search', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        " body: JSON.stringify({query: q, system: document.querySelector('#first-system').value})})).json()).hits",
        QUERY,
    )
    assert hits(page) == [hit["doc_id"] for hit in asked]
    assert page.locator(".snippet mark").count() > 0
    until(page, "() => new URL(location).searchParams.get('q') === 'kura kure'")
    until(page, "() => document.getElementById('announcer').textContent.includes('result')")
    page.fill("#query", "")
    page.wait_for_selector("#first-hits[data-whole='']", state="attached")
    assert hits(page) == []


def test_what_is_typed_before_the_page_is_ready_is_searched(page):
    held = []
    page.route("**/systems", lambda route: held.append(route))  # playwright wants a function of Python
    page.goto("/")
    page.locator("#query").press_sequentially(QUERY)
    until(page, "() => document.getElementById('query').value === 'kura kure'")
    held[0].continue_()
    assert painted(page)


def test_two_systems_side_by_side_say_what_moved(page):
    page.goto(f"/?q={QUERY}&system=bm25")
    painted(page)
    page.click("#compare")
    first, second = painted(page), painted(page, side="second")
    said = page.locator("#second-hits .hit").evaluate_all(
        "nodes => nodes.map(n => n.querySelector('.moved').textContent)"
    )
    for place, (doc_id, text) in enumerate(zip(second, said, strict=True), 1):
        if doc_id not in first:
            assert text == "+ New"
            continue
        by = first.index(doc_id) + 1 - place
        word = "Same place" if by == 0 else f"Up {by}, from" if by > 0 else f"Down {-by}, from"
        assert word in text
    gone = page.locator(".gone-list li").count()
    assert gone == len(set(first) - set(second))
    assert "with=" in page.url
    page.select_option("#second-system", "bm25")
    until(page, "() => document.querySelector('.moved-summary').textContent.includes('The same')")
    assert hits(page, "second") == hits(page)
    page.go_back()
    page.go_back()
    page.wait_for_selector("#second-hits", state="detached")


def test_two_prunings_of_one_system(page):
    name = MODEL
    page.goto(f"/?q={QUERY}&system={name}&qk=0&dk=0&with={name}&with_qk=2&with_dk=3")
    painted(page, side="second")
    assert f"Beside {name} whole vectors" in page.locator(".moved-summary").inner_text()
    note = page.locator("[data-side=second] .dial-note").inner_text()
    assert note.startswith("A query’s 2 heaviest terms, a document’s 3 heaviest")


def test_a_term_switched_off_ranks_anew_and_on_again_as_before(page):
    page.goto(f"/?q={QUERY}&system=bm25")
    before = painted(page)
    chip = page.locator("[data-side=first] .chip", has_text="kure")
    assert chip.get_attribute("aria-pressed") == "true"
    answer = answer_of(page, chip.click)
    assert [term["kept"] for term in answer["terms"] if term["term"] == "kure"] == [False]
    assert not any(match["term"] == "kure" for hit in answer["hits"] for match in hit["matches"])
    assert chip.get_attribute("aria-pressed") == "false"
    assert "off=kure" in page.url
    # Who switched it by the keyboard still stands on it.
    assert page.evaluate("document.activeElement.textContent").startswith("kure")
    answer_of(page, lambda: page.keyboard.press("Enter"))
    assert hits(page) == before and "off=" not in page.url


def test_the_dial_moves_along_the_curve(page):
    name = MODEL
    page.goto(f"/?q={QUERY}&system={name}")
    painted(page)
    points = page.evaluate("async () => (await (await fetch('systems')).json()).systems")
    points = next(system["points"] for system in points if system["name"] == name)
    assert len(points) > 1
    dial = page.locator("#first-dial")
    dial.focus()
    page.keyboard.press("Home")
    for place, point in enumerate(points):
        until(page, "at => document.getElementById('first-dial').value === String(at)", place)
        until(page, "dk => new URL(location).searchParams.get('dk') === dk", str(point["dk"]))
        facts = page.locator("[data-side=first] .facts").inner_text()
        assert f"{point['MRR@10']:.3f}" in facts and "FLOPS" in facts and "ms" in facts
        assert f"{place + 1} of {len(points)}" in dial.get_attribute("aria-valuetext")
        if place + 1 < len(points):
            answer = answer_of(page, lambda: page.keyboard.press("ArrowRight"))
            assert str(answer["dk"]) == str(points[place + 1]["dk"])


def test_a_result_opens_to_its_terms_and_their_words(page):
    page.goto(f"/?q={QUERY}&system=bm25")
    first = painted(page)[0]
    with page.expect_response("**/explain") as waited:
        page.locator(".hit-open").first.click()
    why = waited.value.json()
    rows = page.locator(".terms tbody tr")
    rows.first.wait_for()
    assert rows.count() == len(why["contributions"])
    assert page.locator(".hit-open").first.get_attribute("aria-expanded") == "true"
    assert f"open={first}" in page.url
    widths = page.locator(".terms .bar-filled").evaluate_all(
        "nodes => nodes.map(node => parseFloat(node.style.inlineSize))"
    )
    most = max(term["score"] for term in why["contributions"])
    assert widths == pytest.approx([100 * term["score"] / most for term in why["contributions"]], abs=0.01)
    marked = set(page.locator(".text mark").all_inner_texts())
    points = list(
        why["text"]
    )  # Python counts code points, as the server does; the text holds an emoji before the last word
    spans = {(start, end) for term in why["contributions"] for start, end, _ in term["document_words"]}
    assert marked == {"".join(points[start:end]) for start, end in spans} and marked <= {"kura", "kure"}
    page.locator(".terms .term-button").first.click()
    term = page.locator(".terms .term-button").first.inner_text()
    assert set(page.locator(".text mark:not(.faint)").all_inner_texts()) == {term}
    page.locator(".hit-open").first.click()
    page.wait_for_selector(".terms", state="detached")


def test_a_link_leads_to_all_that_was_seen(page):
    page.goto(f"/?q={QUERY}&system=bm25")
    painted(page)
    answer_of(page, page.locator("[data-side=first] .chip", has_text="kure").click)
    page.click("#compare")
    painted(page, side="second")
    page.locator("#first-hits .hit-open").nth(1).click()
    page.locator("[data-side=first] .terms").wait_for()
    link, seen = page.url, (hits(page), hits(page, "second"))
    page.goto("/")
    page.goto(link)
    painted(page, side="second")
    page.locator("[data-side=first] .terms").wait_for()
    assert (hits(page), hits(page, "second")) == seen
    assert page.locator("[data-side=first] .chip", has_text="kure").get_attribute("aria-pressed") == "false"
    assert page.locator("#first-hits .hit-open").nth(1).get_attribute("aria-expanded") == "true"
    page.go_back()
    until(page, "() => location.search === ''")


def test_back_undoes_a_query_as_a_whole(page):
    page.goto(f"/?q={QUERY}&system=bm25")
    painted(page)
    page.fill("#query", "")
    page.locator("#query").press_sequentially("mela")
    painted(page, "mela")
    until(page, "() => new URL(location).searchParams.get('q') === 'mela'")
    page.go_back()
    painted(page)
    assert page.input_value("#query") == QUERY


def test_filters_are_conditions_on_metadata(page):
    page.goto(f"/?q={QUERY}&system=bm25")
    everything = painted(page)
    page.click(".filters summary")
    page.select_option("#filter-field", "year")
    page.select_option("#filter-sign", ">=")
    page.fill("#filter-value", "2005")
    answer = answer_of(page, lambda: page.click(".filter-form button"))
    assert answer["hits"] and all(int(hit["metadata"]["year"]) >= 2005 for hit in answer["hits"])
    assert "where=year" in page.url
    answer_of(page, page.locator(".conditions .chip").click)
    assert hits(page) == everything
    for field, sign, value, holds in (
        ("published", ">=", "2024-05", lambda metadata: metadata["published"] >= "2024-05"),
        ("key words", "has", 'a "quoted" one', lambda metadata: 'a "quoted" one' in metadata["key words"]),
    ):
        page.select_option("#filter-field", field)
        page.select_option("#filter-sign", sign)
        page.fill("#filter-value", value)
        found = answer_of(page, lambda: page.click(".filter-form button"))["hits"]
        assert 0 < len(found) < len(everything) and all(holds(hit["metadata"]) for hit in found)
        answer_of(page, page.locator(".conditions .chip").click)


def test_the_vocabulary_is_searched_and_sorted(page):
    page.goto("/?view=vocabulary&system=bm25")
    rows = page.locator(".vocabulary-table tbody tr")
    rows.first.wait_for()
    postings = [int(text) for text in page.locator(".vocabulary-table tbody td:nth-child(2)").all_inner_texts()]
    assert postings == sorted(postings, reverse=True) and len(set(postings)) > 1
    with page.expect_response("**/vocabulary?*"):
        page.fill("#vocabulary-starts", "kur")
    until(
        page,
        "() => [...document.querySelectorAll('.vocabulary-table tbody th')].every(n => /^kur/.test(n.textContent))",
    )
    with page.expect_response("**/vocabulary?*"):
        page.locator(".sort", has_text="Term").click()
    until(page, "() => document.querySelector('th[aria-sort=ascending]')?.textContent.startsWith('Term')")
    terms = page.locator(".vocabulary-table tbody th").all_inner_texts()
    assert terms == sorted(terms) and len(terms) == 5
    chosen = page.locator(".vocabulary-table .term-button", has_text="kura")
    for is_open in (True, False, True):
        chosen.click()
        page.locator(".term-detail h2", has_text="kura").wait_for(state="attached" if is_open else "detached")
        assert chosen.get_attribute("aria-pressed") == str(is_open).lower()
    assert page.locator(".term-detail .plain li").count() > 0
    page.locator("[data-key=search-term]").click()
    painted(page, "kura")


def test_the_picture_of_the_report_sets_the_dial(page):
    name = MODEL
    page.goto(f"/?view=report&system={name}")
    page.locator(".chart .point").first.wait_for()
    shown = page.locator(".chart .point")
    assert shown.count() == page.locator(".report-run tbody tr").count()
    assert page.locator(".chart .point[aria-current]").count() == 1
    other = page.locator(f".chart .point:not([aria-current])[aria-label^='{name}']").first
    label = other.get_attribute("aria-label")
    other.focus()
    assert page.locator(".look").inner_text() == label
    page.keyboard.press("Enter")
    until(page, "text => document.querySelector('.point[aria-current]').getAttribute('aria-label') === text", label)
    flops = re.search(r"FLOPS ([\d.]+)", label)[1]
    assert flops in page.locator(".report-dial .facts").inner_text()
