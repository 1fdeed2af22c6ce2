"""Searches with conditions, thresholds and second passes, fusions and benches, as a user would call them."""

import json

import pytest

import lexigraft as lg
from lexigraft.core.errors import LexigraftError
from lexigraft.data.sources import open_source
from lexigraft.index.store import open_index
from lexigraft.measure.trec import read_run
from lexigraft.vectors.prune import prune
from lexigraft.vectors.store import open_vectors
from tests.e2e.test_model import backbone  # noqa: F401
from tests.e2e.test_model import collection as topics  # noqa: F401
from tests.e2e.test_wrong_models import train

YEARS = {"d1": 2020, "d2": 2021, "d3": 2021, "d5": 1999}
QUERY = "remove duplicates but keep order"


@pytest.fixture
def run(collection, tmp_path, lexigraft):
    """A run whose collection has metadata: a year, but for d4 and d6, and a kind."""
    corpus = collection / "corpus.jsonl"
    records = [json.loads(line) for line in corpus.read_text().splitlines()]
    for record in records:
        year = {"year": YEARS[record["_id"]]} if record["_id"] in YEARS else {}
        record["metadata"] = {**year, "kind": "list" if record["_id"] in ("d1", "d2") else "other"}
    corpus.write_text("".join(json.dumps(record) + "\n" for record in records))
    folder = tmp_path / "run"
    settings = ("--set", "run.systems=bm25", "--set", "prune.lexical=[[0,0],[2,3]]")
    assert lexigraft("run", "--data", collection, "--out", folder, *settings).status == 0
    return folder


def ranked(hit):
    """What a ranking says; an index of vectors has no texts, as a run has."""
    return hit["rank"], hit["doc_id"], hit["score"], hit["matches"]


def found(answer):
    assert answer.status == 0, answer.stderr
    return [hit["doc_id"] for hit in answer.json["hits"]]


def test_where(run, collection, tmp_path, lexigraft):
    """A run keeps the metadata of its collection by itself; to make them again changes nothing."""
    assert found(lexigraft("search", "--run", run, QUERY, "--where", "year=2020", "--json")) == ["d1"]
    index = tmp_path / "none"
    assert lexigraft("index", "--data", collection, "--out", index, "--no-metadata").status == 0
    missing = lexigraft("search", "--index", index, QUERY, "--where", "year=2020")
    assert (missing.status, f"lexigraft index metadata --index {index} --data" in missing.stderr) == (2, True)
    made = lexigraft("index", "metadata", "--run", run, "--data", collection, "--json")
    assert made.status == 0, made.stderr
    kinds = [(column["key"], column["kind"], column["n_documents"]) for column in made.json["columns"]]
    assert kinds == [("year", "number", 4), ("kind", "text", 6)]
    assert "documents" in lexigraft("index", "metadata", "--run", run, "--data", collection).stdout

    def search(*conditions, query="list order date graph"):
        options = [part for condition in conditions for part in ("--where", condition)]
        return sorted(found(lexigraft("search", "--run", run, query, *options, "--json")))

    everything = search()
    assert everything == ["d1", "d2", "d3", "d4", "d5"]
    assert search("year=2021") == ["d2", "d3"]
    assert search("year>=2020") == ["d1", "d2", "d3"]
    assert search("year<=2020") == ["d1", "d5"]
    assert search("year!=2021") == ["d1", "d4", "d5"]
    assert search("year>=2020", "kind=other") == ["d3"]
    assert search("kind=none") == []
    unknown = lexigraft("search", "--run", run, QUERY, "--where", "colour=red")
    assert (unknown.status, "no key 'colour'; present: kind, year" in unknown.stderr) == (2, True)
    word = lexigraft("search", "--run", run, QUERY, "--where", "year=red")
    assert (word.status, "'red' is none: give one" in word.stderr) == (2, True)
    assert "at the end: one of =" in lexigraft("search", "--run", run, QUERY, "--where", "year").stderr
    assert search('year > 2020 or kind in ("list")') == ["d1", "d2", "d3"]
    assert search("not (year < 2021 and kind = other)", "kind != list") == ["d3", "d4"]


