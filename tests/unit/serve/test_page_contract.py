"""What the page and the server must say in the same words."""

from lexigraft.serve.page_files import PAGE
from lexigraft.serve.service import OPENING_SAID


def test_the_page_knows_a_server_that_is_opening():
    assert f'"{OPENING_SAID}"' in (PAGE / "api.js").read_text()
