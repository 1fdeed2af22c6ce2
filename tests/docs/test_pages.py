"""The pages agree with the program and with each other: commands, links, navigation, and paths that the code names."""

import re
from pathlib import Path

import pytest

from lexigraft.cli.reference import command_reference

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
CODE = sorted(
    path for room in ("src", "bench", "tests") for path in (ROOT / room).rglob("*") if path.suffix in (".py", ".toml")
)
README_LINES = 120


def test_the_reference_of_commands_is_what_the_commands_say():
    page = (ROOT / "docs/reference/commands.md").read_text()
    assert page == command_reference(), "the commands have changed; write their page again: make reference"


def test_the_reference_has_every_command_and_option():
    page = command_reference()
    assert "## `lexigraft run` " in page and "## `lexigraft index add` " in page
    assert "| `--data <" in page and "<code>--alpha N&#124;auto</code>" in page


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\((?!http)([^)#\s]+)(?:#[^)]*)?\)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_pages_that_the_code_names_exist():
    for path in CODE:
        for named in re.findall(r"\bdocs/[\w/]+\.(?:md|json|png)\b", path.read_text()):
            assert (ROOT / named).exists(), (str(path.relative_to(ROOT)), named)


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r'"([\w/-]+\.md)"', (ROOT / "zensical.toml").read_text()))
    assert listed == {str(path.relative_to(ROOT / "docs")) for path in ROOT.glob("docs/**/*.md")}


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= README_LINES