def test_metadata_of_a_file_and_of_passages(collection, tmp_path, lexigraft):
    index = tmp_path / "index"
    passages = ("--set", "data.passage_words=4")
    assert lexigraft("index", "--data", collection, "--out", index, *passages).status == 0
    table = tmp_path / "table.tsv"
    table.write_text("_id\tyear\tplace\nd1\t2020\tBern\nd2\t2021\t\nd9\t2021\tRom\n")
    made = lexigraft("index", "metadata", "--index", index, "--file", table, "--json")
    assert "1 documents with metadata are not in the index" in made.stderr
    assert [(column["key"], column["n_documents"]) for column in made.json["columns"]] == [("year", 2), ("place", 1)]
    assert found(lexigraft("search", "--index", index, "order list", "--where", "year=2021", "--json")) == ["d2"]
    assert found(lexigraft("search", "--index", index, "order list", "--where", "place=Bern", "--json")) == ["d1"]
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"_id": "d1", "open": true, "tags": ["a", "b"], "none": null}\n')
    assert lexigraft("index", "metadata", "--index", index, "--file", lines).status == 0
    assert found(lexigraft("search", "--index", index, "order list", "--where", "open=true", "--json")) == ["d1"]
    assert found(lexigraft("search", "--index", index, "order", "--where", "tags has b", "--json")) == ["d1"]
    both = "place = Bern and not tags has c"  # the table's column was kept
    assert found(lexigraft("search", "--index", index, "order", "--where", both, "--json")) == ["d1"]
    for arguments, message in [
        (("--index", index), "give either --data DIR or --file FILE"),
        (("--file", lines), "give either --run RUN or --index INDEX"),
        (("--index", index, "--file", tmp_path / "no.jsonl"), "there is no file"),
        (("--index", index, "--file", index / "doc_ids.utf8"), "is not a file of metadata: .jsonl or .tsv"),
        (("--index", index, "--data", collection), "no document of the index has metadata"),
    ]:
        refused = lexigraft("index", "metadata", *arguments)
        assert (refused.status, message in refused.stderr) == (2, True), message


def test_overlap(run, lexigraft):
    query = "sort a list of dates"  # sort, list, date: d2 holds two, d1, d3 and d4 one
    assert sorted(found(lexigraft("search", "--run", run, query, "--json"))) == ["d1", "d2", "d3", "d4"]
    assert found(lexigraft("search", "--run", run, query, "--overlap", 0.5, "--json")) == ["d2"]
    assert found(lexigraft("search", "--run", run, query, "--overlap", 1, "--json")) == []
    assert "fulfils what else was asked" in lexigraft("search", "--run", run, query, "--overlap", 1).stderr
    refused = lexigraft("search", "--run", run, query, "--overlap", 3)
    assert (refused.status, "overlap = 3.0 is not allowed" in refused.stderr) == (2, True)


def test_overlap_of_the_querys_own_words(topics, backbone, tmp_path, lexigraft):  # noqa: F811
    """A model adds terms, and no document holds all of them; the words that were typed are another matter."""
    run, index = tmp_path / "run", tmp_path / "index"
    assert train(lexigraft, "finetune", topics, run, backbone).status == 0
    assert lexigraft("encode", "--data", topics, "--model", run, "--out", tmp_path / "vectors").status == 0
    assert lexigraft("index", "--vectors", tmp_path / "vectors", "--out", index, "--keep", 30).status == 0
    with lg.Retriever.open(index) as retriever:
        query = next(open_source(str(topics)).queries()).text
        terms = retriever.terms(query)
        own = {term.term for term in terms if term.own}
        assert 2 <= len(own) < len(terms) / 4
        everything = retriever.search(query, 1000)

        def holding(share, counted):
            """Those that hold the share, by what explains their scores."""
            held = {
                hit.doc_id: {c.term for c in retriever.explain(query, hit.doc_id).contributions} for hit in everything
            }
            return [hit.doc_id for hit in everything if len(held[hit.doc_id] & counted) >= share * len(counted)]

        expected = holding(1, own)
        assert 0 < len(expected) < len(everything)
        found = retriever.search(query, 1000, overlap=1.0, overlap_of="words")
        assert [hit.doc_id for hit in found] == expected
        assert retriever.search_many([query], 1000, overlap=1.0, overlap_of="words") == [found]
        assert retriever.search(query, 1000, overlap=1.0) == []  # of all terms
        with pytest.raises(LexigraftError, match="overlap_of = 'letters' is not allowed: terms or words"):
            retriever.search(query, overlap_of="letters")
    options = ("--overlap", 1, "--overlap-of", "words", "--k", 1000, "--json")
    assert [hit["doc_id"] for hit in lexigraft("search", "--index", index, query, *options).json["hits"]] == expected
    assert lexigraft("search", "--index", index, query, "--overlap", 1, "--json").json["hits"] == []


