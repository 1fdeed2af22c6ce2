"""The pictures of the page in docs/pictures, taken of a run that is served.

    python -m bench.page_pictures RUN SYSTEM QUERY [--out docs/pictures]

    python -m bench.page_pictures RUN grafted QUERY --document DOC

Those of the documents: runs/quickstart, esplade, "parse a date string"; and of one result of a grafted system, which
says where its words come from: a run over cranfield with cost = 1.5, "basic dynamic characteristics of structures
continuous over many spans .", 913.
"""

import argparse
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.browser.serving import opened_browser, served

DESK, PHONE = {"width": 1100, "height": 860}, {"width": 360, "height": 780}


def take(browser: Any, address: str, given: argparse.Namespace) -> None:
    """Three pictures, each in a window of its own."""
    searched = {"q": given.query, "system": given.system}

    def look(link: dict[str, str], shown: str, **options: Any) -> Any:
        page = browser.new_context(base_url=address, **options).new_page()
        page.goto(f"/?{urlencode(link)}")
        page.locator(shown).first.wait_for()
        return page

    look(searched, ".hit-open")  # the first query of a server waits for its encoder
    page = look(searched, ".hit-open", viewport=DESK)
    page.locator(".hit-open").first.click()
    page.locator(".terms").wait_for()
    page.mouse.move(0, 0)
    page.screenshot(path=given.out / "page_search.png")
    beside = look({**searched, "with": "bm25"}, "#second-hits .hit", viewport=DESK, color_scheme="dark")
    beside.screenshot(path=given.out / "page_compare_dark.png")
    report = look({"view": "report", "system": given.system}, ".chart .point", viewport=PHONE)
    report.screenshot(path=given.out / "page_phone.png")


def take_result(browser: Any, address: str, given: argparse.Namespace) -> None:
    """One picture, of why a document is found."""
    page = browser.new_context(base_url=address, viewport=DESK).new_page()
    page.goto(f"/?{urlencode({'q': given.query, 'system': given.system, 'open': given.document})}")
    page.locator(".terms").wait_for()
    page.locator(".hit", has=page.locator(".terms")).evaluate("node => node.scrollIntoView({ block: 'start' })")
    page.mouse.move(0, 0)
    page.screenshot(path=given.out / "page_origins.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("system")
    parser.add_argument("query")
    parser.add_argument("--document", help="take the picture of this result alone")
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    given = parser.parse_args()
    with served(given.run) as address, opened_browser() as browser:
        (take_result if given.document else take)(browser, address, given)


if __name__ == "__main__":
    main()
