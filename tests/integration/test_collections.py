"""Real collections, from the folder that LEXIGRAFT_DATA names: BM25 is as good as others' BM25."""

import os
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

DATA = os.environ.get("LEXIGRAFT_DATA")
# nDCG@10 of bm25s 0.2 with k1 = 1.2, b = 0.75, English stop-words and stemmer, on the same test queries.
REFERENCE = {"scifact": 0.679, "cranfield": 0.519, "medquad": 0.601, "cacm": 0.484, "vaswani_npl": 0.436}


@pytest.mark.skipif(DATA is None, reason="LEXIGRAFT_DATA is not set")
@pytest.mark.parametrize("name", REFERENCE)
def test_bm25_is_as_good_as_the_reference(name, tmp_path, lexigraft):
    systems = 'run.systems=["bm25","bm25-plain"]'
    report = lexigraft(
        "run",
        "--data",
        Path(DATA) / name,
        "--out",
        tmp_path / "run",
        "--set",
        systems,
        "--on-duplicate",
        "skip",
        "--json",
    ).json
    assert report["collection"]["split"] == "test"
    strong, plain = report["rows"]
    assert strong["nDCG@10"] == pytest.approx(REFERENCE[name], abs=0.02)
    assert strong["nDCG@10"] > plain["nDCG@10"]
    assert strong["FLOPS"] < plain["FLOPS"]


@pytest.mark.skipif(DATA is None, reason="LEXIGRAFT_DATA is not set")
def test_dev_queries_where_there_is_no_test(tmp_path, lexigraft):
    """And there the model, trained by the same command, beats BM25: already after 60 of its 150 steps."""
    fewer_steps = ("--set", "pretrain.steps=30", "--set", "finetune.steps=60")
    call = ("run", "--data", Path(DATA) / "tldr_pages", "--out", tmp_path / "run", "--json")
    report = lexigraft(*call, *fewer_steps).json
    assert (report["collection"]["split"], report["collection"]["queries"]) == ("dev", 1489)
    rows = {(row["system"], row["qk"]): row for row in report["rows"]}
    assert rows["esplade", 0]["MRR@10"] > rows["bm25", 0]["MRR@10"]


@pytest.mark.skipif(DATA is None, reason="LEXIGRAFT_DATA is not set")
@pytest.mark.parametrize("name", ["debian_desc2title", "acl_title2abstract"])
def test_methods_agree_on_real_queries(name, tmp_path):
    from lexigraft.core.settings import Settings
    from lexigraft.data.collection import open_collection
    from lexigraft.index.store import open_index
    from lexigraft.search.searcher import Searcher
    from lexigraft.stages.standalone import build
    from lexigraft.vectors.query_encoder import encode_queries, open_query_encoder

    build(str(Path(DATA) / name), tmp_path / "index", Settings())
    index = open_index(tmp_path / "index")
    queries = list(open_collection(Path(DATA) / name).queries())[:300]
    encoder = open_query_encoder(index.meta.query_encoder, index.vocabulary, tmp_path / "index")
    encoded = encode_queries(queries, encoder, index.vocabulary)
    for k in (1, 10, 1000):
        assert Searcher(index, "maxscore").search_batch(encoded, k, threads=2) == Searcher(
            index, "exhaustive"
        ).search_batch(encoded, k)


@pytest.mark.skipif(DATA is None, reason="LEXIGRAFT_DATA is not set")
def test_counts_are_those_of_the_collections_own_readme(lexigraft):
    """| `name` | what | docs | train · dev · test | ...; – and "withheld" stand for judgements that are not there."""
    rows = [line.split("|") for line in (Path(DATA) / "README.md").read_text().splitlines() if line.startswith("| `")]
    assert len(rows) >= 10
    for _, name, _, documents, splits, *_ in rows:
        found = lexigraft("data", "stats", Path(DATA) / name.strip().strip("`"), "--json").json
        assert found["records"] == int(documents.replace(",", "")), name
        for split, wanted in zip(("train", "dev", "test"), splits.split("·"), strict=True):
            number = wanted.strip().replace(",", "")
            assert found["splits"].get(split, {}).get("queries") == (int(number) if number.isdigit() else None), (
                name,
                split,
            )


@pytest.mark.skipif(DATA is None, reason="LEXIGRAFT_DATA is not set")
def test_a_vocabulary_of_all_texts(tmp_path, lexigraft):
    """How long it takes is said in docs/howto/collections.md; a busy machine must not make this fail."""
    call = ("vocab", "unigrams", "--data", Path(DATA) / "pretrain_text", "--out", tmp_path / "v", "--size", 100_000)
    assert lexigraft(*call, "--json").json["terms"] > 90_000