def test_two_step(run, collection, tmp_path, lexigraft):
    plain = lexigraft("search", "--run", run, QUERY, "--json").json["hits"]
    exact = lexigraft("search", "--run", run, QUERY, "--two-step", 10, "--json").json["hits"]
    assert [hit["doc_id"] for hit in exact] == [hit["doc_id"] for hit in plain]
    assert [hit["score"] for hit in exact] == pytest.approx([hit["score"] for hit in plain], rel=0.02)
    assert [hit["score"] for hit in exact] != [hit["score"] for hit in plain]  # impacts are rounded, vectors are not
    by_terms = [sum(match["contribution"] for match in hit["matches"]) for hit in exact]
    assert by_terms == pytest.approx([hit["score"] for hit in plain])  # as the index of whole vectors scores them
    assert by_terms == pytest.approx([hit["score"] for hit in exact], rel=0.02)
    assert by_terms != pytest.approx([hit["score"] for hit in exact])
    pruned = lexigraft("search", "--run", run, QUERY, "--two-step", 10, "--qk", 2, "--dk", 3)
    assert pruned.status == 0
    assert "matched" in pruned.stdout
    made = lexigraft("search", "--run", run, QUERY, "--two-step", 10, "--dk", 7)
    assert (made.status, "no index with dk = 7 yet; it is made and kept" in made.stderr) == (0, True)
    assert "cannot come from 5 candidates" in lexigraft("search", "--run", run, QUERY, "--two-step", 5).stderr
    index = tmp_path / "index"
    lexigraft("index", "--vectors", run / "judged/bm25/vectors", "--out", index, "--set", "index.reorder=true")
    alone = lexigraft("search", "--index", index, QUERY, "--two-step", 10)
    assert (alone.status, "the vectors of an index with --vectors" in alone.stderr) == (2, True)
    given = ("--vectors", run / "judged/bm25/vectors")
    by_index = lexigraft("search", "--index", index, QUERY, "--two-step", 10, *given, "--json").json["hits"]
    assert [ranked(hit) for hit in by_index] == [ranked(hit) for hit in exact]


def test_documents_and_queries_cut_by_mass(run, tmp_path, lexigraft):
    made = lexigraft("search", "--run", run, QUERY, "--qk", "m0.9", "--dk", "m0.6", "--json")
    assert (made.status, "no index with dk = m0.6 yet; it is made and kept" in made.stderr) == (0, True)
    index, found = run / "judged/bm25/index-dkm0.6", made.json["hits"]
    vectors, meta = open_vectors(run / "judged/bm25/vectors"), open_index(index).meta
    assert (meta.keep, meta.n_postings) == ("m0.6", prune(vectors.matrix, "m0.6").indptr[-1])
    assert 0 < meta.n_postings < vectors.matrix.indptr[-1]
    named = lexigraft("search", "--run", run, QUERY, "--system", "bm25 (m0.9,m0.6)", "--json").json["hits"]
    assert named == found
    alone = tmp_path / "alone"
    assert lexigraft("index", "--vectors", run / "judged/bm25/vectors", "--keep", "m0.6", "--out", alone).status == 0
    again = lexigraft("search", "--index", alone, QUERY, "--qk", "m.90", "--json").json["hits"]
    assert [ranked(hit) for hit in again] == [ranked(hit) for hit in found]
    grid = lexigraft("evaluate", "--run", run, "--system", "bm25", "--qk", "0,m0.9", "--dk", "0,m0.6", "--json")
    cells = {(row["qk"], row["dk"]) for row in grid.json["rows"]}
    assert {(0, "m0.6"), ("m0.9", "m0.6"), ("m0.9", 0)} <= cells
    wrong = lexigraft("search", "--run", run, QUERY, "--dk", "m1.5")
    assert (wrong.status, "dk = 'm1.5' is not allowed: 0 (the whole document), so many terms" in wrong.stderr) == (
        2,
        True,
    )


