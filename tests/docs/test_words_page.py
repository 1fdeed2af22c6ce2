"""The tables of docs/explanation/words.md are what the word rule does."""

import json
import re
from pathlib import Path

import pytest

from lexigraft.core.settings import Settings
from lexigraft.core.word_rule import WordRule
from lexigraft.vocab.words import WordCutter

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/words.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| `")]
PROSE, CODE = WordCutter(WordRule(split_camel_case=False)), WordCutter(WordRule(split_camel_case=True))
IDENTIFIERS = [row for row in ROWS if len(row) == 3 and row[2].startswith("`")]
EXAMPLES = [row for row in ROWS if row not in IDENTIFIERS]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("row", EXAMPLES, ids=lambda row: row[0])
def test_an_example(row):
    assert PROSE.split_words(row[0].strip("`")) == quoted(row[1])


@pytest.mark.parametrize("row", IDENTIFIERS, ids=lambda row: row[0])
def test_an_identifier(row):
    (text,), off, on = map(quoted, row)
    assert PROSE.split_words(text) == off
    assert CODE.split_words(text) == on


def test_the_tables_were_read():
    assert (len(EXAMPLES), len(IDENTIFIERS)) == (29, 5)


def test_what_the_page_says_of_defaults():
    settings = Settings()
    assert settings.words.fold_accents and settings.words.camel_case == "auto"
    assert settings.lexical.stemmer == settings.vocab.stemmer == "auto"
    assert settings.lexical.stopwords == settings.vocab.stopwords == "auto"


def test_the_table_of_languages_is_what_was_measured():
    found: dict[str, list[str]] = {}
    for row in json.loads((ROOT / "docs/results/language_guess.json").read_text())["rows"]:
        shares = " · ".join(f"{100 * row[key]:.0f}" for key in ("right", "unsure", "wrong"))
        found.setdefault(row["language"].title(), []).append(shares)
    table = [line for line in PAGE.splitlines() if " · " in line and line.startswith("| ")]
    assert len(table) >= 10
    for line in table:
        language, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells == found[language]
