"""What every test of the page begins with: a served run, and a browser."""

import pytest

from tests.browser.serving import opened_browser, served
from tests.browser.world import make_run
from tests.shared import made_once


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with served(made_once(tmp_path_factory, "page", make_run) / "run") as found:
        yield found


@pytest.fixture(scope="module")
def browser():
    with opened_browser() as found:
        yield found