def test_a_live_index_takes_every_option(run, collection, tmp_path, lexigraft):
    index, live = tmp_path / "index", tmp_path / "live"
    assert lexigraft("index", "--vectors", run / "judged/bm25/vectors", "--out", index).status == 0
    assert lexigraft("index", "live", index, "--out", live).status == 0
    assert lexigraft("index", "metadata", "--index", index, "--data", collection).status == 0
    assert lexigraft("index", "metadata", "--index", live, "--data", collection).status == 0
    assert lexigraft("index", "delete", live, "d2").status == 0
    query, vectors = "list order date graph", ("--vectors", run / "judged/bm25/vectors")
    for options in [
        (),
        ("--where", "year>=2020"),
        ("--overlap", 0.5),
        ("--two-step", 10, *vectors),
        ("--two-step", 10, "--qk", 2, "--where", "year!=1999", "--overlap", 0.3, *vectors),
    ]:
        plain = lexigraft("search", "--index", index, query, *options, "--json").json["hits"]
        expected = [(hit["doc_id"], hit["score"]) for hit in plain if hit["doc_id"] != "d2"]
        answer = lexigraft("search", "--index", live, query, *options, "--json")
        assert [(hit["doc_id"], hit["score"]) for hit in answer.json["hits"]] == expected, options
        assert expected
    assert lexigraft("search", "--index", live, query, "--two-step", 10).status == 0  # by the rows of the index itself


def test_settings_of_evaluations(run, collection, tmp_path, lexigraft):
    """Two steps over all documents measure as unpruned vectors do, whatever the first pass dropped of them."""
    settings = ("--set", "run.systems=bm25", "--set", "prune.lexical=[[0,0],[2,3]]", "--set", "search.k=6")
    report = lexigraft(
        "run", "--data", collection, "--out", run, *settings, "--set", "search.two_step=10", "--json"
    ).json  # fmt: skip
    full, cut = (read_run(run / f"judged/bm25/evaluation-{name}/run.trec") for name in ("qk0-dk0", "qk2-dk3"))
    scores = {(one.query_id, doc): s for one in full for doc, s in zip(one.doc_ids, one.scores, strict=True)}
    pruned = {(one.query_id, doc): s for one in cut for doc, s in zip(one.doc_ids, one.scores, strict=True)}
    assert pruned
    assert pruned.items() <= scores.items()
    assert report["rows"][1]["L0_q"] <= 2
    with_overlap = lexigraft(
        "run", "--data", collection, "--out", run, *settings, "--set", "search.overlap=1.0", "--json"
    ).json  # fmt: skip
    assert with_overlap["rows"][0]["R@10"] < report["rows"][0]["R@10"]


def test_fuse(run, collection, tmp_path, lexigraft):
    one, other = tmp_path / "one.trec", tmp_path / "other.trec"
    one.write_text("q1 Q0 d1 1 9.0 a\nq1 Q0 d2 2 8.0 a\nq2 Q0 d4 1 1.0 a\n")
    other.write_text("q1 Q0 d2 1 0.3 b\nq1 Q0 d5 2 0.2 b\n")
    fused = tmp_path / "sub/fused.trec"
    answer = lexigraft("fuse", one, other, "--out", fused, "--json")
    assert answer.json == {"run": str(fused), "runs": 2, "queries": 2, "documents": 4}
    assert "other.trec has no ranking for 1 of 2 queries (such as q2)" in answer.stderr
    assert fused.read_text().splitlines() == [
        "q1 Q0 d2 1 0.03252247488101534 rrf",
        "q1 Q0 d1 2 0.01639344262295082 rrf",
        "q1 Q0 d5 3 0.016129032258064516 rrf",
        "q2 Q0 d4 1 0.01639344262295082 rrf",
    ]
    assert lexigraft("evaluate", fused, one, "--data", collection, "--json").json["systems"][str(fused)]["R@10"] > 0
    assert (
        "measure it" in lexigraft("fuse", one, other, "--out", fused, "--depth", 1, "--weight", 1, "--weight", 0).stdout
    )
    assert [ranking.doc_ids for ranking in read_run(fused)] == [("d1",), ("d4",)]
    for arguments, message in [
        ((one, "--out", fused), "a fusion needs two or more"),
        ((one, tmp_path / "no.trec", "--out", fused), "there is no file"),
        ((one, other, "--out", tmp_path), "is a folder"),
        ((one, other, "--out", fused, "--weight", 1), "1 weights are given for 2 runs"),
    ]:
        refused = lexigraft("fuse", *arguments)
        assert (refused.status, message in refused.stderr) == (2, True), message


