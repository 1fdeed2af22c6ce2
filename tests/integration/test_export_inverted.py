"""Exported lists in the programs that they are for, PISA and Anserini (Lucene): the same top 100 as ours.

Impacts and weights of queries are whole numbers of 8 bits, and all add up exactly (scores stay below 2^24), so scores
agree to the bit, up to a factor of the query. Anserini also orders equal scores as we do, by document id; PISA orders
them by its own numbers, and which of those with the last score it returns is its choice.
"""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

from lexigraft.core.settings import IndexSettings, Settings
from lexigraft.core.types import Query
from lexigraft.export.importing.import_index import import_index
from lexigraft.export.lists.pisa_binding import MAXIMA, is_installed
from lexigraft.export.targets import Wanted, export
from lexigraft.stages.standalone import build
from tests import ciff
from tests.engines.grafted_index import grafted_cranfield
from tests.exported_lists import Anserini, require_same, search_ours, search_pisa
from tests.unit.export.test_inverted_lists import make_index, sequences

pytestmark = [pytest.mark.integration, pytest.mark.skipif(not is_installed(), reason="pyterrier-pisa is not here")]

DATA = os.environ.get("LEXIGRAFT_DATA")
K, N_QUERIES = 100, 500
ODD = ["^", "a^2", "日本", "no\u00a0break", "x" * 255, "quote\"'", "back\\slash", "{}", "😀", "#", "É", "z"]


def made(folder):
    """An index with odd terms, rows without terms, and many equal scores; and queries by the names of terms."""
    rng = np.random.default_rng(0)
    terms = [*ODD, *(f"t{number}" for number in range(288))]
    share = 0.7 / np.arange(1, len(terms) + 1) ** 0.7
    rows = {}
    for row in range(1500):
        here = np.flatnonzero(rng.random(len(terms)) < share) if row % 50 else []
        rows[f"d{row * 7919 % 1500}ä" if row % 3 else f"D{row}"] = {
            int(t): float(rng.choice([1, 2, 255])) for t in here
        }
    texts = {}
    for number in range(60):
        some = rng.choice(len(terms), rng.integers(1, 12), replace=False)
        texts[f"q{number}"] = " ".join(
            f"{terms[t]}^{rng.integers(1, 256)}" for t in some if terms[t] != "no\u00a0break"
        )
    return make_index(folder, rows, terms), {name: text for name, text in texts.items() if text}


def debian(folder):
    """BM25 over the titles of Debian's packages, and queries of its split dev."""
    data = Path(DATA) / "debian_desc2title"
    build(str(data), folder, Settings(index=IndexSettings(bits=8)))  # Anserini would round those of 16
    with gzip.open(data / "queries.jsonl.gz", "rt") as file:
        texts = {record["_id"]: record["text"] for record in map(json.loads, file)}
    wanted = (line.split("\t")[0] for line in (data / "qrels/dev.tsv").read_text().splitlines())
    chosen = dict.fromkeys(name for name in wanted if name in texts)
    return folder, {name: texts[name] for name in list(chosen)[:N_QUERIES]}


def grafted(folder):
    """Of 8 bits, as Anserini needs."""
    return grafted_cranfield(folder, 8)


REAL = pytest.mark.skipif(not DATA, reason="no data")


@pytest.fixture(
    scope="module", params=["made", pytest.param("debian", marks=REAL), pytest.param("grafted", marks=REAL)]
)
def exported(request, tmp_path_factory):
    """An index, what ours finds in it, and its exports by target."""
    work = tmp_path_factory.mktemp(request.param)
    index, texts = {"made": made, "debian": debian, "grafted": grafted}[request.param](work / "index")
    queries = [Query(name, text) for name, text in texts.items()]
    for target in ("ciff", "pisa", "anserini"):
        export(target, Wanted(index, queries=queries), work / target)
    return index, texts, search_ours(index, texts, K), work


def weighted(folder):
    records = map(json.loads, (folder / "queries.jsonl").read_text().splitlines())
    return {record["qid"]: record["query_toks"] for record in records}


def test_pisa_finds_the_same(exported):
    _, texts, ours, work = exported
    assert json.loads((work / "pisa/export.json").read_text())["facts"]["compressed"]
    assert (work / "pisa/index" / MAXIMA).exists()
    found = search_pisa(work / "pisa/index", weighted(work / "pisa"), K)
    assert require_same(ours, found) == len(ours) > 0.9 * len(texts)


def test_pisa_finds_the_same_by_block_max_wand(exported):
    _, _, ours, work = exported
    require_same(ours, search_pisa(work / "pisa/index", weighted(work / "pisa"), K, "block_max_wand"))


def test_the_lists_of_ciff_are_those_of_pisa(exported):
    """As PISA's converter makes them of a CIFF file: documents as sums of gaps."""
    _, _, _, work = exported
    header, lists, records = ciff.parse((work / "ciff/index.ciff").read_bytes())
    inside = work / "pisa/index"
    assert [[header.num_docs]] + [np.cumsum([p.docid for p in one.postings]).tolist() for one in lists] == sequences(
        inside / "inv.docs"
    )
    assert [[p.tf for p in one.postings] for one in lists] == sequences(inside / "inv.freqs")
    assert [[record.doclength for record in records]] == sequences(inside / "inv.sizes")
    assert "".join(f"{one.term}\n" for one in lists) == (inside / "fwd.terms").read_text()


def test_anserini_finds_the_same_in_the_same_order(exported):
    anserini = Anserini.find()
    if anserini is None:
        pytest.skip("Anserini's jar is not here (make test-inverted)")
    _, texts, ours, work = exported
    found = anserini.search(work / "anserini", work, K)
    assert require_same(ours, found, in_order=True) == len(ours) > 0.9 * len(texts)


@pytest.mark.parametrize(("format_", "name"), [("ciff", "ciff/index.ciff"), ("vectors", "anserini/collection")])
def test_what_comes_back_finds_the_same(format_, name, exported, tmp_path):
    index, texts, ours, work = exported
    import_index(work / name, format_, tmp_path / "back", like=index)
    assert require_same(ours, search_ours(tmp_path / "back", texts, K), in_order=True) == len(ours)
