"""MTEB: the page's program, our numbers in its tasks, reranking, under which name results are kept, and odd input."""

import pytest

import lexigraft as lg
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.data.write import write_collection
from tests.frameworks import ASKED, MADE, run_programs, small_run

pytest.importorskip("mteb")
pytestmark = pytest.mark.integration

import mteb  # noqa: E402
from mteb.models.models_protocols import SearchProtocol  # noqa: E402

from lexigraft.integrations.mteb import LexigraftSearch  # noqa: E402
from lexigraft.integrations.mteb_task import task_of  # noqa: E402

OURS = {"ndcg_at_10": "nDCG@10", "mrr_at_10": "RR@10", "recall_at_100": "R@100", "map_at_1000": "AP@1000"}
CORPUS = [{"id": one.doc_id, "title": one.title, "text": one.text} for one in MADE]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MTEB_CACHE", str(tmp_path / "cache"))


def measured(model, data):
    found = mteb.evaluate(model, tasks=[task_of(data)], cache=None, show_progress_bar=False)
    return found.task_results[0].scores["test"][0]


def test_the_program_of_the_page(tmp_path, monkeypatch):
    names = run_programs("MTEB", tmp_path, monkeypatch)
    for name, system in (("bm25", "bm25"), ("model", "esplade")):
        ours = lg.evaluate(lg.Retriever.open(small_run(), system), data="collections/papers").means["nDCG@10"]
        assert names["scores"][name] == pytest.approx(ours, abs=1e-5) and 0 < ours < 1


@pytest.mark.parametrize(("model", "system", "cut"), [(False, "bm25", 0), (True, "esplade", 0), (True, "esplade", 2)])
def test_numbers_are_ours(model, system, cut):
    """Of rankings with many ties, too: BM25's of short texts over few words, and those of two terms a query."""
    search = LexigraftSearch(small_run() if model else None, qk=cut)
    assert isinstance(search, SearchProtocol)
    found = measured(search, small_run() / "collection")
    retriever = lg.Retriever.open(small_run(), system, qk=cut or None)
    ours = lg.evaluate(retriever, data=small_run() / "collection", measures=list(OURS.values()))
    assert {name: found[name] for name in OURS} == pytest.approx(
        {name: ours.means[named] for name, named in OURS.items()}, abs=1e-5
    )


def test_reranking_and_its_order():
    search = LexigraftSearch(small_run())
    search.index(CORPUS, task_metadata=None, hf_split="test", hf_subset="default", encode_kwargs={}, num_proc=None)
    queries = [{"id": one.query_id, "text": one.text} for one in ASKED]
    plain = search.search(queries, top_k=5)
    assert {len(scores) for scores in plain.values()} <= {5}
    candidates = {one.query_id: [document.doc_id for document in MADE[:7]] for one in ASKED}
    again = search.search(queries, top_k=3, top_ranked=candidates)
    whole = search.search(queries, top_k=1000)
    for query, scores in again.items():
        assert list(scores) == [name for name in whole[query] if name in candidates[query]] and len(scores) == 7
        assert list(scores.values()) == sorted(set(scores.values()), reverse=True)
    assert search.search([{"id": "q", "text": ""}], top_k=5) == {"q": {}}
    assert search.search([{"id": "q", "text": ""}], top_k=5, top_ranked={"q": ["m02", "m01"]})["q"].keys() == {
        "m01",
        "m02",
    }
    with_instruction = {"id": "q", "text": "kur", "instruction": "mela"}
    assert search.search([with_instruction], top_k=5) == search.search([{"id": "q", "text": "kur mela"}], top_k=5)


def test_results_are_kept_by_what_made_them(tmp_path):
    meta = [
        LexigraftSearch(*given, **named).mteb_model_meta
        for given, named in (
            ((), {}), ((), {"set": {"lexical.k1": 0.5}}), ((small_run(),), {}), ((small_run(),), {"qk": 3}),
            ((), {"name": "me/mine"}),
        )
    ]  # fmt: skip
    cache = mteb.ResultCache(tmp_path / "kept")
    task, places = task_of(small_run() / "collection", name="Small"), set()
    for number, (given, named) in enumerate((((), {}), ((), {"set": {"lexical.stemmer": "none", "lexical.k1": 0.1}}))):
        found = mteb.evaluate(LexigraftSearch(*given, **named), tasks=[task], cache=cache, show_progress_bar=False)
        places.add(found.task_results[0].get_score())
        assert len(places) == number + 1
    assert meta[4].name == "me/mine" and meta[0].revision == lg.__version__ != meta[2].revision
    assert meta[0].name == meta[1].name and meta[0].experiment_kwargs != meta[1].experiment_kwargs
    assert meta[2].revision == meta[3].revision and meta[2].experiment_kwargs != meta[3].experiment_kwargs


def test_folders_go_with_the_object(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    search = LexigraftSearch()
    for _ in range(2):
        search.index(CORPUS)
        assert len(list(tmp_path.iterdir())) == 1
    search.close()
    assert not list(tmp_path.iterdir())
    with pytest.raises(SettingError, match="nothing to search; call index first"):
        search.search([], top_k=3)


def test_wrong_arguments_are_one_line(tmp_path):
    search = LexigraftSearch()
    search.index(CORPUS)
    write_collection(tmp_path / "unjudged", MADE, ASKED)
    for make, kind, said in (
        (lambda: LexigraftSearch(tmp_path), ArtifactError, "neither a model nor a run with one"),
        (lambda: LexigraftSearch(qk=-1), SettingError, "qk = -1"),
        (lambda: LexigraftSearch(set={"lexical.k9": 1}), SettingError, "k9"),
        (lambda: search.search([{"id": "q", "text": ["a", "b"]}], top_k=3), InputError, "query 'q' is"),
        (lambda: search.search([{"id": "q", "text": None}], top_k=3), InputError, "query 'q' is None"),
        (lambda: search.index([]), InputError, "no documents to index"),
        (lambda: search.index([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]), InputError, "'a'"),
        (lambda: task_of(tmp_path / "none"), InputError, "none"),
        (lambda: task_of(tmp_path / "unjudged"), InputError, "has no test or dev judgements"),
        (lambda: task_of(small_run() / "collection", split="dev"), InputError, "dev"),
    ):
        with pytest.raises(kind, match=said) as raised:
            make()
        assert "\n" not in str(raised.value)