def test_fuse_by_points(tmp_path, lexigraft):
    one, other, fused = tmp_path / "one.trec", tmp_path / "other.trec", tmp_path / "fused.trec"
    one.write_text("q1 Q0 d1 1 9.0 a\nq1 Q0 d2 2 8.0 a\n")
    other.write_text("q1 Q0 d2 1 0.3 b\nq1 Q0 d5 2 0.2 b\n")
    call = ("fuse", one, other, "--out", fused, "--method", "borda")
    assert lexigraft(*call, "--json").json["documents"] == 3
    lines = ["q1 Q0 d2 1 99.0 borda", "q1 Q0 d1 2 50.0 borda", "q1 Q0 d5 3 49.0 borda"]
    assert fused.read_text().splitlines() == lines
    assert lexigraft(*call, "--borda-depth", 1).status == 0
    assert [line.split()[2:5:2] for line in fused.read_text().splitlines()] == [["d1", "1.0"], ["d2", "1.0"]]
    for more, message in [
        (("--k", 60), "--k does not go with --method borda"),
        (("--weight", 1, "--weight", 2), "--weight does not go with --method borda"),
        (("--method", "rrf", "--borda-depth", 5), "--borda-depth does not go with --method rrf"),
        (("--method", "condorcet"), "method 'condorcet' is not known: rrf or borda or weighted"),
    ]:
        refused = lexigraft(*call, *more)
        assert (refused.status, message in refused.stderr) == (2, True), message


def test_fuse_by_scores(tmp_path, lexigraft):
    one, other, fused = tmp_path / "one.trec", tmp_path / "other.trec", tmp_path / "fused.trec"
    one.write_text("q1 Q0 d1 1 9.0 a\nq1 Q0 d2 2 8.0 a\nq1 Q0 d3 3 5.0 a\n")
    other.write_text("q1 Q0 d2 1 0.3 b\nq1 Q0 d5 2 0.2 b\n")
    call = ("fuse", one, other, "--out", fused, "--method", "weighted")
    assert lexigraft(*call, "--weight", 0.25, "--json").json["documents"] == 4
    # d1 .25 * 1; d2 .25 * 3/4 + .75 * 1; d3 and d5 are the lowest of each.
    found = [line.split()[2:5:2] for line in fused.read_text().splitlines()]
    assert found == [["d2", "0.9375"], ["d1", "0.25"], ["d3", "0.0"], ["d5", "0.0"]]
    strangers = tmp_path / "strangers.trec"
    strangers.write_text("q1 Q0 x1 1 0.3 b\n")
    for arguments, message in [
        ((*call, "--weight", 2), "--weight 2.0 is not allowed with --method weighted"),
        ((*call, "--k", 3), "--k does not go with --method weighted"),
        (("fuse", one, other, one, "--out", fused, "--method", "weighted"), "is of two"),
        (("fuse", one, strangers, "--out", fused), "strangers.trec have no document in common (such as d1 and x1)"),
    ]:
        refused = lexigraft(*arguments)
        assert (refused.status, message in refused.stderr.replace("\n", " ")) == (2, True), refused.stderr


def test_bench_search(run, tmp_path, lexigraft):
    answer = lexigraft("bench", "search", "--run", run, "--k", 3, "--runs", 2, "--json")
    assert answer.status == 0, answer.stderr
    report = answer.json
    assert (report["queries"], report["documents"], report["threads"]) == (3, 6, 1)  # q4 is a training query
    methods = ["auto", "exhaustive", "maxscore", "blockmax_wand", "sweep", "touched"]
    assert [row["method"] for row in report["searches"]] == methods
    for row in report["searches"]:
        assert 0 < row["ms"]["p50"] <= row["ms"]["p99"]
        assert row["counts"].keys() == {"SCORE", "INSERT", "NEXT", "NEXT-GEQ", "DOCUMENTS"}
        assert row["counts"]["SCORE"] >= row["counts"]["DOCUMENTS"] > 0
    assert report["ms_encode"]["mean"] > 0
    assert report["postings_per_query"] > 0
    queries = tmp_path / "queries.tsv"
    queries.write_text("a\tsort a list\nb\tdates\n")
    index = run / "judged/bm25/index"
    table = lexigraft("bench", "search", "--index", index, "--queries", queries, "--method", "sweep", "--runs", 1)
    assert table.status == 0, table.stderr
    assert "p99 ms" in table.stdout
    assert "2 queries of 1.5 terms" in table.stdout
    for arguments, message in [
        ((), "give either --run RUN or --index INDEX"),
        (("--index", index), "needs --queries FILE"),
        (("--run", run, "--method", "magic"), "search method 'magic' is not known"),
        (("--index", index, "--queries", tmp_path / "no.tsv"), "there is no file"),
    ]:
        refused = lexigraft("bench", "search", *arguments)
        assert (refused.status, message in refused.stderr) == (2, True), message
