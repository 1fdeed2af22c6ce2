"""What every test of the page begins with: a served run, and a browser."""

import pytest

from tests.browser.serving import opened_browser, served
from tests.browser.world import make_run
from tests.shared import made_once


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with served(made_once(tmp_path_factory, "page", make_run) / "run") as found:
        yield found


@pytest.fixture
def open_page(browser, address):
    """`open_page(**options of a context)`."""
    contexts = []

    def open_one(**options):
        options = {"viewport": {"width": 1200, "height": 900}, **options}
        contexts.append(browser.new_context(base_url=address, **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(10_000)
        return page

    yield open_one
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def browser():
    with opened_browser() as found:
        yield found
