"""The page on a grafted run: which words are a document's own, which are borrowed, and which are its vector's."""

import pytest

from tests.browser import fixtures
from tests.browser.serving import needs_chromium, served
from tests.grafted_run import write_grafted_run

browser = fixtures.browser
pytestmark = [pytest.mark.integration, needs_chromium]
OPENED = "/?q=cat+kitten+purred&system=grafted&open=cat"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with served(write_grafted_run(tmp_path_factory.mktemp("grafted") / "run").root) as found:
        yield found


@pytest.fixture
def opened(browser, address):
    """`opened(**options of a context)`: the page with one result open."""

    def open_one(**options):
        page = browser.new_context(base_url=address, **options).new_page()
        page.set_default_timeout(10_000)
        page.goto(OPENED)
        page.locator(".terms").wait_for()
        return page

    return open_one


def test_a_word_says_who_lent_it(opened):
    page = opened()
    row = page.locator(".terms tbody tr").filter(has=page.locator("th", has_text="kitten"))
    assert "borrowed" in row.inner_text() and row.locator("cite").first.inner_text() == "A kitten"
    assert row.locator(".bar .part-borrowed").count() == 1 and row.locator(".part-own").count() == 0
    assert "own" in page.locator(".terms tbody tr").first.inner_text()
    assert "Of this score" in page.locator(".explanation").inner_text()
    assert "Words it borrowed, which its text does not hold" in page.locator(".explanation").inner_text()
    found = page.locator(".hit", has=page.locator(".terms")).locator(".matches")
    assert "kitten" in found.inner_text() and "borrowed" in found.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_read_it(opened, scheme):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(opened(color_scheme=scheme, bypass_csp=True)).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    phone = opened(viewport={"width": 360, "height": 740})
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
