"""Tables of README, of what a cost buys and of pieces have the numbers of their JSON."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEEDS = json.loads((ROOT / "docs/results/cost_seeds.json").read_text())["collections"]
# Of each collection, where the numbers of a column lie: first in its `again`, else beside it.
COLUMNS = {
    "debian_desc2title": {
        "half": ("", "esplade at its cost"), "whole": ("little pressure", "esplade whole"),
        "looked up": ("looked up, hard negatives of BM25", "doc at its cost"),
    },
    "acl_title2abstract": {
        "half": ("hard negatives of BM25", "esplade at its cost"), "whole": ("hard negatives of BM25", "esplade whole"),
        "looked up": ("", "doc at its cost"),
    },
    "tldr_pages": {
        "half": ("mask (6, 16)", "esplade at its cost"), "whole": ("mask (6, 16)", "esplade whole"),
        "looked up": ("", "doc at its cost"),
    },
}  # fmt: skip


def cell(collection, column):
    again, name = COLUMNS[collection][column]
    found = SEEDS[collection]["again"][again] if again else SEEDS[collection]
    return found[name]


def same(text, value, last_digit):
    """Whether a text is the value as it is rounded for a reader: the JSON is rounded, too, one digit later."""
    return abs(float(text) - value) <= 0.51 * last_digit + last_digit / 10


def row_of(page, start):
    return next(line for line in (ROOT / page).read_text().splitlines() if line.startswith(start))


@pytest.mark.parametrize("collection", COLUMNS)
def test_readme_has_the_numbers_of_its_json(collection):
    cells = [part.strip() for part in row_of("README.md", f"| {collection}, ").split("|")[2:-1]]
    bm25 = SEEDS[collection]["bm25"]["MRR@10"]
    assert same(cells[0], bm25, 0.001)
    for text, column in zip(cells[1:], ("half", "whole", "looked up"), strict=True):
        found = cell(collection, column)
        worth, times = text.replace(";", ")").split(")")[0].split(" (")
        assert same(worth, found["MRR@10"], 0.001)
        assert same(times, found["times BM25"], 0.01)
        assert found["times BM25"] == pytest.approx(found["MRR@10"] / bm25, abs=0.002)


@pytest.mark.parametrize("page", ["cost.md", "index.md"])
@pytest.mark.parametrize("collection", COLUMNS)
def test_what_a_cost_buys_has_the_numbers_of_its_json(collection, page):
    name = collection.split("_")[0] if page == "cost.md" else collection
    cells = [part.strip() for part in row_of(f"docs/results/{page}", f"| {name} | .").split("|")[2:]]
    bm25 = SEEDS[collection]["bm25"]
    worth, cost = cells[0].split(" @ ")
    assert same(worth, bm25["MRR@10"], 0.001)
    assert same(cost, bm25["FLOPS"], 0.001)
    for text, column in zip(cells[1:4], ("half", "whole", "looked up"), strict=True):
        found = cell(collection, column)
        worth, cost, times = text.replace("(", "@ ").replace(")", "").split(" @ ")
        assert same(worth, found["MRR@10"], 0.001)
        assert float(cost) == pytest.approx(found["FLOPS"], rel=0.02)
        assert same(times, found["times BM25"], 0.01)


def test_means_are_those_of_the_seeds():
    for collection, columns in COLUMNS.items():
        for column in columns:
            found = cell(collection, column)
            seeds = [seed["MRR@10"] for seed in found["seeds"]]
            assert len(seeds) == 3
            assert found["MRR@10"] == pytest.approx(sum(seeds) / 3, abs=1e-4)


def test_pieces_of_texts_are_those_of_their_json():
    found = json.loads((ROOT / "docs/results/vocabularies.json").read_text())
    (pieces,) = (value for name, value in found.items() if name.startswith("pieces as they stand"))
    expected = [row for rows in pieces.values() for row in rows.values() if isinstance(row, dict)]
    page = (ROOT / "docs/results/vocabularies.md").read_text().splitlines()
    start = next(at for at, line in enumerate(page) if line.startswith("  | collection | WordPiece |")) + 2
    for line, row in zip(page[start : start + len(expected)], expected, strict=True):
        cells = [float(part.strip(" %").replace(",", "")) for part in line.split("|")[3:-1]]
        assert cells[0] == row["pieces"]
        assert same(cells[1], 100 * row["split_queries"], 0.1)
        assert same(cells[2], row["pieces_of_a_document"], 0.1)
        assert same(cells[3], row["of_which_punctuation"], 0.1)
        assert same(cells[4], row["postings"], 1)
        assert same(cells[5], row["postings_without_punctuation"], 1)
