"""The page's view to judge two systems in: by keys, by clicks, with room and without, and where it may not write."""

import pytest

from lexigraft.core.config import load_settings
from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from lexigraft.stages.user_judgements import UserJudgements
from lexigraft.whole_run import run as make_run
from tests.browser import fixtures
from tests.browser.serving import needs_chromium, until
from tests.serving import served

browser, open_page = fixtures.browser, fixtures.open_page
pytestmark = [pytest.mark.integration, needs_chromium]
MARKUP = "<img src=x onerror=\"document.title='obeyed'\"><b>x</b>"
WORDS = ("sort", "graph", "date")
DOCUMENTS = [Document(f"{word}{end}", f"{word}{end} {MARKUP}", f"{'About it. ' * 60}{word}{end.strip('2')} {MARKUP}")
             for word in WORDS for end in ("", "2", "s")]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    root = tmp_path_factory.mktemp("judged")
    write_collection(root / "data", DOCUMENTS)
    make_run(str(root / "data"), root / "run", load_settings(values={"run.systems": ["bm25", "bm25-plain"]}))
    return root / "run"


@pytest.fixture(scope="module")
def address(run):
    with served(run, "--no-browser", command="open") as process:
        yield process.address


@pytest.fixture(autouse=True)
def nothing_judged(run):
    for file in UserJudgements(run).files:
        file.unlink(missing_ok=True)


def ask(page, question):
    page.goto("/?view=judge")
    page.fill("#judge-question", question)
    page.keyboard.press("Enter")
    page.locator(".judge-document").first.wait_for()


def said(page):
    return page.locator(".judge-known").inner_text()


def test_a_question_is_judged_by_keys_alone(open_page, run):
    page = open_page()
    page.goto("/")
    page.get_by_role("link", name="Judge").click()
    until(page, "() => document.querySelector('.judge-known').textContent.includes('not enough yet (0 questions')")
    page.focus("#judge-question")
    page.keyboard.type("sorts")
    page.keyboard.press("Enter")
    page.locator(".judge-document").first.wait_for()
    until(page, "() => document.activeElement.dataset.says === 'true'")
    group = page.evaluate("document.activeElement.closest('[role=group]').querySelector('h3').textContent")
    assert MARKUP in group and page.locator("main img").count() == 0
    page.keyboard.press("y")
    until(page, "() => document.querySelectorAll('.judge-document [aria-pressed=true]').length === 1")
    page.keyboard.press("n")
    until(page, "() => document.querySelector('.judge-known').textContent.includes('(1 question')")
    assert page.locator(".judge-asked").is_hidden() and page.evaluate("document.activeElement.id") == "judge-question"
    assert sorted(UserJudgements(run).read()["sorts"].values()) == [False, True]


def test_what_was_begun_goes_on_and_answers_change(open_page, run):
    page = open_page()
    ask(page, "graphs")
    page.locator(".judge-document").first.get_by_role("button", name="No").click()
    until(page, "() => document.querySelectorAll('.judge-document [aria-pressed=true]').length === 1")
    page.locator(".judge-document").first.get_by_role("button", name="Yes").click()
    until(
        page, "() => document.querySelector('.judge-document [data-says=true]').getAttribute('aria-pressed') === 'true'"
    )
    page.goto("/?view=judge")
    page.get_by_role("button", name="Go on with: graphs").click()
    page.locator(".judge-document [data-says=true][aria-pressed=true]").wait_for()
    page.get_by_role("button", name="Leave this question out").click()
    page.locator(".judge-asked").wait_for(state="hidden")
    assert UserJudgements(run).read() == {"graphs": {}}
    page.fill("#judge-question", "about")
    page.keyboard.press("Enter")
    until(page, "() => document.querySelector('.judge-known').textContent.startsWith('Same first documents')")
    page.fill("#judge-question", "zzz")
    page.keyboard.press("Enter")
    page.locator("#trouble", has_text="nothing is found").wait_for()


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_for_everyone(open_page, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(color_scheme=scheme, bypass_csp=True, viewport={"width": width, "height": 800})
    ask(page, "dates")
    page.locator("summary", has_text="Whole text").first.click()
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_server_for_others_takes_none(browser, run):
    with served(run) as process:
        page = browser.new_page(base_url=process.address)
        page.goto("/?view=judge")
        page.locator("#trouble", has_text="lexigraft open RUN").wait_for()
        assert page.get_by_role("link", name="Judge").count() == 0
        page.close()
