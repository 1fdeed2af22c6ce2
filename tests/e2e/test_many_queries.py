"""A file of queries searched at once, and an index measured that belongs to no run."""

import pytest

from tests.e2e.test_evaluate import made_collection


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    root = tmp_path_factory.mktemp("many")
    return root, made_collection(root / "woods")


@pytest.fixture
def index(places, lexigraft):
    root, data = places
    if not (root / "index").exists():
        assert lexigraft("index", "--data", data, "--out", root / "index").status == 0
    return root / "index"


def queries_of(data):
    import gzip
    import json

    path = next(data.glob("queries.jsonl*"))
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return {one["_id"]: one["text"] for one in map(json.loads, text.splitlines())}


def test_a_file_of_queries_becomes_a_run_that_ranks_as_single_searches_do(places, index, tmp_path, lexigraft):
    _, data = places
    texts, file, run = queries_of(data), tmp_path / "queries.tsv", tmp_path / "run.trec"
    file.write_text("".join(f"{name}\t{text}\n" for name, text in texts.items()))
    found = lexigraft(
        "search", "--index", index, "--queries", file, "--out", run, "--threads", 2, "--k", 5, "--json"
    ).json
    assert (found["queries"], found["depth"]) == (len(texts), 5)
    ranked = {}
    for line in run.read_text().splitlines():
        query, _, doc, rank, _, _ = line.split()
        ranked.setdefault(query, []).append((int(rank), doc))
    assert len(ranked) == len(texts) - found["nothing_found"]
    for name, hits in ranked.items():
        alone = lexigraft("search", "--index", index, texts[name], "--k", 5, "--json").json["hits"]
        assert hits == [(hit["rank"], hit["doc_id"]) for hit in alone]
    assert not list(tmp_path.glob("*.part"))


def test_an_index_is_measured_without_a_run(places, index, tmp_path, lexigraft):
    _, data = places
    own = lexigraft("evaluate", "--index", index, "--data", data, "--json").json
    file = tmp_path / "queries.tsv"
    file.write_text("".join(f"{name}\t{text}\n" for name, text in queries_of(data).items()))
    run = tmp_path / "run.trec"
    assert lexigraft("search", "--index", index, "--queries", file, "--out", run).status == 0
    qrels = data / "qrels" / "test.tsv"
    other = lexigraft("evaluate", run, "--index", index, "--queries", file, "--qrels", qrels, "--json").json
    assert set(other["systems"]) == {str(run), "index"}
    assert other["systems"][str(run)] == other["systems"]["index"] == own["systems"]["index"]
    assert own["systems"]["index"]["R@10"] > 0.3
    written = tmp_path / "runs"
    assert lexigraft("evaluate", "--index", index, "--data", data, "--write-runs", written).status == 0
    assert [path.name for path in written.iterdir()] == ["index.trec"]


@pytest.mark.parametrize(("options", "message"), [
    (("search", "--index", "{index}", "--queries", "{root}/none", "--out", "{out}"), "there is no file"),
    (("search", "--index", "{index}", "--queries", "{root}/none"), "go together"),
    (("search", "--index", "{index}", "a query", "--queries", "{root}/none", "--out", "{out}"), "without a query"),
    (("search", "--index", "{index}", "--queries", "{twice}", "--out", "{out}"), "was used before"),
    (("search", "--index", "{index}", "--queries", "{twice}", "--out", "{twice}"), "is there already"),
    (("evaluate", "--index", "{index}"), "give --queries FILE and --qrels FILE, or --data DIR"),
    (("evaluate", "--queries", "{twice}", "--qrels", "{twice}", "{twice}"), "give one"),
    (("evaluate", "--run", "{index}"), "holds an index, which is no run; use --index"),
])  # fmt: skip
def test_what_cannot_be_done_is_said(options, message, places, index, tmp_path, lexigraft):
    twice = tmp_path / "twice.tsv"
    twice.write_text("1\ta\n1\tb\n")
    named = {"index": index, "root": places[0], "out": tmp_path / "out", "twice": twice}
    refused = lexigraft(*(part.format(**named) for part in options))
    assert refused.status == 2
    assert message in refused.stderr
    assert not (tmp_path / "out").exists()
